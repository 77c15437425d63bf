import reasonact.v35 as dspy
from reasonact.v35 import ReAct, ReActV2

agents = [dspy.ReActV2("question -> answer", tools=[]), ReActV2("a -> b", tools=[]), ReAct("a -> b", tools=[])]
