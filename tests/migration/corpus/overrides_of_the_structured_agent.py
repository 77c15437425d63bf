import reasonact.v35 as dspy


class Talk(dspy.ReAct):
    def truncate_trajectory(self, trajectory):
        return {}

    def truncate_history(self, history):
        return dspy.drop_oldest_turns(history)

    def forward(self, **inputs):
        return super().forward(**inputs)
