"""DSPy's ReAct and ReActV2 agents as a library of their own."""
