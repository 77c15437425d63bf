import reasonact as dspy

agent = dspy.ReAct("question -> answer", tools=[])
agent.extract.predict.demos = []
print(agent.react.signature.instructions, agent.extract_module, agent.react_module)
result = agent(question="q")
print(result.reasoning)
names = [name for name, _ in agent.named_predictors() if name != "extract.predict"]
agent.extract = dspy.Predict("question, trajectory -> answer")
