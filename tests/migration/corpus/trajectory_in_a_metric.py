import reasonact as dspy

agent = dspy.ReAct("question -> answer", tools=[])


def short(example, pred: dspy.Prediction, trace=None):
    return len(pred.trajectory) < 20
