import reasonact as dspy


def finish(answer: str) -> str:
    """Done."""
    return answer


def submit(answer: str) -> str:
    """Hand in."""
    return answer


def search(query: str) -> str:
    """Search."""
    return query


agent = dspy.ReAct("question -> answer", tools=[search, submit])
refused = dspy.ReAct("question -> answer", tools=[dspy.Tool(search, name="finish"), finish])
del agent.tools["finish"]
print("finish" in agent.tools, agent.tools.get("finish"))
result = agent(question="q")
for index in range(3):
    if result.trajectory.get(f"tool_name_{index}") == "finish":
        break
last_tool_name = "x"
print(last_tool_name == "finish", "state" == "finish")
