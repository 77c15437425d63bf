import dspy

old = dspy.ReAct("question -> answer", tools=[])
new = dspy.ReActV2("question -> answer", tools=[])
