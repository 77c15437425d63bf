import reasonact as dspy


def build():
    return dspy.ReAct("question -> answer", tools=[])


def ask(agent, question):
    if not question:
        return None
    return agent(question=question)


def show(result):
    print(result.trajectory)


async def later(agent):
    result = await agent.acall(question="q")
    return result


answer = ask(build(), "q")
show(answer)
pick = lambda agent: agent(question="q")  # noqa: E731
print(pick(build()).trajectory)
