import reasonact.v35 as dspy


def search(query: str) -> str:
    """Search."""
    return query


agent = dspy.ReAct("question -> answer", tools=[search])
result = agent(question="q")
print(result.answer, result.termination_reason, len(result.history.messages))
