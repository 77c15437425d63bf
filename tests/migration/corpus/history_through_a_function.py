import reasonact as dspy

agent = dspy.ReActV2("question -> answer", tools=[])


def ask(question, history):
    return agent(question=question, history=history).answer


talk = dspy.History(messages=[])
print(ask("a", talk))
print(ask("b", talk))
