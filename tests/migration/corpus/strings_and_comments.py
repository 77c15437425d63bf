"""Words that name DSPy are no code: nothing to change.

import dspy, dspy.ReActV2, result.trajectory
"""
import reasonact as dspy

# import dspy
TEXT = "from dspy import ReActV2"
print(TEXT, dspy.Predict("question -> answer"))
