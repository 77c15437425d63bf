import reasonact.v35 as dspy

agent = dspy.ReActV2("question -> answer", tools=[])
