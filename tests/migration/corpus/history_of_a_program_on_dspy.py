import dspy

agent = dspy.ReActV2("question -> answer", tools=[])
history = dspy.History(messages=[])
agent(question="a", history=history)
agent(question="b", history=history)
