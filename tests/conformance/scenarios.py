"""The scripts that both libraries play."""

import enum
from typing import Any, Literal

from harness import FINISH, Call, Fault, Fields, Raw, Scenario, Several, Turn, step, submit, turn
from pydantic import BaseModel

# Tools


def search(query: str, k: int = 3) -> str:
    """Search the pages."""
    return f"{k} pages on {query}"


def divide(a: int, b: int) -> int:
    """Divide, and say so when that cannot be done."""
    if b == 0:
        raise ValueError("cannot divide by nothing")
    return a // b


def rows(table: str) -> list[dict[str, Any]]:
    """Read a table."""
    return [{"table": table, "row": 1}, {"table": table, "row": None}]


async def fetch(url: str) -> str:
    """Fetch a page."""
    return f"page {url}"


class Place(BaseModel):
    city: str
    zip: int | None = None


class Trip(BaseModel):
    start: Place
    stops: list[Place] = []


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


def plan(trip: Trip, days: list[int]) -> str:
    """Plan a trip."""
    return f"{trip.start.city} by {len(trip.stops)} stops in {sum(days)} days ({type(trip).__name__})"


# Signatures


def report(library):
    class Report(library.Signature):
        """Report on a city in figures."""

        city: str = library.InputField(desc="the name of the city")
        year: int = library.InputField()
        people: int = library.OutputField(desc="how many live there")
        rivers: list[str] = library.OutputField()
        mayor: str | None = library.OutputField()
        size: Literal["small", "large"] = library.OutputField()
        place: Place = library.OutputField()

    return Report


def paint(library):
    class Paint(library.Signature):
        """Name the colour of a thing."""

        thing: str = library.InputField()
        colour: Colour = library.OutputField()
        sure: bool = library.OutputField()
        share: float = library.OutputField(desc="between 0 and 1")

    return Paint


def summary(library):
    return library.Signature("text: str, limit: int -> summary: str, words: list[str]", "Sum the text up.")


REPORT_INPUTS = {"city": "Basel", "year": 2020}
REPORT = {"people": 173, "rivers": ["Rhine", "Birs"], "mayor": None, "size": "small", "place": {"city": "Basel"}}

# Preparations and runs


def with_demos(names):
    def prepare(library, program):
        demos = {
            "react": {
                "question": "old",
                "trajectory": "",
                "next_thought": "t",
                "next_tool_name": "search",
                "next_tool_args": {"query": "o"},
            },
            "extract.predict": {"question": "old", "trajectory": "x", "reasoning": "because", "answer": "A"},
            "self": {"question": "old", "answer": "A"},
            "predict": {"question": "old", "reasoning": "because", "answer": "A"},
        }
        for name, predictor in program.named_predictors():
            if name in names:
                predictor.demos = [library.Example(**demos[name]).with_inputs("question", "trajectory")]
        return program

    return prepare


def partial_demos(library, program):
    program.demos = [
        library.Example(question="half").with_inputs("question"),
        library.Example(question="whole", answer="A").with_inputs("question"),
    ]
    return program


def forgetful(library, program):
    """An agent whose subclass drops all but the last step."""

    class Forgetful(library.ReAct):
        def truncate_trajectory(self, trajectory):
            for key in list(trajectory)[:-4]:
                del trajectory[key]
            return trajectory

    return Forgetful(program.signature, tools=[search])


def nested(library, program):
    class Outer(library.Module):
        def __init__(self):
            super().__init__()
            self.first = program
            self.many = [library.Predict("answer -> short")]
            self.table = {"cot": library.ChainOfThought("short -> long")}

        def forward(self, question):
            answer = self.first(question=question).answer
            short = self.many[0](answer=answer).short
            return self.table["cot"](short=short)

        async def aforward(self, question):
            answer = (await self.first.acall(question=question)).answer
            short = (await self.many[0].acall(answer=answer)).short
            return await self.table["cot"].acall(short=short)

    return Outer()


def own_lm(library, program):
    """The configured model moves onto the module itself."""
    program.set_lm(library.settings.lm)
    return program


def continued(library, prediction):
    return {"question": "and then?", "history": prediction.history}


def with_plain_history(library, prediction):
    past = library.History(messages=[{"question": "before", "answer": "earlier answer"}])
    return {"question": "q?", "history": past}


def with_message_history(library, prediction):
    past = library.History(messages=[{"question": "one", "answer": "1"}, {"question": "two", "answer": "2"}])
    return {"question": "three", "history": past}


def in_batch(program, inputs):
    library_example = inputs["examples"]
    return program.batch(library_example, num_threads=1, disable_progress_bar=True)


def batch_inputs(library, prediction):
    return {"examples": [library.Example(question=q).with_inputs("question") for q in ("a", "b", "c")]}


ANSWER = Fields({"reasoning": "It said so.", "answer": "42"})
SEARCH = step("I look.", "search", query="cats")
BOTH = ("chat", "json")
ALL = ("chat", "json", "chat native", "json native")
NATIVE = ("chat native", "json native")

REACT = (
    Scenario("one call, then finish", "ReAct", "question -> answer", (SEARCH, FINISH, ANSWER), (search,), adapters=ALL),
    Scenario("finish at once", "ReAct", "question -> answer", (FINISH, ANSWER), (search,)),
    Scenario("no tool but finish", "ReAct", "question -> answer", (FINISH, ANSWER)),
    Scenario(
        "an argument left to its default and one given",
        "ReAct",
        "question -> answer",
        (SEARCH, step("More.", "search", query="dogs", k=9), FINISH, ANSWER),
        (search,),
    ),
    Scenario(
        "a tool that raises",
        "ReAct",
        "question -> answer",
        (step("I divide.", "divide", a=1, b=0), step("Again.", "divide", a=9, b=3), FINISH, ANSWER),
        (divide,),
        differences=("error_text",),
    ),
    Scenario(
        "a missing argument",
        "ReAct",
        "question -> answer",
        (step("I look.", "search"), FINISH, ANSWER),
        (search,),
        differences=("error_text",),
    ),
    Scenario(
        "an argument that the tool does not have",
        "ReAct",
        "question -> answer",
        (step("I look.", "search", query="a", depth=2), FINISH, ANSWER),
        (search,),
        differences=("error_text",),
    ),
    Scenario(
        "values of a tool stay values",
        "ReAct",
        "question -> answer",
        (step("Rows.", "rows", table="t"), step("Sum.", "divide", a=8, b=2), FINISH, ANSWER),
        (rows, divide),
    ),
    Scenario(
        "nested models as arguments",
        "ReAct",
        "question -> answer",
        (
            step(
                "Plan.", "plan", trip={"start": {"city": "Basel"}, "stops": [{"city": "Bern", "zip": 3}]}, days=[1, 2]
            ),
            FINISH,
            ANSWER,
        ),
        (plan,),
    ),
    Scenario(
        "several typed outputs and two inputs",
        "ReAct",
        report,
        (step("I look.", "search", query="Basel"), FINISH, Fields({"reasoning": "Found.", **REPORT})),
        (search,),
        REPORT_INPUTS,
    ),
    Scenario(
        "an enum, a flag and a share",
        "ReAct",
        paint,
        (FINISH, Fields({"reasoning": "Seen.", "colour": "blue", "sure": True, "share": 0.5})),
        (search,),
        {"thing": "sky"},
    ),
    Scenario(
        "the turns run out",
        "ReAct",
        "question -> answer",
        (SEARCH, SEARCH, ANSWER),
        (search,),
        options={"max_iters": 2},
    ),
    Scenario(
        "the turns of one call run out",
        "ReAct",
        "question -> answer",
        (SEARCH, ANSWER),
        (search,),
        {"question": "q?", "max_iters": 1},
    ),
    Scenario("no turns at all", "ReAct", "question -> answer", (ANSWER,), (search,), options={"max_iters": 0}),
    Scenario(
        "a full context after two steps",
        "ReAct",
        "question -> answer",
        (SEARCH, SEARCH, Fault(), FINISH, ANSWER),
        (search,),
    ),
    Scenario(
        "a full context twice in a row",
        "ReAct",
        "question -> answer",
        (SEARCH, SEARCH, SEARCH, Fault(), Fault(), FINISH, ANSWER),
        (search,),
    ),
    Scenario(
        "a full context for the extractor",
        "ReAct",
        "question -> answer",
        (SEARCH, FINISH, Fault(), ANSWER),
        (search,),
    ),
    Scenario(
        "a full context at the first step",
        "ReAct",
        "question -> answer",
        (Fault(), ANSWER),
        (search,),
    ),
    Scenario(
        "a context that nothing fits",
        "ReAct",
        "question -> answer",
        (SEARCH, Fault(), Fault()),
        (search,),
        ends="ContextWindowExceededError",
    ),
    Scenario(
        "a subclass that forgets in its own way",
        "ReAct",
        "question -> answer",
        (SEARCH, SEARCH, SEARCH, Fault(), FINISH, ANSWER),
        (search,),
        build=forgetful,
    ),
    Scenario(
        "a step that only the JSON fallback gets right",
        "ReAct",
        "question -> answer",
        (
            Raw("I would rather not."),
            Raw('{"next_thought": "t", "next_tool_name": "search", "next_tool_args": {"query": "x"}}'),
            FINISH,
            ANSWER,
        ),
        (search,),
        adapters=("chat",),
    ),
    Scenario(
        "an extractor that only the JSON fallback gets right",
        "ReAct",
        "question -> answer",
        (FINISH, Raw("Forty-two."), Raw('{"reasoning": "r", "answer": "42"}')),
        (search,),
        adapters=("chat",),
    ),
    Scenario(
        "a step that nothing gets right",
        "ReAct",
        "question -> answer",
        (Raw("no"), Raw("no")),
        (search,),
        adapters=("chat",),
        ends="AdapterParseError",
        switches={"max_bad_steps": 0},
    ),
    Scenario(
        "a model that is away",
        "ReAct",
        "question -> answer",
        (SEARCH, Fault("away")),
        (search,),
        ends="RuntimeError",
    ),
    Scenario("an input left out", "ReAct", "question -> answer", (FINISH, ANSWER), (search,), {}),
    Scenario(
        "an input too many", "ReAct", "question -> answer", (FINISH, ANSWER), (search,), {"question": "q?", "z": 1}
    ),
    Scenario(
        "demos on both predictors",
        "ReAct",
        "question -> answer",
        (SEARCH, FINISH, ANSWER),
        (search,),
        build=with_demos(("react", "extract.predict")),
    ),
    Scenario(
        "a signature with instructions",
        "ReAct",
        summary,
        (FINISH, Fields({"reasoning": "r", "summary": "short", "words": ["a"]})),
        (search,),
        {"text": "long", "limit": 3},
    ),
    Scenario("a model set on the agent", "ReAct", "question -> answer", (FINISH, ANSWER), (search,), build=own_lm),
    Scenario(
        "finish with arguments",
        "ReAct",
        "question -> answer",
        (step("That is all.", "finish", answer="42"), ANSWER),
        (search,),
        differences=("finish_arguments",),
    ),
)

V2 = (
    Scenario(
        "one call, then submit",
        "ReActV2",
        "question -> answer",
        (turn("I look.", Call("search", {"query": "cats"}, "c1")), submit("c2", answer="42")),
        (search,),
        adapters=ALL,
    ),
    Scenario("submit at once", "ReActV2", "question -> answer", (submit("c1", answer="42"),), (search,), adapters=ALL),
    Scenario("no tool but submit", "ReActV2", "question -> answer", (submit("c1", answer="42"),), adapters=ALL),
    Scenario(
        "several calls in a turn",
        "ReActV2",
        "question -> answer",
        (
            turn("Both.", Call("search", {"query": "a"}, "c1"), Call("rows", {"table": "t"}, "c2")),
            turn("Again.", Call("divide", {"a": 8, "b": 2}, "c3")),
            submit("c4", answer="42"),
        ),
        (search, rows, divide),
        adapters=ALL,
    ),
    Scenario(
        "calls without ids",
        "ReActV2",
        "question -> answer",
        (
            turn("Both.", Call("search", {"query": "a"}), Call("search", {"query": "b"})),
            turn("Again.", Call("search", {"query": "c"})),
            submit(answer="42"),
        ),
        (search,),
        adapters=ALL,
    ),
    Scenario(
        "calls without a thought",
        "ReActV2",
        "question -> answer",
        (turn(None, Call("search", {"query": "a"}, "c1")), turn(None, Call("submit", {"answer": "42"}, "c2"))),
        (search,),
        adapters=NATIVE,
    ),
    Scenario(
        "a thought without its marker",
        "ReActV2",
        "question -> answer",
        (Turn("I look.", (Call("search", {"query": "a"}, "c1"),), marked=False), submit("c2", answer="42")),
        (search,),
        adapters=("chat native",),
        differences=("unmarked_thought",),
    ),
    Scenario(
        "a tool that raises",
        "ReActV2",
        "question -> answer",
        (turn("I divide.", Call("divide", {"a": 1, "b": 0}, "c1")), submit("c2", answer="42")),
        (divide,),
        adapters=ALL,
        differences=("error_text",),
    ),
    Scenario(
        "an unknown tool",
        "ReActV2",
        "question -> answer",
        (turn("I fly.", Call("fly", {"to": "Bern"}, "c1")), submit("c2", answer="42")),
        (search,),
        adapters=ALL,
        differences=("error_text",),
    ),
    Scenario(
        "a submit without the output",
        "ReActV2",
        "question -> answer",
        (turn("Done.", Call("submit", {}, "c1")), submit("c2", answer="42")),
        (search,),
        adapters=ALL,
        differences=("error_text",),
    ),
    Scenario(
        "submit beside another call",
        "ReActV2",
        "question -> answer",
        (turn("Both.", Call("search", {"query": "a"}, "c1"), Call("submit", {"answer": "42"}, "c2")),),
        (search,),
        adapters=ALL,
    ),
    Scenario(
        "two submits in a turn",
        "ReActV2",
        "question -> answer",
        (turn("Twice.", Call("submit", {"answer": "1"}, "c1"), Call("submit", {"answer": "2"}, "c2")),),
        (search,),
        adapters=ALL,
        differences=("first_submit",),
    ),
    Scenario(
        "several typed outputs and two inputs",
        "ReActV2",
        report,
        (turn("I look.", Call("search", {"query": "Basel"}, "c1")), submit("c2", **REPORT)),
        (search,),
        REPORT_INPUTS,
        adapters=ALL,
    ),
    Scenario(
        "an enum, a flag and a share",
        "ReActV2",
        paint,
        (submit("c1", colour="blue", sure=True, share=0.5),),
        (search,),
        {"thing": "sky"},
        adapters=ALL,
    ),
    Scenario(
        "nested models as arguments",
        "ReActV2",
        "question -> answer",
        (
            turn("Plan.", Call("plan", {"trip": {"start": {"city": "Basel"}}, "days": [1, 2]}, "c1")),
            submit("c2", answer="42"),
        ),
        (plan,),
        adapters=ALL,
    ),
    Scenario(
        "the turns run out and the forced submit submits",
        "ReActV2",
        "question -> answer",
        (turn("I look.", Call("search", {"query": "cats"}, "c1")), submit("c2", answer="42")),
        (search,),
        adapters=ALL,
        options={"max_iters": 1},
    ),
    Scenario(
        "the turns of one call run out",
        "ReActV2",
        "question -> answer",
        (turn("I look.", Call("search", {"query": "cats"})), submit(answer="42")),
        (search,),
        {"question": "q?", "max_iters": 1},
        adapters=ALL,
    ),
    Scenario(
        "no turns at all",
        "ReActV2",
        "question -> answer",
        (submit("c1", answer="42"),),
        (search,),
        adapters=ALL,
        options={"max_iters": 0},
    ),
    Scenario(
        "a turn without calls",
        "ReActV2",
        "question -> answer",
        (turn("I know it."), submit("c1", answer="42")),
        (search,),
        adapters=ALL,
        differences=("kept_text_turn",),
    ),
    Scenario(
        "a turn that does not parse, and the JSON fallback submits",
        "ReActV2",
        "question -> answer",
        (
            Raw("I would rather not."),
            Raw('{"next_thought": "t", "tool_calls": {"tool_calls": [{"name": "submit", "args": {"answer": "42"}}]}}'),
        ),
        (search,),
        adapters=("chat",),
    ),
    Scenario(
        "a turn that nothing gets right, then the forced submit",
        "ReActV2",
        "question -> answer",
        (Raw("no"), Raw("no"), submit("c1", answer="42")),
        (search,),
        adapters=("chat",),
        differences=("kept_text_turn",),
    ),
    Scenario(
        "a forced submit that does not submit",
        "ReActV2",
        "question -> answer",
        (turn("I know it."), turn("I do.")),
        (search,),
        adapters=BOTH,
        ends="ValueError",
        switches={"strict": True},
    ),
    Scenario(
        "a full context",
        "ReActV2",
        "question -> answer",
        (
            turn("I look.", Call("search", {"query": "cats"}, "c1")),
            turn("Again.", Call("search", {"query": "dogs"}, "c2")),
            Fault(),
            submit("c3", answer="42"),
        ),
        (search,),
        adapters=ALL,
        differences=("shortened_view",),
    ),
    Scenario(
        "a model that is away",
        "ReActV2",
        "question -> answer",
        (turn("I look.", Call("search", {"query": "cats"}, "c1")), Fault("away")),
        (search,),
        adapters=ALL,
        ends="RuntimeError",
    ),
    Scenario(
        "a second run goes on in the history of the first",
        "ReActV2",
        "question -> answer",
        (
            turn("I look.", Call("search", {"query": "a"}, "c1")),
            submit("c2", answer="1"),
            turn("I look.", Call("search", {"query": "b"}, "c3")),
            submit("c4", answer="2"),
        ),
        (search,),
        ({"question": "first?"}, continued),
        adapters=ALL,
    ),
    Scenario(
        "a history of plain questions and answers",
        "ReActV2",
        "question -> answer",
        (submit("c1", answer="42"),),
        (search,),
        with_plain_history,
        adapters=ALL,
        differences=("plain_answer",),
    ),
    Scenario("an input left out", "ReActV2", "question -> answer", (submit("c1", answer="42"),), (search,), {}, ALL),
    Scenario(
        "a signature with instructions",
        "ReActV2",
        summary,
        (submit("c1", summary="short", words=["a"]),),
        (search,),
        {"text": "long", "limit": 3},
        adapters=ALL,
    ),
    Scenario(
        "a model set on the agent",
        "ReActV2",
        "question -> answer",
        (submit("c1", answer="42"),),
        (search,),
        adapters=ALL,
        build=own_lm,
    ),
    Scenario(
        "a model that knows no tools is asked in text",
        "ReActV2",
        "question -> answer",
        (
            Raw(
                "[[ ## next_thought ## ]]\nt\n\n[[ ## tool_calls ## ]]\n"
                '{"tool_calls": [{"name": "submit", "args": {"answer": "42"}}]}\n\n[[ ## completed ## ]]'
            ),
        ),
        (search,),
        adapters=("chat native",),
        knows=(),
    ),
)

ASYNC_TOOLS = (
    Scenario(
        "an async tool",
        "ReAct",
        "question -> answer",
        (step("Fetch.", "fetch", url="u"), FINISH, ANSWER),
        (fetch,),
        settings={"allow_tool_async_sync_conversion": True},
    ),
    Scenario(
        "an async tool",
        "ReActV2",
        "question -> answer",
        (turn("Fetch.", Call("fetch", {"url": "u"}, "c1")), submit("c2", answer="42")),
        (fetch,),
        adapters=ALL,
        settings={"allow_tool_async_sync_conversion": True},
    ),
)

MODULES = (
    Scenario("one question", "Predict", "question -> answer", (Fields({"answer": "42"}),)),
    Scenario("one question", "ChainOfThought", "question -> answer", (ANSWER,)),
    Scenario("typed outputs", "Predict", report, (Fields(REPORT),), inputs=REPORT_INPUTS),
    Scenario("typed outputs", "ChainOfThought", report, (Fields({"reasoning": "r", **REPORT}),), inputs=REPORT_INPUTS),
    Scenario(
        "an enum, a flag and a share",
        "Predict",
        paint,
        (Fields({"colour": "red", "sure": False, "share": 1}),),
        inputs={"thing": "rose"},
    ),
    Scenario(
        "a value of the wrong type",
        "Predict",
        report,
        (Fields({**REPORT, "people": "many"}), Raw("no")),
        inputs=REPORT_INPUTS,
        adapters=("chat",),
        ends="AdapterParseError",
    ),
    Scenario(
        "two completions",
        "Predict",
        "question -> answer",
        (Several((Fields({"answer": "1"}), Fields({"answer": "2"}))),),
        options={"n": 2, "temperature": 0.7},
    ),
    Scenario(
        "options of one call",
        "Predict",
        "question -> answer",
        (Fields({"answer": "42"}),),
        inputs={"question": "q?", "config": {"temperature": 0.3, "max_tokens": 9}},
    ),
    Scenario(
        "the JSON fallback", "Predict", "question -> answer", (Raw("42"), Raw('{"answer": "42"}')), adapters=("chat",)
    ),
    Scenario("demos", "Predict", "question -> answer", (Fields({"answer": "42"}),), build=with_demos(("self",))),
    Scenario("demos", "ChainOfThought", "question -> answer", (ANSWER,), build=with_demos(("predict",))),
    Scenario(
        "a demo that lacks its answer",
        "Predict",
        "question -> answer",
        (Fields({"answer": "42"}),),
        build=partial_demos,
    ),
    Scenario(
        "a conversation so far",
        "Predict",
        lambda library: library.Signature(
            {
                "question": (str, library.InputField()),
                "history": (library.History, library.InputField()),
                "answer": (str, library.OutputField()),
            }
        ),
        (Fields({"answer": "3"}),),
        inputs=with_message_history,
    ),
    Scenario(
        "modules in modules",
        "Predict",
        "question -> answer",
        (Fields({"answer": "42"}), Fields({"short": "4"}), Fields({"reasoning": "r", "long": "four"})),
        build=nested,
    ),
    Scenario("a model set on the module", "Predict", "question -> answer", (Fields({"answer": "42"}),), build=own_lm),
    Scenario(
        "a batch",
        "Predict",
        "question -> answer",
        (Fields({"answer": "1"}), Fields({"answer": "2"}), Fields({"answer": "3"})),
        inputs=batch_inputs,
        run=in_batch,
    ),
    Scenario("an input left out", "Predict", "question, context -> answer", (Fields({"answer": "42"}),)),
    Scenario(
        "a schema that the model takes",
        "Predict",
        report,
        (Fields(REPORT),),
        inputs=REPORT_INPUTS,
        adapters=("json",),
        knows=("function_calling", "response_schema"),
    ),
    Scenario("a model that is away", "Predict", "question -> answer", (Fault("away"),), ends="RuntimeError"),
    Scenario("a full context", "Predict", "question -> answer", (Fault(),), ends="ContextWindowExceededError"),
)

SCENARIOS = (*REACT, *V2, *ASYNC_TOOLS, *MODULES)
