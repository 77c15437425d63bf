from dspy.adapters.types.tool import Tool
from dspy.predict.react import ReAct
from dspy.primitives.prediction import Prediction


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def main():
    tool = Tool(add)
    return [tool(a=1, b=2), tool.name, Prediction(x=1).x, ReAct.__name__]
