import reasonact as dspy


class Talk(dspy.Signature):
    """Talk."""

    question: str = dspy.InputField()
    history: dspy.History = dspy.InputField()
    answer: str = dspy.OutputField()


one = dspy.ReAct(Talk, tools=[])
two = dspy.ReAct("question, tools: list[str] -> answer, termination_reason", tools=[])
three = dspy.ReAct("question: dict[str, list[int]], context -> answer: list[str]", tools=[])
