"""Question analysis: from a question to a plan, with reasons."""

from fin_rag.query.analyse import analyse
from fin_rag.query.lexicon import Lexicon
from fin_rag.query.library import Library
from fin_rag.query.model import QueryPlan
from fin_rag.query.select import Selection, select_documents

__all__ = ["Lexicon", "Library", "QueryPlan", "Selection", "analyse", "select_documents"]
