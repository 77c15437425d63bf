import dspy  # pinned


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


class Adder(dspy.ReActV2):  # keeps its comment
    pass


def main():
    agent = Adder("question -> answer: int", tools=[add])
    plain = dspy.ReActV2("question -> answer: int", tools=[add])
    results = [agent(question="1+2?"), plain(question="3+4?")]
    return [[r.answer, r.termination_reason] for r in results]
