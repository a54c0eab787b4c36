"""Primary statements as sections of a filing's outline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from fin_rag.schema import ITEM, PART, Outline, Section, Span
from fin_rag.structure.filings.assemble import OWN_KEYS
from fin_rag.structure.lines import note_mark, plain, split_lines
from fin_rag.structure.statements import Statement
from fin_rag.structure.statements.vocabulary import squeeze, words

_LEAST: Final = 100  # code points; less of a statement than this is not worth a section
_LONGEST_TITLE: Final = 120
_FOOT: Final = 1_500  # code points behind the last row in which its notes and remarks are looked for
_FIXED: Final = frozenset({"cover", "signatures", "exhibits", "cross_reference_index"})


@dataclass(frozen=True, slots=True)
class FilingOutline(Outline):
    """Hold the sections of a filing together with its financial statements."""

    statements: tuple[Statement, ...] = ()


def add_statements(text: str, outline: Outline, statements: Sequence[Statement]) -> FilingOutline:
    r"""Give each of a document's own statements, and each of its parent alone, a section of its own.

    The section holds the statement from its title to its last row, with the notes and remarks right below it. What
    was taken for a sub-heading inside it (a bold row, the title itself) is none; Items and Parts stay as they
    are, and a statement ends where one of them begins.

    Args:
        text: the canonical text.
        outline: the outline of Items and sub-headings.
        statements: what :func:`~fin_rag.structure.statements.find_statements` found.

    Example:
        >>> from fin_rag.structure.filings import outline_filing
        >>> from fin_rag.structure.statements import find_statements
        >>> text = (
        ...     "Item 8. Financial Statements\n\nBalance Sheets\n| | 2031 | 2030 |\n|---|---|---|\n| Cash | $2 | $1 |\n"
        ...     "| Total assets | $5 | $4 |\n| Total liabilities | 2 | 2 |\n| Shareholders' equity | 3 | 2 |\n"
        ... )
        >>> outline = outline_filing(text, metadata={"doc_type": "10-K"})
        >>> added = add_statements(text, outline, find_statements(text))
        >>> added.sections[-1].section_id, added.sections[-1].path[-1]
        ('part2.item8.balance_sheet', 'Balance Sheets')
    """
    own = [s for s in statements if s.primary or s.basis == "parent_only"]
    sections = list(outline.sections)
    made: list[Section] = []
    for statement in own:
        span = _bounds(text, statement, sections)
        if len(span) >= _LEAST and (not made or made[-1].span.end <= span.start):
            sections = _without_inner(sections, span)
            made.append(_section(text, statement, span, _outer(sections, span)))
    every = (
        sorted([*sections, *_unique(made)], key=lambda s: (s.span.start, -s.span.end, s.level)) if made else sections
    )
    return FilingOutline(tuple(every), outline.warnings, outline.furniture, tuple(statements))


def _bounds(text: str, statement: Statement, sections: Sequence[Section]) -> Span:
    """Return the span of a statement with its notes and remarks, up to the next Item or Part."""
    start, end = statement.span.start, statement.span.end
    for line in split_lines(text, Span(end, min(len(text), end + _FOOT))):
        if not line.text or line.start <= end:
            continue
        if not note_mark(line.text) and not words().remark.search(squeeze(line.text)):
            break
        end = line.end
    stops = [s.span.start for s in sections if _is_fixed(s) and start < s.span.start < end]
    stops += [s.span.end for s in sections if _is_fixed(s) and start < s.span.end < end]
    return Span(start, min([end, *stops]))


def _is_fixed(section: Section) -> bool:
    """Tell whether a section is an Item, a Part or an annex, whose borders are not moved."""
    named = section.path[-1] in (section.metadata.get(ITEM), section.metadata.get(PART))
    return named or section.section_id in _FIXED or section.section_id.endswith(".annex")


def _without_inner(sections: Sequence[Section], span: Span) -> list[Section]:
    """Drop sub-headings that begin inside a statement, and end before it those that reach into it."""
    dropped = [s for s in sections if span.start <= s.span.start < span.end and not _is_fixed(s)]
    kept: list[Section] = []
    for section in sections:
        if section in dropped:
            continue
        if not _is_fixed(section) and section.span.start < span.start < section.span.end < span.end:
            section = replace(section, span=Span(section.span.start, span.start))
        for outer in dropped:
            if outer.span.contains(section.span):
                section = _raised(section, len(outer.path) - 1)
        kept.append(section)
    return kept


def _raised(section: Section, at: int) -> Section:
    """Take a title that is none out of a section's path."""
    path = (*section.path[:at], *section.path[at + 1 :])
    return replace(section, path=path, level=max(1, section.level - 1)) if path else section


def _outer(sections: Sequence[Section], span: Span) -> Section | None:
    around = [s for s in sections if s.span.contains(span)]
    return max(around, key=lambda s: (s.level, s.span.start), default=None)


def _section(text: str, statement: Statement, span: Span, outer: Section | None) -> Section:
    first = text[span.start :].split("\n", 1)[0]
    title = statement.title[:_LONGEST_TITLE].strip()
    heading = Span(span.start, span.start + len(first.rstrip())) if plain(first.lstrip("# ")) in title else None
    kind = statement.statement_type if statement.basis != "parent_only" else f"parent_{statement.statement_type}"
    inherited = {k: v for k, v in outer.metadata.items() if k not in OWN_KEYS} if outer else {}
    return Section(
        f"{outer.section_id}.{kind}" if outer else kind,
        title,
        (*(outer.path if outer else ()), title),
        span,
        outer.level + 1 if outer else 1,
        heading,
        {**inherited, **statement.metadata()},
    )


def _unique(sections: Sequence[Section]) -> list[Section]:
    seen: Counter[str] = Counter()
    result = []
    for section in sections:
        seen[section.section_id] += 1
        count = seen[section.section_id]
        result.append(replace(section, section_id=f"{section.section_id}-{count}") if count > 1 else section)
    return result
