"""What follows the last Item: signatures, exhibit indexes, and the texts that Items point to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fin_rag.schema import ITEM, Markup, MetadataValue, Section, Span
from fin_rag.structure.filings.contents import title_keys
from fin_rag.structure.filings.ends import Landmark
from fin_rag.structure.filings.forms import Form
from fin_rag.structure.filings.grammar import looks_capital
from fin_rag.structure.filings.lines import Lines
from fin_rag.structure.filings.states import ELSEWHERE
from fin_rag.structure.filings.subheads import Parent, sub_sections

_TITLES: Mapping[str, str] = {
    "signatures": "Signatures", "exhibits": "Exhibit Index", "statements": "Financial Statements",
}  # fmt: skip
_STATEMENT_ITEMS = ("8", "7", "I-1", "18", "17")
_LONGEST_TITLE, _FEWEST, _FEWEST_LINES = 200, 400, 3
_EXHIBIT = re.compile(
    r"\W{0,8}(?:exhibit|ex)[\s–—-]{0,3}\d{1,3}(?:\.\d{1,3})?(?:\([a-z0-9]\)|[a-z])?\W{0,8}", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Annex:
    line: int
    kind: str
    item: Section | None = None


def annex_sections(
    lines: Lines,
    items: Mapping[str, Section],
    marks: Sequence[Landmark],
    markup: Markup,
    form: Form,
    furniture: Sequence[Span],
) -> list[Section]:
    """Return the sections behind the last Item.

    A text there that carries the title of an Item which only points elsewhere ("see page F-1") is a section
    of its own whose path and metadata name that Item.
    """
    after = max(s.span.end for s in items.values())
    found = _annexes(lines, items, [m for m in marks if lines.starts[m.line] >= after], after, form)
    sections: list[Section] = []
    for i, annex in enumerate(found):
        last = (found[i + 1].line if i + 1 < len(found) else len(lines)) - 1
        heading = Span(lines.starts[annex.line], lines.ends[annex.line])
        span = Span(heading.start, max(heading.end, lines.ends[last]))
        title = lines.bare(annex.line)
        name = _TITLES.get(annex.kind, title)
        metadata: dict[str, MetadataValue] = {}
        path: tuple[str, ...] = (form.family, name)
        section_id = annex.kind if annex.kind != "exhibit" else "".join(title.lower().split())
        if annex.item is not None:
            metadata = {
                k: v
                for k, v in annex.item.metadata.items()
                if k not in ("state", "confidence", "pages", "index_position", "refers_to")
            }
            path = (*annex.item.path, name)
            section_id = f"{annex.item.section_id}.annex"
        level = len(path) - 1
        sections.append(Section(section_id, title, path, span, level, heading, metadata))
        if annex.kind not in ("signatures", "exhibits"):
            body = Span(heading.end, span.end)
            parent = Parent(section_id, path, level, metadata)
            sections += sub_sections(lines, body, parent, markup, furniture, notes=True)
    return sections


def _annexes(
    lines: Lines, items: Mapping[str, Section], marks: Sequence[Landmark], after: int, form: Form
) -> list[_Annex]:
    """Return what opens a section behind the last Item, in order."""
    elsewhere = {k: s for k, s in items.items() if s.metadata.get("state") in ELSEWHERE}
    statements = next((elsewhere[k] for k in _STATEMENT_ITEMS if k in elsewhere), None)
    found = [_Annex(m.line, m.kind, statements if m.kind == "statements" else None) for m in marks]
    found += _exhibits(lines, marks)
    taken = {a.line for a in found}
    open_keys = set(elsewhere)
    for index in range(lines.at(after), len(lines)):
        if not open_keys:
            break
        if (
            index in taken
            or lines.length(index) > _LONGEST_TITLE
            or not (lines.styled(index) or looks_capital(lines.bare(index)))
        ):
            continue
        for key in title_keys(lines.bare(index), form):
            if key in open_keys and lines.prose_between(index + 1, index + 60) >= _FEWEST:
                found.append(_Annex(index, "annex", elsewhere[key]))
                open_keys.discard(key)
    return sorted(found, key=lambda a: a.line)


def _exhibits(lines: Lines, marks: Sequence[Landmark]) -> list[_Annex]:
    """Return the exhibits bound behind the signatures: a number on a line of its own, with text below it."""
    signed = next((mark.line for mark in marks if mark.kind == "signatures"), len(lines))
    other = {mark.line for mark in marks}
    named = [i for i in range(signed + 1, len(lines)) if lines.length(i) <= 40 and _EXHIBIT.fullmatch(lines.raw(i))]
    ends = [*named[1:], len(lines)][: len(named)]
    return [
        _Annex(line, "exhibit")
        for line, end in zip(named, ends, strict=True)
        if end - line > _FEWEST_LINES and line not in other
    ]


def link_annexes(sections: Sequence[Section], annexes: Sequence[Section]) -> list[Section]:
    """Name, in each Item that points elsewhere, the section that holds its text."""
    targets = {a.section_id.removesuffix(".annex"): a.section_id for a in annexes if a.section_id.endswith(".annex")}
    result = []
    for section in sections:
        target = targets.get(section.section_id)
        if target and ITEM in section.metadata:
            metadata = dict(section.metadata) | {"text_in": target}
            section = replace(section, metadata=metadata)
        result.append(section)
    return result
