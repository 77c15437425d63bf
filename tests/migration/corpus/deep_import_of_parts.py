from dspy.utils import DummyLM
from dspy.utils.dummies import DummyLM as Dummy


def main():
    lm = DummyLM([{"answer": "a"}])
    return [Dummy is DummyLM, lm("q")[0]]
