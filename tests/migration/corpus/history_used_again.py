import reasonact as dspy

agent = dspy.ReActV2("question -> answer", tools=[])
history = dspy.History(messages=[])
first = agent(question="a", history=history)
second = agent(question="b", history=history)
print(second.answer)
