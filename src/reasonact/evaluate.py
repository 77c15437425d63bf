"""Import path: ``from reasonact.evaluate import Evaluate, EvaluationResult``."""

from reasonact.modules.evaluate import Evaluate as Evaluate
from reasonact.modules.evaluate import EvaluationResult as EvaluationResult

__all__ = ["Evaluate", "EvaluationResult"]
