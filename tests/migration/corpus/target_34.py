import dspy

agent = dspy.ReAct("question -> answer", tools=[])
result = agent(question="q")
print(result.trajectory["observation_0"], agent.extract, dspy.ReActV2)
