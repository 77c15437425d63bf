import asyncio

import reasonact as dspy

agent = dspy.ReAct("question -> answer", tools=[])


async def main():
    one = await agent.acall(question="q")
    many = await asyncio.gather(agent.acall(question="a"), agent.acall(question="b"))
    for run in many:
        print(run.trajectory)
    return one


print(asyncio.run(main()).trajectory)
