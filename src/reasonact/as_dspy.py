"""Take DSPy's place: ``import reasonact.as_dspy`` first, and ``import dspy`` gives this library.

For code and integrations that cannot be edited. It holds for the whole process.
"""

from reasonact.migration.stand_in import take_the_place as _take_the_place

_take_the_place()
