"""The steps of a history, asked for by name: nothing to change."""
import reasonact.v35 as dspy

agent = dspy.ReAct("question -> answer", tools=[])
steps = dspy.trajectory_from_history(agent(question="q").history)
print(steps["observation_0"])
