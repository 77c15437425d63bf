import reasonact as dspy

agent = dspy.ReActV2("question -> answer", tools=[])
history = dspy.History(messages=[])
while question := input():
    print(agent(question=question, history=history).answer)
