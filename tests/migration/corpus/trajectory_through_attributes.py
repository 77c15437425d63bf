import reasonact as dspy


class Desk(dspy.Module):
    def __init__(self):
        super().__init__()
        self.agent = dspy.ReAct("question -> answer", tools=[])
        self.last = None

    def forward(self, question):
        self.last = self.agent(question=question)
        return dspy.Prediction(answer=self.last.answer, steps=self.last.trajectory)

    def steps(self):
        return self.last.trajectory


desk = Desk()
made = desk(question="q")
print(made.steps, desk.last.trajectory, desk.agent.forward(question="q").trajectory)
