import reasonact as dspy

agent = dspy.ReAct("question -> answer", tools=[])
print(agent(question="q")["trajectory"])
print(agent(question="q").get("trajectory"))
print(getattr(agent(question="q"), "trajectory", {}))
print(agent(question="q").toDict()["trajectory"])
