from dspy import *

agent = ReAct("question -> answer", tools=[])
result = agent(question="q")
print(result.trajectory)
