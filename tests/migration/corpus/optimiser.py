import dspy
from dspy.teleprompt import BootstrapFewShot

program = dspy.Predict("question -> answer")
compiled = dspy.MIPROv2(metric=len).compile(program)
also = BootstrapFewShot().compile(program)
