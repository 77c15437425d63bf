import reasonact as dspy


class Short(dspy.ReAct):
    def truncate_trajectory(self, trajectory):
        return dict(list(trajectory.items())[-4:])

    def _format_trajectory(self, trajectory):
        return str(trajectory)

    def forward(self, **inputs):
        result = super().forward(**inputs)
        print(result.trajectory)
        return result

    async def aforward(self, **inputs):
        return await super().aforward(**inputs)

    def extra(self):
        return self.max_iters


class Shorter(Short):
    truncate_trajectory = staticmethod(lambda trajectory: {})


agent = dspy.ReAct("question -> answer", tools=[])
agent.truncate_trajectory = lambda trajectory: {}
