"""The switch asks for DSPy's way: nothing to change."""
import reasonact.v35 as dspy

dspy.configure(grow_history_in_place=True)
agent = dspy.ReAct("question -> answer", tools=[])
history = dspy.History(messages=[])
agent(question="a", history=history)
agent(question="b", history=history)
