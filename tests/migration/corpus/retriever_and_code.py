import dspy

searcher = dspy.Retrieve(k=3)
coder = dspy.ProgramOfThought("question -> answer")
best = dspy.BestOfN(dspy.Predict("a -> b"), N=3, reward_fn=len, threshold=1.0)
old = dspy.OldInputField()
