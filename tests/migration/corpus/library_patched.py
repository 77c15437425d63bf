import dspy

dspy.LM = None
print(dspy.Predict("a -> b"))
