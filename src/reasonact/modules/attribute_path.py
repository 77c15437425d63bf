"""Set what a path such as ``steps[0].predict`` names."""

from __future__ import annotations

import re
from typing import Any

_STEP = re.compile(r"\.?(?P<name>[^.\[\]]+)|\[(?P<index>\d+)\]|\['(?P<key>.*?)'\](?=$|[.\[])|\[\"(?P<text>.*?)\"\]")


def set_attribute_by_name(obj: Any, name: str, value: Any) -> None:
    """Assign to a nested attribute or item.

    Args:
        obj: Where the path starts.
        name: Attribute names joined by dots, with ``[0]`` and ``['key']`` for items.
        value: What to put there. For the path ``self``, its attributes are taken over.

    Raises:
        ValueError: The path cannot be read.
        AttributeError, LookupError: The path leads nowhere.
    """
    if name == "self":
        obj.__dict__.update(value.__dict__)
        return
    steps: list[tuple[str, Any]] = []
    position = 0
    while position < len(name):
        found = _STEP.match(name, position)
        if found is None:
            raise ValueError(f"cannot read the attribute path {name!r} from character {position} on")
        position = found.end()
        if found["name"] is not None:
            steps.append(("attribute", found["name"]))
        elif found["index"] is not None:
            steps.append(("item", int(found["index"])))
        else:
            steps.append(("item", found["key"] if found["key"] is not None else found["text"]))
    if not steps:
        raise ValueError("the attribute path is empty")
    for kind, step in steps[:-1]:
        obj = getattr(obj, step) if kind == "attribute" else obj[step]
    kind, step = steps[-1]
    if kind == "attribute":
        setattr(obj, step, value)
    else:
        obj[step] = value
