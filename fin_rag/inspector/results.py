"""Retrieved Documents as a table, for notebooks and data frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from langchain_core.documents import Document

from fin_rag.display import html_table
from fin_rag.index.view import make_frame
from fin_rag.schema import CONTEXT_HEADER, DOC_ID, PAGE, RANK, REASON, SCORE, SECTION_PATH, SPANS

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = (RANK, SCORE, DOC_ID, SECTION_PATH, PAGE, SPANS, REASON, "text")
_EXCERPT = 160  # code points


@dataclass(frozen=True)
class ResultsTable:
    """Show what a retriever returned: rank, score, place, reason and text.

    In a notebook it shows itself; ``frame`` makes a data frame of it.

    Example:
        >>> found = [Document(page_content="Net debt fell.", metadata={"rank": 1, "section_path": "Debt"})]
        >>> "<td>Debt</td>" in ResultsTable(found)._repr_html_()
        True
    """

    documents: Sequence[Document]

    def frame(self) -> pd.DataFrame:
        """Return one row a result.

        Raises:
            MissingDependencyError: if pandas is not installed.
        """
        return make_frame([self._cells(one) for one in self.documents], _COLUMNS)

    @staticmethod
    def _cells(document: Document) -> tuple[object, ...]:
        return (*(document.metadata.get(key) for key in _COLUMNS[:-1]), document.page_content)

    def _repr_html_(self) -> str:
        rows = []
        for number, document in enumerate(self.documents, 1):
            metadata = document.metadata
            score = metadata.get(SCORE)
            place = metadata.get(CONTEXT_HEADER) or metadata.get(SECTION_PATH) or metadata.get("source")
            words = " ".join(document.page_content.split())
            excerpt = words if len(words) <= _EXCERPT else words[: _EXCERPT - 1] + "…"
            shown = f"{score:.3f}" if isinstance(score, float) else score
            rows.append(
                (metadata.get(RANK, number), shown, place, metadata.get(PAGE), metadata.get(SPANS), excerpt,
                 metadata.get(REASON))
            )  # fmt: skip
        columns = ("rank", "score", "place", "page", "characters", "text", "reason")
        return html_table(f"{len(self.documents)} results", columns, rows)
