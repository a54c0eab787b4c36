"""Read inline XBRL as it passes by: contexts, units, and facts with the place where they are printed."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Final

from fin_rag.loaders.html_model import Line
from fin_rag.loaders.ixbrl_values import read_number, read_text
from fin_rag.schema import InlineFact, MetadataValue, Span

_MAX_OPEN: Final = 64
_MAX_SCALE: Final = 60
_CONTEXT_TEXTS: Final = frozenset({"startdate", "enddate", "instant"})
_FACTS: Final = frozenset({"ix:nonfraction", "ix:nonnumeric"})
_MARKS: Final = frozenset({"ix:nonfraction", "ix:nonnumeric", "ix:continuation", "ix:exclude", "ix:fraction"})


class Mark:
    """Note where a fact, a continuation or an exclusion begins and ends."""

    __slots__ = ("attrib", "begin", "begin_at", "end", "end_at", "hidden", "tag", "texts")

    def __init__(self, tag: str, attrib: Mapping[str, str], *, hidden: bool) -> None:
        self.tag = tag
        self.attrib = attrib
        self.hidden = hidden
        self.begin: Line | None = None
        self.begin_at = 0
        self.end: Line | None = None
        self.end_at = 0
        self.texts: list[str] = []


class Context:
    """Hold period and dimensions of one context."""

    __slots__ = ("dimensions", "end", "start")

    def __init__(self) -> None:
        self.start = ""
        self.end = ""
        self.dimensions: list[tuple[str, str]] = []


class XbrlReader:
    """Gather contexts, units and marks from the events of one document.

    ``waiting`` holds the marks that begin with the next text.
    """

    def __init__(self) -> None:
        self.contexts: dict[str, Context] = {}
        self.units: dict[str, str] = {}
        self.marks: list[Mark] = []
        self.waiting: list[Mark] = []
        self.skipped = 0
        self._open = 0
        self._hidden: list[Mark | None] = []
        self._hidden_open: list[Mark] = []
        self._seen_text = False
        self._header = False
        self._context: Context | None = None
        self._unit = ""
        self._measures: list[list[str]] = [[], []]
        self._below = 0
        self._collect: list[str] | None = None
        self._axis = ""

    # --- visible facts ------------------------------------------------------------------------
    def open(self, tag: str, attrib: Mapping[str, str]) -> Mark | None:
        """Start a visible fact, continuation or exclusion; ``None`` where facts nest absurdly deep."""
        self._open += 1
        if self._open > _MAX_OPEN:
            self.skipped += 1
            return None
        mark = Mark(tag, dict(attrib), hidden=False)
        self.marks.append(mark)
        self.waiting.append(mark)
        return mark

    def begin(self, line: Line, at: int) -> None:
        """Let all waiting marks begin at ``at`` in ``line``."""
        for mark in self.waiting:
            mark.begin, mark.begin_at = line, at
        self.waiting.clear()

    def shut(self, mark: Mark | None, last: Line | None) -> None:
        """End a visible mark behind the last text read."""
        self._open -= 1
        if mark is None:
            return
        if mark.begin is None:
            self.waiting = [other for other in self.waiting if other is not mark]
        elif last is not None:
            mark.end, mark.end_at = last, last.width

    # --- what is not shown --------------------------------------------------------------------
    def start_hidden(self, tag: str, attrib: Mapping[str, str]) -> None:
        """Take the start of an element inside something that is not shown."""
        mark = None
        if tag in _MARKS and len(self._hidden_open) < _MAX_OPEN:
            mark = Mark(tag, dict(attrib), hidden=True)
            self.marks.append(mark)
            self._hidden_open.append(mark)
        else:
            self._start_resource(tag.rpartition(":")[2], attrib)
        self._hidden.append(mark)

    def end_hidden(self, tag: str) -> None:
        """Take the end of an element inside something that is not shown."""
        mark = self._hidden.pop() if self._hidden else None
        if mark is not None:
            self._hidden_open.pop()
        else:
            self._end_resource(tag.rpartition(":")[2])

    def data_hidden(self, text: str) -> None:
        """Take text that is not shown."""
        if self._collect is not None:
            self._collect.append(text)
        elif text.strip("\u200b\u00a0 \n\r\t"):
            self._seen_text = True
        for mark in self._hidden_open:
            mark.texts.append(text)

    def take_hidden_text(self) -> bool:
        """Tell whether anything was hidden since the last call, and start anew."""
        seen, self._seen_text = self._seen_text, False
        return seen

    def _start_resource(self, name: str, attrib: Mapping[str, str]) -> None:
        if name == "context":
            self._context = self.contexts[attrib.get("id", "")] = Context()
        elif name == "unit":
            self._unit, self._measures, self._below = attrib.get("id", ""), [[], []], 0
        elif name in _CONTEXT_TEXTS or name == "measure":
            self._collect = []
        elif name in ("explicitmember", "typedmember"):
            self._axis, self._collect = attrib.get("dimension", ""), []
        elif name == "unitdenominator":
            self._below = 1

    def _end_resource(self, name: str) -> None:
        if self._collect is not None:
            self._end_text(name)
        if name == "context":
            self._context = None
        elif name == "unit":
            above, below = ("*".join(names) for names in self._measures)
            self.units[self._unit] = f"{above}/{below}" if below else above
        elif name == "unitdenominator":
            self._below = 0

    def _end_text(self, name: str) -> None:
        text = " ".join("".join(self._collect or ()).split())
        if name == "measure":
            self._measures[self._below].append(_unit_name(text))
        elif self._context is None:
            pass
        elif name == "startdate":
            self._context.start = text[:10]
        elif name in ("enddate", "instant"):
            self._context.end = text[:10]
        elif name in ("explicitmember", "typedmember"):
            self._context.dimensions.append((self._axis, text))
        else:
            return
        self._collect = None


class FactBuilder:
    """Make facts of the marks once the canonical text stands."""

    def __init__(self, reader: XbrlReader, text: str) -> None:
        self._reader = reader
        self._text = text
        self._spans: dict[int, Span | None] = {}
        self.dropped: Counter[str] = Counter()
        self._excluded = sorted(
            (span.start, span.end)
            for mark in reader.marks
            if mark.tag == "ix:exclude" and (span := self._span(mark)) is not None
        )
        self._parts = {
            mark.attrib["id"]: mark for mark in reader.marks if mark.tag == "ix:continuation" and "id" in mark.attrib
        }

    def facts(self) -> list[InlineFact]:
        """Return the facts in document order; what cannot be read is counted in ``dropped``."""
        found = []
        for mark in self._reader.marks:
            if mark.tag in _FACTS:
                fact = self._fact(mark)
                if fact is not None:
                    found.append(fact)
        return found

    def _fact(self, mark: Mark) -> InlineFact | None:
        attrib = mark.attrib
        context = self._reader.contexts.get(attrib.get("contextref", ""))
        if context is None:
            self.dropped["context"] += 1
            return None
        span = self._span(mark)
        nil = _is_nil(attrib)
        scale = 0
        value: Decimal | str | None = None
        if mark.tag == "ix:nonnumeric":
            raw, span = self._joined(mark, span)
            value = None if nil else read_text(raw, attrib.get("format", ""))
        elif not nil:
            scale = _scale(attrib.get("scale", ""))
            value = self._number(mark, span, scale)
            if value is None:
                self.dropped["value"] += 1
                return None
        return InlineFact(
            concept=attrib.get("name", ""), value=value, start=context.start, end=context.end,
            unit=self._unit(attrib), decimals=attrib.get("decimals", ""), scale=scale, span=span,
            dimensions=tuple(sorted(context.dimensions)), format=attrib.get("format", ""),
            fact_id=attrib.get("id", ""),
        )  # fmt: skip

    def _unit(self, attrib: Mapping[str, str]) -> str:
        name = attrib.get("unitref", "")
        return self._reader.units.get(name, name)

    def _number(self, mark: Mark, span: Span | None, scale: int) -> Decimal | None:
        raw = span.slice(self._text) if span else _unwritten(mark)
        number = read_number(raw, mark.attrib.get("format", ""))
        if number is None:
            return None
        number = number.scaleb(scale) if scale else number
        return -number if mark.attrib.get("sign", "") == "-" and number else number

    def _span(self, mark: Mark) -> Span | None:
        key = id(mark)
        if key not in self._spans:
            self._spans[key] = self._find_span(mark)
        return self._spans[key]

    def _find_span(self, mark: Mark) -> Span | None:
        if mark.begin is None or mark.end is None:
            return None
        start = mark.begin.position(mark.begin_at)
        end = mark.end.position(mark.end_at)
        if end <= start:
            return None
        text = self._text
        while end > start and text[end - 1].isspace():
            end -= 1
        while start < end and text[start].isspace():
            start += 1
        return Span(start, end) if end > start else None

    def _joined(self, mark: Mark, span: Span | None) -> tuple[str, Span | None]:
        """Return the text of a fact with its continuations, and the span as far as it is unbroken."""
        texts = [self._raw(mark, span)]
        seen = {id(mark)}
        following = self._parts.get(mark.attrib.get("continuedat", ""))
        unbroken = span is not None
        while following is not None and id(following) not in seen:
            seen.add(id(following))
            part = self._span(following)
            texts.append(self._raw(following, part))
            if span is not None and part is not None and unbroken:
                unbroken = span.end <= part.start and not self._text[span.end : part.start].strip("*#| \n-")
                span = Span(span.start, part.end) if unbroken else span
            following = self._parts.get(following.attrib.get("continuedat", ""))
        return "\n\n".join(text for text in texts if text), span

    def _raw(self, mark: Mark, span: Span | None) -> str:
        if span is None:
            return " ".join(_unwritten(mark).split())
        pieces, at = [], span.start
        for start, end in self._excluded[bisect_left(self._excluded, (span.start, 0)) :]:
            if start >= span.end:
                break
            if at <= start and end <= span.end:
                pieces.append(self._text[at:start])
                at = end
        pieces.append(self._text[at : span.end])
        return "".join(pieces)


def fact_hints(facts: list[InlineFact]) -> dict[str, MetadataValue]:
    """Return the document's metadata that its ``dei`` facts state."""
    plain: dict[str, str] = {}
    for dimensioned in (False, True):
        for fact in facts:
            prefix, _, name = fact.concept.partition(":")
            if prefix == "dei" and bool(fact.dimensions) is dimensioned and isinstance(fact.value, str) and fact.value:
                plain.setdefault(name, fact.value)
    hints: dict[str, MetadataValue] = {}
    take: tuple[tuple[str, str, Callable[[str], MetadataValue | None]], ...] = (
        ("issuer", "EntityRegistrantName", _text_hint),
        ("ticker", "TradingSymbol", _ticker_hint),
        ("cik", "EntityCentralIndexKey", lambda value: value.zfill(10) if value.isdecimal() else None),
        ("doc_type", "DocumentType", _text_hint),
        ("fiscal_year", "DocumentFiscalYearFocus", lambda value: int(value) if _is_year(value) else None),
        ("fiscal_period", "DocumentFiscalPeriodFocus", _text_hint),
        ("period_end", "DocumentPeriodEndDate", _date_hint),
    )
    for key, concept, convert in take:
        found = convert(plain[concept]) if concept in plain else None
        if found is not None:
            hints[key] = found
    return hints


def _is_year(value: str) -> bool:
    return len(value) == 4 and value.isdecimal()


def _text_hint(value: str) -> str | None:
    text = " ".join(value.split())
    return text if 0 < len(text) <= 200 else None


def _ticker_hint(value: str) -> str | None:
    text = value.strip().upper()
    return text if 0 < len(text) <= 12 and text not in ("NONE", "N/A") else None


def _date_hint(value: str) -> int | None:
    digits = value.replace("-", "")
    return int(digits) if len(digits) == 8 and digits.isdecimal() else None


def _unwritten(mark: Mark) -> str:
    """Return the text of a fact that is not in the canonical text: hidden, or in a running head."""
    if mark.hidden:
        return "".join(mark.texts)
    if mark.begin is None or mark.begin is not mark.end:
        return ""
    return mark.begin.text[mark.begin_at : mark.end_at]


def _is_nil(attrib: Mapping[str, str]) -> bool:
    """Tell whether a fact is nil; the prefix of the attribute is the filer's choice."""
    for name in attrib:
        if name.endswith("nil") and name.rpartition(":")[2] == "nil":
            return attrib[name] in ("true", "1")
    return False


def _scale(value: str) -> int:
    text = value.strip()
    digits = text.lstrip("+-")
    if not digits.isdecimal() or len(digits) > 3:
        return 0
    return max(-_MAX_SCALE, min(_MAX_SCALE, int(text)))


def _unit_name(measure: str) -> str:
    prefix, colon, name = measure.rpartition(":")
    return name if not colon or prefix in ("iso4217", "xbrli") else measure
