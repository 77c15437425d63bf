"""The plainest agent: nothing to change but the import."""
import dspy  # the framework


def search(query: str) -> str:
    """Search."""
    return f"found {query}"


def main():
    agent = dspy.ReAct("question -> answer", tools=[search])
    return agent(question="q").answer
