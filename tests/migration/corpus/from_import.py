from dspy import (
    Predict,  # asks once
    Signature as Sig,
    InputField, OutputField,
)


class Task(Sig):
    """Answer."""

    question: str = InputField()
    answer: int = OutputField()


def main():
    return Predict(Task)(question="q").answer
