import reasonact as dspy

agent = dspy.ReAct("question -> answer", tools=[])
result = agent(question="q")
print(result.answer)
print(result.trajectory)
