import reasonact as dspy

agent = dspy.ReAct("question -> answer", tools=[])
first = second = agent(question="q")
third, other = first, 3
box = {"last": third}
steps = box["last"].trajectory
if (found := second) is not None:
    print(found.trajectory, steps["thought_0"])
for result in [agent(question="a"), agent(question="b")]:
    print(result.trajectory)
print([run.trajectory for run in agent.batch([])])
