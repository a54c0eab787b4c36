"""Sentences with their figures and periods: which period, and which words, belong to which figure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from fin_rag.answers.vocabulary import phrase_pattern, word_set, words
from fin_rag.answers.when import When, read_periods
from fin_rag.text.numbers import Number

_END: Final = re.compile(
    r"(?<=[.!?])[\"”')\]]*\s+(?=[\"“(\[]?[A-ZÁÉÍÓÚÑ0-9¿¡*-])|\n\s*\n|\n(?=\s*(?:[-*•|#]|\d{1,2}[.)]\s))"
)
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:Inc|Corp|Co|Ltd|No|Nos|vs|approx|aprox|U\.S|S\.A|S\.L|N\.V|Mr|Ms|Dr|Sr|Sra|art|núm|pág|mill|Jan|Feb|"
    r"Mar|Apr|Aug|Sept?|Oct|Nov|Dec)"
    r"|\b[A-Z])\.\s*$"
)
_TIGHT: Final = re.compile(
    r"^[\s,]*(?:\(|(?:in|for|during|at|as of|as at|on|through|en|de|del|durante|a|al|para|por|of|over|reported for|"
    r"recorded in|reported in|year|the|el|un|una|le|correspondiente a|correspondientes a|at the end of|at the close of|"
    r"a cierre de|al cierre de|a|as|registrad[oa]s? en|ended|el ejercicio|the year ended|in the|for the|of the|"
    r"versus|vs\.?|un)\s*)*[\s(]*$",
    re.IGNORECASE,
)
_JOINS: Final = re.compile(
    r"^[\s,]*(?:and|y|e|to|a|hasta|[–—-]|&|respectively|then|,)?[\s,]*(?:and|y|e)?\s*(?:of|de)?\s*$", re.IGNORECASE
)
_WHEN_JOINS: Final = re.compile(
    r"^[\s,]*(?:and|y|e|to|a|hasta|through|vs\.?|versus|[–—-]|&|,)?[\s,]*(?:and|y|e|in|en|fiscal|for)?\s*$",
    re.IGNORECASE,
)
_HEADS_NEXT: Final = re.compile(r"\s*[:=]\s*[$€£(-]*\s*")
_ASIDE: Final = re.compile(r"\([^()]{8,200}\)")
_SAME: Final = re.compile(
    r"[\s,(]*(?:or|o|u|i\.e\.|that is|es decir|equivalent to|equivalente a)?[\s,(]*(?:by|an?|un)?\s*", re.IGNORECASE
)
_BREAK: Final = re.compile(
    r"[;:()]|,\s|\s[–—-]\s|\b(?:while|whereas|but|mientras|pero|aunque|although)\b", re.IGNORECASE
)
_MOVES: Final = re.compile(
    r"\b(?:pas(?:ó|aron|ando|a|an)|fue(?:ron)?|evolucion\w+|vari(?:ó|aron)|cambi\w+|aument\w+|sub\w+|crec\w+|"
    r"increment\w+|mejor\w+|cay\w+|baj\w+|"
    r"dismin\w+|descen\w+|redu\w+|retroc\w+|empeor\w+|repunt\w+|avanz\w+|recort\w+|elev\w+|contra\w+|ampli\w+|"
    r"osciló|va)\b",
    re.IGNORECASE,
)
_TO: Final = re.compile(r"\b(?:to|a|hasta)\s*(?:los|las|unos)?\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mention:
    """Hold a figure of a sentence with what belongs to it.

    ``before`` reaches back to the figure (or the start) before it, ``after`` on to the next one. ``whens`` are its
    periods; ``earlier`` says that it is what another figure is compared with. ``run`` holds the words in front of the
    figure before, where this one only says the same otherwise ("rose $3 million, or 5 %").
    """

    number: Number
    sentence: int
    before: str
    after: str
    whens: tuple[When, ...] = ()
    earlier: bool = False
    lead: str = ""
    run: str = ""


@dataclass(frozen=True, slots=True)
class Sentence:
    """Hold one sentence; offsets are those of the whole text."""

    index: int
    start: int
    end: int
    text: str
    whens: tuple[When, ...]
    mentions: tuple[Mention, ...]


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield the bounds of sentences; a list item or a table row is one of its own.

    Example:
        >>> text = "Acme Inc. sold 5. It lost 3."
        >>> [text[a:b] for a, b in sentence_spans(text)]
        ['Acme Inc. sold 5.', 'It lost 3.']
    """
    stop = len(text) if end is None else end
    at = start
    for match in _END.finditer(text, start, stop):
        if "\n" not in match[0] and _ABBREVIATION.search(text, max(at, match.start() - 12), match.start()):
            continue
        if text[at : match.start()].strip():
            yield at, match.start()
        at = match.end()
    if text[at:stop].strip():
        yield at, stop


def read_sentences(text: str, numbers: Sequence[Number], bounds: Sequence[tuple[int, int]]) -> list[Sentence]:
    """Return the sentences within the bounds, with the figures that stand in them.

    ``numbers`` are all figures of the text, in order, with spans that index it.
    """
    found: list[Sentence] = []
    at = 0
    for index, (start, end) in enumerate(bounds):
        while at < len(numbers) and numbers[at].span.start < start:
            at += 1
        first = at
        while at < len(numbers) and numbers[at].span.start < end:
            at += 1
        inside = numbers[first:at]
        found.append(_sentence(index, text, start, end, inside))
    return found


def _sentence(index: int, text: str, start: int, end: int, numbers: Sequence[Number]) -> Sentence:
    body = text[start:end]
    figures = [one for one in numbers if is_figure(one, text)]
    taken = [(one.span.start - start, one.span.end - start) for one in figures]
    whens = tuple(
        one
        for one in read_periods(body)
        if not any(a < one.end and one.start < b for a, b in taken) and not _is_maturity(body, one)
    )
    mentions = _mentions(index, body, start, figures)
    return Sentence(index, start, end, body, whens, tuple(_bind(body, start, mentions, whens)))


def _is_maturity(body: str, one: When) -> bool:
    """Tell whether a date is when something falls due: it says nothing of which period a figure is."""
    return bool(_due_words().search(body[max(0, one.start - 24) : one.start]))


@cache
def _due_words() -> re.Pattern[str]:
    return re.compile(
        phrase_pattern(words()["due"]).pattern + r"[\s,(]*(?:in|on|en|el|the|at|de|of)?\s*$", re.IGNORECASE
    )


def is_figure(number: Number, text: str) -> bool:
    """Tell whether a printed number is a figure that has to be proved, not a year, a date, a name or a marker."""
    if number.kind not in ("amount", "nil"):
        return False
    if number.kind == "nil" or number.currency or number.unit or number.scale != 1 or number.decimals:
        return number.kind == "amount"
    follows = text[number.span.end : number.span.end + 24].lstrip(" -\u00a0").lower()
    word = re.match(r"[^\W\d_]+", follows)
    value = abs(int(number.value)) if number.value == number.value.to_integral_value() else -1
    if word and word[0] in ("month", "months", "mes", "meses", "week", "weeks", "semana", "semanas"):
        return value not in (1, 3, 6, 9, 12, 13, 26, 39, 52, 53)
    if word and word[0] in ("q", "h", "k") and len(word[0]) == 1:
        return False
    return not (word and word[0] in ("year", "year-end", "año") and value == 1)


def _mentions(index: int, body: str, start: int, figures: Sequence[Number]) -> list[Mention]:
    spans = [(one.span.start - start, one.span.end - start) for one in figures]
    found: list[Mention] = []
    for place, number in enumerate(figures):
        left = spans[place - 1][1] if place else 0
        right = spans[place + 1][0] if place + 1 < len(spans) else len(body)
        found.append(
            Mention(
                number, index, body[left : spans[place][0]], body[spans[place][1] : right],
                lead=body[: spans[0][0]] if spans else "",
                run=_run(found, body[left : spans[place][0]]),
            )
        )  # fmt: skip
    return found


def _run(found: Sequence[Mention], before: str) -> str:
    """Return the words in front of the figure before, where a figure only says the same otherwise."""
    return (found[-1].run or found[-1].before) if found and _SAME.fullmatch(before) else ""


# --- periods --------------------------------------------------------------------------------------


def _bind(body: str, start: int, mentions: list[Mention], whens: tuple[When, ...]) -> Iterator[Mention]:
    """Give each figure its period."""
    runs = _aligned(body, start, mentions, whens)
    claimed: set[int] = set()
    for place, mention in enumerate(mentions):
        earlier = _is_earlier(mention)
        if place in runs:
            yield replace(mention, whens=(whens[runs[place]],), earlier=earlier)
            continue
        before = _last_before(start, mention, whens, claimed)
        tight = _tight_after(start, mention, whens, apart=before >= 0)
        if tight is not None:
            claimed.add(tight)
            yield replace(mention, whens=(whens[tight],), earlier=earlier)
            continue
        if earlier and not any(one.relative for one in whens[: before + 1] if before >= 0):
            yield replace(mention, whens=(_prior(whens, before),), earlier=True)
        elif before >= 0:
            yield replace(mention, whens=(whens[before],), earlier=earlier)
        else:
            yield replace(mention, whens=_rest(start, mention, _in_reach(body, start, mention, whens)), earlier=earlier)


def _aligned(body: str, start: int, mentions: Sequence[Mention], whens: Sequence[When]) -> dict[int, int]:
    """Map figures to periods where a list of figures goes with a list of as many periods."""
    result: dict[int, int] = {}
    figure_runs = _runs([(m.number.span.start - start, m.number.span.end - start) for m in mentions], body, _JOINS)
    when_runs = _runs([(w.start, w.end) for w in whens], body, _WHEN_JOINS)
    used: set[int] = set()
    for figures in figure_runs:
        if len(figures) < 2 or len({(mentions[i].number.unit) for i in figures}) > 1:
            continue
        first = mentions[figures[0]].number.span.start - start
        fitting = [run for run in when_runs if len(run) == len(figures) and run[0] not in used]
        if not fitting:
            continue
        run = min(fitting, key=lambda one: abs(whens[one[0]].start - first))
        used.add(run[0])
        result.update(zip(figures, run, strict=True))
    return result


def _runs(spans: Sequence[tuple[int, int]], body: str, joins: re.Pattern[str]) -> list[list[int]]:
    runs: list[list[int]] = []
    for place, (begin, _) in enumerate(spans):
        if place and begin >= spans[place - 1][1] and joins.match(body[spans[place - 1][1] : begin]):
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs


def _tight_after(start: int, mention: Mention, whens: Sequence[When], *, apart: bool) -> int | None:
    """Return the period that directly follows a figure: "$3 million in 2024", "$3 million (2024)".

    With ``apart``, where a period stands in front of the figure, a comma ends its reach: "in 2023 3, in 2024 4".
    """
    end = mention.number.span.end - start
    for place, one in enumerate(whens):
        if end <= one.start < end + len(mention.after):
            gap = mention.after[: one.start - end]
            if _HEADS_NEXT.fullmatch(mention.after[one.end - end :]):
                return None  # "(2023: $3 million)" heads the figure behind it
            if apart and gap.lstrip().startswith(","):
                return None
            return place if _TIGHT.match(gap) or (one.relative and len(gap) <= 12 and "," not in gap) else None
    return None


def _last_before(start: int, mention: Mention, whens: Sequence[When], claimed: set[int]) -> int:
    """Return the last period named between the figure before and this one, -1 if there is none."""
    end = mention.number.span.start - start
    low = end - len(mention.before)
    fitting = [place for place, one in enumerate(whens) if low <= one.start < end and place not in claimed]
    return fitting[-1] if fitting else -1


def _in_reach(body: str, start: int, mention: Mention, whens: Sequence[When]) -> tuple[When, ...]:
    """Leave out periods in brackets that the figure does not stand in: "was 5 (4 in 2023)"."""
    at = mention.number.span.start - start
    groups = [match.span() for match in _ASIDE.finditer(body)]
    return tuple(
        one for one in whens if not any(low < one.start < high and not low <= at < high for low, high in groups)
    )


def _rest(start: int, mention: Mention, whens: Sequence[When]) -> tuple[When, ...]:
    """Return the periods that may be meant where none stands beside the figure."""
    if len({(*one.key, one.relative) for one in whens}) <= 1:
        return tuple(whens[:1])
    at = mention.number.span.start - start
    before = [one for one in whens if one.start < at]
    after = [one for one in whens if one.start > at]
    nearest = [*before[-1:], *after[:1]]
    return tuple(nearest)


def _prior(whens: Sequence[When], before: int) -> When:
    """Return "the year before", seen from the period that the sentence is about."""
    anchors = [one for one in whens if one.year and not one.relative]
    anchor = whens[before] if before >= 0 and whens[before].year else anchors[-1] if anchors else None
    if anchor is None:
        return When(relative=-1)
    return replace(anchor, relative=-1)


@cache
def _from_words() -> re.Pattern[str]:
    listed = [one for one in words()["from"] if one not in ("de", "over the")]
    return re.compile(phrase_pattern(listed).pattern + r"\s*(?:the|los|las|el|a|an|un|una)?\s*$", re.IGNORECASE)


def _is_earlier(mention: Mention) -> bool:
    """Tell whether the figure is what another one is compared with: "from 3 to 4", "4, against 3"."""
    tail = mention.before[-40:]
    if _from_words().search(tail):
        return mention.number.unit not in ("pp", "bp")
    leads = re.search(r"\b(?:de|desde)\s*(?:los|las|unos)?\s*$", tail, re.IGNORECASE)
    return bool(leads and len(mention.after) <= 60 and _TO.search(mention.after) and _MOVES.search(mention.before))


# --- words ----------------------------------------------------------------------------------------


def direction_of(mention: Mention, label: str = "") -> int:
    """Return 1 where the words around a figure say that something rose, -1 where it fell, 0 where neither.

    ``label`` is a line item whose own words ("net increase in cash") do not count.
    """
    before = _without(mention.before, label)
    tail = _clause_tail(before)
    for part in (tail, before, _without(mention.run, label)):
        found = _last_direction(part)
        if found:
            return found
    after = _without(mention.after, label)
    head = _BREAK.split(after, maxsplit=1)[0]
    return _first_direction(head[:60])


def only_direction(text: str, label: str = "") -> int:
    """Return the direction that a whole sentence speaks of, 0 if it speaks of none or of both."""
    found = set(_directions(_without(text, label)))
    return found.pop() if len(found) == 1 else 0


def _without(text: str, label: str) -> str:
    if label and label.lower() in text.lower():
        at = text.lower().index(label.lower())
        text = text[:at] + " " * len(label) + text[at + len(label) :]
    return re.sub(r"\b(?:increase|decrease|aumento|disminución)\s*[(/]\s*\w+\)?", " ", text, flags=re.IGNORECASE)


def _clause_tail(text: str) -> str:
    parts = _BREAK.split(text)
    return next((part for part in reversed(parts) if part.strip()), "")


@cache
def _direction_words() -> re.Pattern[str]:
    return phrase_pattern([*words()["up"], *words()["down"]])


def _directions(text: str) -> Iterator[int]:
    exceptions = words()["not_direction_before"]
    for match in _direction_words().finditer(text):
        word = match[0].lower()
        following = re.match(r"\s*(\w+)", text[match.end() :])
        if word in exceptions and following and following[1].lower() in exceptions[word]:
            continue
        if word in ("more", "más", "less", "menos") and following and following[1].lower() in ("than", "de", "que"):
            continue
        yield 1 if word in word_set("up") else -1


def _last_direction(text: str) -> int:
    found = 0
    for found in _directions(text):  # noqa: B007  # the last one counts
        pass
    return found


def _first_direction(text: str) -> int:
    return next(_directions(text), 0)
