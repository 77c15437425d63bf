import reasonact.as_dspy  # before anything else

import dspy
from dspy.adapters.types.tool import Tool


def search(query: str) -> str:
    """Search."""
    return query


agent = dspy.ReAct("question -> answer", tools=[Tool(search)])
print(agent(question="q").answer)
