import reasonact as dspy

agent = dspy.ReActV2("question -> answer", tools=[])
result = agent(question="q")
print(result.trajectory, agent.extract, agent.react.signature)
