from . import dspy
from .dspy import ReActV2

agent = dspy.ReActV2("a -> b", tools=[])
print(ReActV2, agent(a="x").trajectory)
