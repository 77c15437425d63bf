from dspy import ReActV2 as Agent


def main():
    agent = Agent("question -> answer", tools=[])
    return agent(question="q").answer
