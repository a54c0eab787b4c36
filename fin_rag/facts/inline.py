"""Facts of ingested filings: inline XBRL with the span where each figure is printed."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from langchain_core.documents import Document

from fin_rag.errors import InputError
from fin_rag.facts.frames import dimensions_text, precision
from fin_rag.facts.loading import Loader, LoadReport, Row, cik_of, stored_value
from fin_rag.schema import (
    CIK,
    DOC_ID,
    DOC_TYPE,
    FILED,
    FISCAL_PERIOD,
    FISCAL_YEAR,
    ISSUER,
    PERIOD_END,
    TICKER,
    InlineFact,
    SourceDocument,
)

_FULL_YEAR: Final = "FY"


def load_inline(loader: Loader, document: Document, *, doc_id: str = "") -> LoadReport:
    """Write the numeric facts of one document; text facts and nil ones are no figures and are counted.

    A document without ``filed`` is known only where no point in time is asked for.

    Raises:
        InputError: if the document names no issuer, or has no identity.
    """
    metadata = document.metadata
    facts = document.markup.facts if isinstance(document, SourceDocument) else ()
    name = doc_id or str(metadata.get(DOC_ID) or metadata.get("source") or "")
    if not name:
        raise InputError("A document needs a 'doc_id' for its facts to be cited. Give one.")
    cik, ticker = cik_of(str(metadata.get(CIK) or "")), str(metadata.get(TICKER) or "")
    issuer_name = str(metadata.get(ISSUER) or "")
    report = LoadReport()
    if not facts:
        return report
    if not (cik or ticker or issuer_name):
        raise InputError(f"The document {name!r} names no issuer. Load it with ticker=, cik= or issuer=.")
    issuer = loader.issuer(cik=cik, ticker=ticker, name=issuer_name)
    report.issuers = 1
    filed = _filed(loader, document)
    filing = loader.filing(issuer, name, str(metadata.get(DOC_TYPE) or ""), filed, doc_id=name)
    if metadata.get(FISCAL_PERIOD) == _FULL_YEAR and isinstance(metadata.get(FISCAL_YEAR), int):
        filing.fiscal_year = metadata[FISCAL_YEAR]
    rows: list[Row] = []
    for fact in facts:
        if not isinstance(fact.value, Decimal):
            report.skipped["text or nil facts"] += 1
            continue
        try:
            first, last = loader.day(fact.start), loader.day(fact.end)
        except ValueError:
            report.skip("fact with an unreadable period", f"{name}, {fact.concept}")
            continue
        if fact.start:
            loader.see_year(filing, fact.start, fact.end)
        rows.append(_row(loader, fact, issuer, filing.number, filed, first, last))
    report.facts = loader.write(rows)
    report.repeated = len(rows) - report.facts
    loader.finish()
    return report


def _row(loader: Loader, fact: InlineFact, issuer: int, filing: int, filed: int, first: int, last: int) -> Row:
    dimensions = loader.names.number("dimensions", dimensions_text(dict(fact.dimensions))) if fact.dimensions else 0
    value = fact.value if isinstance(fact.value, Decimal) else Decimal(0)
    start, end = (fact.span.start, fact.span.end) if fact.span else (None, None)
    return (
        issuer, loader.names.concept(fact.concept), last, first, dimensions, loader.names.number("units", fact.unit),
        filed, precision(fact.decimals), filing, stored_value(value), start, end,
    )  # fmt: skip


def _filed(loader: Loader, document: Document) -> int:
    filed = document.metadata.get(FILED)
    if filed:
        return loader.filed(str(filed))
    period_end = str(document.metadata.get(PERIOD_END) or "")
    return loader.unknown_filed(period_end)
