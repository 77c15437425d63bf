"""A deep pydantic model, as a tool's argument."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, Field


class Place(BaseModel):
    """Where something is sent."""

    street: str
    town: str
    code: str = Field(pattern=r"[0-9]{5}")


class Person(BaseModel):
    """Who something is sent to."""

    name: str
    mail: str | None = None
    places: list[Place] = Field(default_factory=list)


class Item(BaseModel):
    """One line of an order."""

    article: str
    count: int = Field(ge=1)
    price: float
    marks: dict[str, str] = Field(default_factory=dict)


class Order(BaseModel):
    """An order with everything in it."""

    number: int
    person: Person
    items: list[Item]
    notes: list[str] = Field(default_factory=list)


ORDER: Final[dict[str, Any]] = {
    "number": 12,
    "person": {
        "name": "Ada",
        "mail": "ada@example.org",
        "places": [
            {"street": "Elm Row 3", "town": "Leith", "code": "12345"},
            {"street": "Quay 9", "town": "Oban", "code": "54321"},
        ],
    },
    "items": [{"article": f"A-{n}", "count": n, "price": 2.5 * n, "marks": {"shelf": str(n)}} for n in range(1, 6)],
    "notes": ["ring twice", "leave with the neighbour"],
}
