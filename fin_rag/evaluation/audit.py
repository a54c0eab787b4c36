"""Read from a retriever's own account which documents it searched for a question."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fin_rag.evaluation.diagnosis import SearchedDocuments
from fin_rag.evaluation.questions import Question
from fin_rag.retrieval.retriever import FinancialRetriever
from fin_rag.schema import DOC_ID


def searched_by(retriever: FinancialRetriever) -> SearchedDocuments:
    """Return a function from a question to the ids of the documents that the retriever narrowed its search to.

    The account is the retriever's plan where it reads the question, else its filter alone. Hand it to ``diagnose``, so
    that questions lost to a filter are told from those that were searched for in vain.
    """
    index = retriever.index
    numbered: Mapping[str, str] = {
        str(number): str(metadata[DOC_ID])
        for number, metadata in index.numbered_documents(session_id=retriever.session_id)
    }

    def searched(question: Question) -> Collection[str]:
        if not retriever.plan:
            allowed = index.documents(retriever.filter, session_id=retriever.session_id)
            return {str(metadata[DOC_ID]) for metadata in allowed}
        chosen = retriever.explain(question.question, as_of=question.as_of)["documents"]
        return {numbered[str(n)] for n in chosen if str(n) in numbered} if isinstance(chosen, Mapping) else set()

    return searched
