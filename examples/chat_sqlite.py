"""A chat that remembers: each conversation is kept in SQLite, one message at a time.

python examples/chat_sqlite.py --db chat.sqlite3 "Where is order 7?" "And what did I order there?"
python examples/chat_sqlite.py --db chat.sqlite3 "Which order did I ask about?"

The second command is another process; it goes on where the first one stopped.
"""

from __future__ import annotations

import argparse
import re
import sqlite3
from contextlib import closing
from typing import Any

import reasonact as dspy
from reasonact.testing import ScriptedLM

ORDERS = {7: "a lamp, sent on Monday", 8: "two chairs, not sent yet"}


def find_order(number: int) -> str:
    """What an order holds, and where it is."""
    return ORDERS[number]


class Conversations:
    """Histories by name, in a SQLite file."""

    def __init__(self, path: str) -> None:
        self._db = sqlite3.connect(path)
        self._db.execute("create table if not exists conversations (name text primary key, history text not null)")

    def load(self, name: str) -> dspy.History:
        row = self._db.execute("select history from conversations where name = ?", (name,)).fetchone()
        return dspy.History.model_validate_json(row[0]) if row else dspy.History(messages=[])

    def save(self, name: str, history: dspy.History) -> None:
        with self._db:
            self._db.execute("replace into conversations values (?, ?)", (name, history.model_dump_json()))

    def close(self) -> None:
        self._db.close()


def stand_in(messages: list[dict[str, Any]], options: dict[str, Any]) -> Any:
    """What the model says where none is named: it looks up orders, and knows what it was shown before."""
    asked = [str(message["content"]) for message in messages if message["role"] == "user"]
    if messages[-1]["role"] == "tool":
        return None, [(None, "submit", {"reply": f"Your order is {messages[-1]['content']}."})]
    number = re.search(r"order (\d+)", asked[-1])
    if number:
        return "I look it up.", [(None, "find_order", {"number": int(number[1])})]
    earlier = [found[1] for text in asked[:-1] if (found := re.search(r"order (\d+)", text))]
    told = f"You asked about order {earlier[-1]}." if earlier else "You have not named an order yet."
    return None, [(None, "submit", {"reply": told})]


def main() -> None:
    parser = argparse.ArgumentParser(description="Talk to a shop, and be remembered.")
    parser.add_argument("messages", nargs="*", default=["Where is order 7?", "Which order did I ask about?"])
    parser.add_argument("--db", default=":memory:", help="the SQLite file; without it nothing is kept")
    parser.add_argument("--name", default="me", help="whose conversation it is")
    parser.add_argument("--model", help="any model as LiteLLM names it; without it rules play")
    options = parser.parse_args()

    dspy.configure(
        lm=dspy.LM(options.model) if options.model else ScriptedLM(stand_in, function_calling=True),
        adapter=dspy.ChatAdapter(use_native_function_calling=True),
    )
    agent = dspy.ReActV2("message -> reply", tools=[find_order], max_iters=5, on_overflow=dspy.drop_oldest_turns)
    with closing(Conversations(options.db)) as conversations:
        for message in options.messages:
            result = agent(message=message, history=conversations.load(options.name))
            conversations.save(options.name, result.history)
            print("you: ", message)
            print("shop:", result.get("reply", f"(no answer: {result.termination_reason})"))


if __name__ == "__main__":
    main()
