"""Evaluation: golden sets, recall by offsets at equal context, answers, gates and reports."""

from fin_rag.evaluation.golden import GoldenSet
from fin_rag.evaluation.questions import Passage, Place, Question

__all__ = ["GoldenSet", "Passage", "Place", "Question"]
