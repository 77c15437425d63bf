import reasonact as dspy


def search(query: str) -> str:
    """Search."""
    return query


def main():
    agent = dspy.ReAct("question -> answer", tools=[search], max_iters=3)
    return agent(question="q").answer
