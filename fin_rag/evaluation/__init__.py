"""Evaluation: golden sets, recall by offsets at equal context, answers, gates and reports."""

from fin_rag.evaluation.answers import AnswerReport, evaluate_answers
from fin_rag.evaluation.corpus import Corpus
from fin_rag.evaluation.diagnosis import Diagnosis, diagnose
from fin_rag.evaluation.gate import Gate, GateResult
from fin_rag.evaluation.given import GivenAnswer, read_answers, write_answers
from fin_rag.evaluation.golden import GoldenSet
from fin_rag.evaluation.judges import RagasJudge
from fin_rag.evaluation.questions import Passage, Place, Question
from fin_rag.evaluation.report import Report
from fin_rag.evaluation.results import Comparison, RetrievalReport, compare
from fin_rag.evaluation.retrieval import evaluate_retrieval

__all__ = [
    "AnswerReport",
    "Comparison",
    "Corpus",
    "Diagnosis",
    "Gate",
    "GateResult",
    "GivenAnswer",
    "GoldenSet",
    "Passage",
    "Place",
    "Question",
    "RagasJudge",
    "Report",
    "RetrievalReport",
    "compare",
    "diagnose",
    "evaluate_answers",
    "evaluate_retrieval",
    "read_answers",
    "write_answers",
]
