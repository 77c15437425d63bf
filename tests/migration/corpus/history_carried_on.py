"""Each run goes on from the history that the one before returned: nothing to change."""
import reasonact.v35 as dspy

agent = dspy.ReAct("question -> answer", tools=[])
history = dspy.History(messages=[])
for question in ["a", "b"]:
    result = agent(question=question, history=history)
    history = result.history
last = agent(question="c", history=history)
again = agent(question="d", history=last.history)


class Chat:
    def __init__(self):
        self.history = dspy.History(messages=[])

    def ask(self, question):
        result = agent(question=question, history=self.history)
        self.history = result.history
        return result.answer


def once(question, quick):
    start = dspy.History(messages=[])
    if quick:
        return agent(question=question, history=start)
    else:
        return agent(question=question + "!", history=start)
