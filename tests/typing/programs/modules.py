"""Modules: a call takes what the class's own `forward` takes, and gives what it gives."""

from __future__ import annotations

from typing import Any

from typing_extensions import assert_type

import reasonact as dspy


class Answers(dspy.Module):
    """A program with both ways."""

    def __init__(self, retries: int = 0) -> None:
        super().__init__()
        self.retries = retries
        self.answer = dspy.ChainOfThought("question -> answer")

    def forward(self, question: str, hint: str = "") -> dspy.Prediction:
        return self.answer(question=question + hint)

    async def aforward(self, question: str, hint: str = "") -> dspy.Prediction:
        return await self.answer.acall(question=question + hint)


class Counts(dspy.Module):
    """A program of the sync way alone, which gives no prediction."""

    def forward(self, text: str) -> int:
        return len(text)


program = Answers(retries=2)
assert_type(program, Answers)
assert_type(program.answer, dspy.ChainOfThought)
assert_type(program(question="q"), dspy.Prediction)
assert_type(program("q", hint="h"), dspy.Prediction)
assert_type(Counts()("four"), int)
program(query="q")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
program(question=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Answers(retries="two")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# The library's own predictors take any inputs, as the signature alone knows them.
assert_type(dspy.Predict("question -> answer")(question="q"), dspy.Prediction)
assert_type(dspy.ChainOfThought("question -> answer")(question="q"), dspy.Prediction)
assert_type(dspy.Predict("question -> answer", temperature=0.5).signature, type[dspy.Signature])
dspy.Predict(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


async def run() -> None:
    assert_type(await program.acall(question="q"), dspy.Prediction)
    assert_type(await dspy.Predict("question -> answer").acall(question="q"), dspy.Prediction)
    assert_type(await Counts().acall("four"), Any)  # `aforward` is not written
    await program.acall(query="q")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    program.acall(question="q") + 1  # type: ignore[operator]  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]
    # From one way to the other, with the arguments and the result of the program.
    assert_type(await dspy.asyncify(program)(question="q"), dspy.Prediction)
    assert_type(await dspy.asyncify(len)("four"), int)
    await dspy.asyncify(len)(4)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def any_program(given: dspy.Module) -> None:
    assert_type(given(question="q"), Any)
    assert_type(given.named_predictors(), list[tuple[str, Any]])
    given.save("program.json")


assert_type(dspy.syncify(program), Answers)
assert_type(dspy.syncify(program, in_place=False), dspy.Module)
dspy.syncify(len)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]

assert_type(dspy.load("program.json"), dspy.Module)
assert_type(program.deepcopy(), Answers)
assert_type(program.map_named_predictors(lambda predictor: predictor), Answers)
assert_type(program.batch([dspy.Example(question="q").with_inputs("question")]), Any)
assert_type(dspy.Parallel(num_threads=2)([(program, {"question": "q"})]), Any)


def right(example: dspy.Example, made: dspy.Prediction) -> float:
    return float(made.answer == example.answer)


evaluated = dspy.Evaluate(devset=[], metric=right)(program)
assert_type(evaluated, dspy.EvaluationResult)
assert_type(evaluated.score, float)

several = dspy.Predict("question -> answer", n=2)(question="q").completions
if several is not None:
    assert_type(several[0], dspy.Prediction)
    assert_type(several["answer"], list[Any])
    assert_type(several.answer, list[Any])
