"""Evaluation: golden sets, recall by offsets at equal context, answers, gates and reports."""

from fin_rag.evaluation.corpus import Corpus
from fin_rag.evaluation.golden import GoldenSet
from fin_rag.evaluation.questions import Passage, Place, Question
from fin_rag.evaluation.results import Comparison, RetrievalReport, compare
from fin_rag.evaluation.retrieval import evaluate_retrieval

__all__ = [
    "Comparison",
    "Corpus",
    "GoldenSet",
    "Passage",
    "Place",
    "Question",
    "RetrievalReport",
    "compare",
    "evaluate_retrieval",
]
