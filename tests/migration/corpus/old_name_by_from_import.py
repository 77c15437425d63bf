from dspy import ReActV2, Tool


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def build() -> ReActV2:
    return ReActV2("question -> answer: int", tools=[Tool(add)])


def main():
    result = build()(question="1+2?")
    return [result.answer, isinstance(build(), ReActV2), "ReActV2" in globals()]
