import reasonact as dspy


class Chat:
    def __init__(self):
        self.agent = dspy.ReActV2("question -> answer", tools=[])
        self.history = dspy.History(messages=[])

    def ask(self, question):
        return self.agent(question=question, history=self.history).answer
