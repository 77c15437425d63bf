"""TrajectoryReAct is the same in every line: nothing to change."""
import reasonact.v35 as dspy


class Short(dspy.TrajectoryReAct):
    def truncate_trajectory(self, trajectory):
        return dict(list(trajectory.items())[-8:])


agent = Short("question -> answer", tools=[])
result = agent(question="q")
print(result.trajectory["observation_0"], result.reasoning, agent.extract)
