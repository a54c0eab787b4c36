"""Find the financial statements of a document."""

from __future__ import annotations

from collections.abc import Sequence

from fin_rag.schema import Markup, Outline, PageMap, Span
from fin_rag.structure.lines import Line, split_lines
from fin_rag.structure.statements.body import Draft, Reader
from fin_rag.structure.statements.build import build, read_draft, share_units
from fin_rag.structure.statements.calendar import read_calendar
from fin_rag.structure.statements.facts import Facts
from fin_rag.structure.statements.judge import mark_scope, primary_set
from fin_rag.structure.statements.merge import join
from fin_rag.structure.statements.model import Statement
from fin_rag.structure.statements.titles import find_titles
from fin_rag.structure.statements.vocabulary import squeeze, words


def find_statements(
    text: str,
    *,
    outline: Outline | None = None,
    page_map: PageMap | None = None,
    markup: Markup | None = None,
) -> tuple[Statement, ...]:
    r"""Find the financial statements of a canonical text, in document order, with their rows.

    A statement is a title, column heads and rows that hold what such a statement holds; rows of contents
    pages, headings of notes and tables of selected data are none. The document's own set is marked
    ``primary``; a parent company's, a venture's or a schedule's is not.

    Args:
        text: the canonical text.
        outline: the document's sections, if known; tables of selected data are left out by their section.
        page_map: where pages break, if known; statements go on over a page break only with rows right behind it.
        markup: what the loader saw; periods of columns whose heads name none are read from its inline facts.

    Example:
        >>> text = (
        ...     "CONSOLIDATED BALANCE SHEETS\n(in thousands)\n| | December 31, 2024 | December 31, 2023 |\n"
        ...     "|---|---|---|\n| Cash | $1,200 | $900 |\n| Inventories | 300 | — |\n| Total assets | $1,500 | $900 |\n"
        ...     "| Total liabilities | 400 | 300 |\n| Shareholders' equity | 1,100 | 600 |\n"
        ... )
        >>> [statement] = find_statements(text)
        >>> statement.statement_type, statement.period_ends, statement.scale, statement.currency
        ('balance_sheet', (20241231, 20231231), 1000, 'USD')
        >>> statement.rows[1].label, statement.rows[1].values
        ('Inventories', (Decimal('300000'), None))
    """
    lines = split_lines(text)
    titles = find_titles(lines)
    reader = Reader(lines, {title.first: title for title in titles}, page_map)
    drafts = [draft for draft in (reader.draft(title) for title in titles) if draft is not None]
    drafts = _outside(drafts, lines, _selected_data(outline))
    kept = join(drafts, lines)
    mark_scope(kept, lines)
    primary = primary_set(kept, lines)
    raws = [read_draft(draft, lines) for draft in kept]
    raws = share_units(raws, primary)
    calendar = read_calendar((column.when for raw in raws for column in raw.columns), lines)
    facts = Facts(markup.facts if markup else ())
    return tuple(
        build(raw, lines, page_map, calendar, facts, primary=index in primary) for index, raw in enumerate(raws)
    )


def _selected_data(outline: Outline | None) -> list[Span]:
    """Return the sections that repeat figures of statements under the statements' names."""
    spans = []
    for section in outline or ():
        letters = squeeze(section.title)
        if words().selected.search(letters) and not words().own_place.search(letters):
            spans.append(section.span)
    return spans


def _outside(drafts: Sequence[Draft], lines: Sequence[Line], left_out: Sequence[Span]) -> list[Draft]:
    return [
        draft for draft in drafts if not any(span.start <= lines[draft.first].start < span.end for span in left_out)
    ]
