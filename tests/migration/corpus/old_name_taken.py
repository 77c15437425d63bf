from reasonact.v35 import ReActV2


class ReAct:
    """The program's own."""


agent = ReActV2("question -> answer", tools=[])
