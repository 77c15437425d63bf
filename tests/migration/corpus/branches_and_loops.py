import reasonact as dspy

agent = dspy.ReAct("question -> answer", tools=[])
result = None
for attempt in range(3):
    if result is not None:
        print(result.trajectory)
    try:
        result = agent(question="q")
    except Exception:
        result = None
    else:
        print(result.trajectory)
with open("x") as file:
    match result:
        case None:
            pass
        case _:
            print(result.trajectory, file)
