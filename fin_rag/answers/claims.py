"""What an answer claims: each figure with its period, the words around it, its sign, and the company it names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from typing import Final

from fin_rag.answers.changes import is_change
from fin_rag.answers.evidence import resolve
from fin_rag.answers.labels import vocabulary_words
from fin_rag.answers.sentences import Mention, Sentence, direction_of, read_sentences, sentence_spans
from fin_rag.answers.tables import Cell, read_tables
from fin_rag.answers.vocabulary import phrase_pattern, phrases, words
from fin_rag.answers.when import When, read_periods
from fin_rag.facts.concepts import name_key
from fin_rag.text.numbers import Number, find_numbers

APPROXIMATE: Final = "approximate"
FLOOR: Final = "floor"
CEILING: Final = "ceiling"
_NEAR: Final = 28


@dataclass(frozen=True, slots=True)
class Claim:
    """Hold one figure of an answer.

    ``whens`` are its periods, ``stated`` tells that its own sentence names them. ``label`` are the words that name
    the line item, nearest first. ``size`` says "about", "more than" or "nearly". ``change`` tells an amount of change
    ("rose by 5 %") from a level ("rose to 5"). ``factor`` is what a unit remark of the answer applies to a bare figure.
    """

    number: Number
    whens: tuple[When, ...]
    stated: bool
    labels: tuple[str, ...]
    sentence: Sentence
    mention: Mention
    direction: int
    size: str
    change: bool
    earlier: bool
    loss: bool
    factor: int
    per_share: bool

    @property
    def value(self) -> Decimal:
        """Return the value claimed, with sign and scale."""
        return self.number.value * (
            self.factor if self.number.scale == 1 and not self.number.unit and not self.per_share else 1
        )

    @property
    def step(self) -> Decimal:
        """Return the value of one unit in the last printed place."""
        factor = self.factor if self.number.scale == 1 and not self.number.unit and not self.per_share else 1
        return Decimal(1).scaleb(-self.number.decimals) * self.number.scale * factor

    @property
    def bare(self) -> bool:
        """Tell whether nothing says what the figure counts."""
        return not (self.number.currency or self.number.unit or self.number.scale != 1 or self.factor != 1)


@dataclass(frozen=True, slots=True)
class Answer:
    """Hold an answer as sentences and claims."""

    text: str
    sentences: tuple[Sentence, ...]
    claims: tuple[Claim, ...]


def read_answer(text: str, *, lang: str | None = None) -> Answer:
    """Read the figures of an answer; years, dates, ordinals, names of Items and list numbers are none.

    Example:
        >>> answer = read_answer("In fiscal 2024 net sales rose by 9.9% to $1.36 billion.")
        >>> [(one.number.text, one.change, one.whens[0].year) for one in answer.claims]
        [('9.9%', True, 2024), ('$1.36 billion', False, 2024)]
    """
    numbers = _with_shared_scale([_negative(one, text) for one in find_numbers(text, lang=lang)], text)
    bounds = list(sentence_spans(text))
    sentences = read_sentences(text, numbers, bounds)
    claims: list[Claim] = []
    anchors: tuple[When, ...] = ()
    factor = _factor(text)
    cells = _cells(text, numbers, lang)
    for place, sentence in enumerate(sentences):
        named = tuple(one for one in sentence.whens if one.year and not one.relative)
        around = (_explained(sentences, place), sentences[place - 1].text if place else "")
        for mention in sentence.mentions:
            claim = _claim(mention, sentence, named or anchors, anchors, around, factor)
            cell = cells.get(mention.number.span.start)
            claims.append(_in_table(claim, cell) if cell is not None else claim)
        anchors = named[-1:] or anchors
    return Answer(text, tuple(sentences), tuple(claims))


_SHARED: Final = re.compile(r"\s*(?:to|and|or|a|y|o|[–—-])\s*[$€£]?\s*", re.IGNORECASE)


def _alike(one: Decimal, two: Decimal) -> bool:
    """Tell whether two printed numbers are of one size, as the ends of a range are."""
    whole = abs(one) >= 10_000 and one % 1000 == 0  # "84,000" is written in full
    return bool(one and two) and not whole and Decimal("0.02") <= abs(one / two) <= 50


def _with_shared_scale(numbers: list[Number], text: str) -> list[Number]:
    """Give the first of two figures the scale that stands behind the second: "from 3.2 to 4.0 million"."""
    shared = list(numbers)
    for at in range(len(shared) - 1, 0, -1):
        one, two = shared[at - 1], shared[at]
        bare = one.kind == two.kind == "amount" and one.scale == 1 and not one.unit
        if not bare or not _SHARED.fullmatch(text[one.span.end : two.span.start]):
            continue
        if two.scale > 1 and _alike(one.value, two.value / two.scale):
            value, currency = one.value * two.scale, one.currency or two.currency
            shared[at - 1] = replace(one, value=value, scale=two.scale, currency=currency, alternative=None)
        elif two.unit in ("%", "pp", "bp") and not one.currency:
            shared[at - 1] = replace(one, unit=two.unit)
    return shared


_STATES: Final = re.compile(r"(?:(?<!\w)(\w+\.?)|[:=,;>?!.]|^)\s*\($")


_BESIDE_PERIOD: Final = re.compile(
    r"\b(?:compared (?:with|to)|versus|vs\.?|against|from|than|frente a|respecto a|comparado con)\s+"
    r"(?:\w+\s+){0,3}(?:19|20)\d\d\s*$",
    re.IGNORECASE,
)


def _may_be_label(word: str) -> bool:
    """Tell whether brackets behind a word may be an aside to it: "net income ($5 million)", "rose 5 % ($2 million)"."""
    low = word.lower()
    if low in words()["leads_to_figure"] or low in words()["organisation_verbs"]:
        return False
    return not word[-1].isalpha() or word[0].isupper() or name_key(low) in vocabulary_words()


def _negative(number: Number, text: str) -> Number:
    """Read brackets around a whole figure as a minus where a verb or a preposition leads to it: "was ($5 million)"."""
    start, end = number.span.start, number.span.end
    if (
        number.kind == "amount"
        and number.negative == "parentheses"
        and _BESIDE_PERIOD.search(text[max(0, start - 60) : start])
    ):
        return replace(number, value=-number.value, negative="")
    if number.kind != "amount" or number.value <= 0:
        return number
    inside = number.text.startswith("(") and number.text.endswith(")")
    around = text[max(0, start - 1) : start] == "(" and text[end : end + 1] == ")"
    before = text[max(0, start - 30) : start + inside]
    if not (inside or around) or not (number.currency or number.scale != 1):
        return number
    leads = _STATES.search(before)
    if leads is None or (leads[1] and _may_be_label(leads[1])):
        return number
    return replace(number, value=-number.value, negative="parentheses", alternative=None)


def _claim(
    mention: Mention,
    sentence: Sentence,
    anchors: tuple[When, ...],
    inherited: tuple[When, ...],
    around: tuple[str, str],
    factor: int,
) -> Claim:
    whens = tuple(resolve(one, anchors) for one in mention.whens)
    whens = tuple(one for one in whens if one.year or one.part or one.relative)
    if not whens and around[0]:
        whens = tuple(one for one in read_periods(around[0]) if one.year)
    stated = bool(whens)
    tail = mention.before[-_NEAR:]
    per_share = bool(
        phrases("per_share").search(mention.before[-60:]) or phrases("per_share").match(mention.after.lstrip()[:30])
    )
    direction = direction_of(mention)
    return Claim(
        number=mention.number,
        whens=whens or inherited,
        stated=stated,
        labels=_labels(mention, sentence, around),
        sentence=sentence,
        mention=mention,
        direction=direction,
        size=_size(tail),
        change=is_change(mention, direction),
        earlier=mention.earlier,
        loss=_says_loss(mention, sentence),
        factor=factor,
        per_share=per_share,
    )


_CUT: Final = re.compile(
    r"[;.:]\s|\b(?:while|whereas|but|compared|versus|against|mientras|pero|frente)\b", re.IGNORECASE
)


_POINTS_BACK: Final = re.compile(
    r"\s*(?:this|it|that|these|those|which|esto|esta|este|se trata|es|corresponde|dicho|dicha|ello|estas|estos)\b",
    re.IGNORECASE,
)


def _explained(sentences: Sequence[Sentence], place: int) -> str:
    """Return the next sentence where it tells what the figures of this one are: "$5 million. This is net income"."""
    if place + 1 >= len(sentences):
        return ""
    following = sentences[place + 1]
    return following.text if not following.mentions and _POINTS_BACK.match(following.text) else ""


def _cells(text: str, numbers: Sequence[Number], lang: str | None) -> dict[int, Cell]:
    """Return the cells of the tables that an answer holds, by the place of their figure."""
    if "|" not in text:
        return {}
    return {cell.span.start: cell for cell in read_tables(text, {}, lang=lang, numbers=numbers).cells}


def _in_table(claim: Claim, cell: Cell) -> Claim:
    """Take line item and period of a figure in a table from its row and its column."""
    stated = bool(cell.whens)
    labels = (cell.label, f"{cell.groups} {cell.label}", *claim.labels[-1:])
    factor = cell.scales[0] if len(cell.scales) == 1 else claim.factor
    mention = replace(claim.mention, before=cell.label, after="", run="", lead="")
    return replace(
        claim,
        whens=cell.whens or claim.whens,
        stated=stated or claim.stated,
        labels=labels,
        factor=factor,
        mention=mention,
        direction=0,
        change=claim.number.unit in ("pp", "bp") or cell.change,
        earlier=False,
        loss=bool(phrases("loss").search(cell.label)),
    )


def _labels(mention: Mention, sentence: Sentence, around: tuple[str, str]) -> tuple[str, ...]:
    """Return the places where the line item may be named, nearest first."""
    after = "" if mention.after.lstrip()[:1] in tuple("),;.") else _CUT.split(mention.after, maxsplit=1)[0]
    earlier = [one.before for one in sentence.mentions if one.number.span.start < mention.number.span.start]
    return (mention.before, after, *reversed(earlier[-4:]), sentence.text, *around)


def _factor(text: str) -> int:
    """Return the factor of a unit remark that holds for the whole answer: "(in millions)"."""
    remarks = (one for one in phrases("unit_phrases").finditer(text) if not text[: one.start()].rstrip()[-1:].isdigit())
    match = next(remarks, None)
    if match is None:
        return 1
    low = match[0].lower()
    if "billion" in low:
        return 10**9
    return 10**6 if "mill" in low or low.endswith("m") else 1000


@cache
def _size_words(name: str) -> re.Pattern[str]:
    return re.compile(phrase_pattern(words()[name]).pattern + r"\s*(?:los|las|the|a|un)?\s*[$€£]?\s*$", re.IGNORECASE)


def _size(tail: str) -> str:
    return next((name for name in (FLOOR, CEILING, APPROXIMATE) if _size_words(name).search(tail)), "")


def _says_loss(mention: Mention, sentence: Sentence) -> bool:
    """Tell whether the words around a figure make it a loss or an outflow."""
    near = mention.before or mention.lead
    after = re.split(r"[,;.]", mention.after, maxsplit=1)[0][:50]
    plain = re.sub(r"\([^()]*\)", " ", f"{near[-90:]} | {after}")
    if phrases("loss").search(plain):
        return True
    if len(sentence.mentions) > 1 and len(mention.before.strip()) < 25:
        return bool(phrases("loss").search(re.sub(r"\([^()]*\)", " ", mention.lead[-90:])))
    return False


# --- companies ------------------------------------------------------------------------------------

_NAME: Final = re.compile(
    r"(?<![\w.])[A-ZÁÉÍÓÚÑ][\w&'’.-]*(?:[ ]+(?:(?:of|de|del|la|the|and|y|&|e)[ ]+)?[A-ZÁÉÍÓÚÑ][\w&'’.-]*)*"
)
_BEFORE_NAME: Final = re.compile(
    r"\b(?:for|at|by|from|of|de|en|por|para|to|a|que|según|per|than|and|y|del)\s+$", re.IGNORECASE
)


@cache
def _organisation() -> frozenset[str]:
    return frozenset(words()["organisations"])


def company_names(sentence: Sequence[str] | str) -> list[tuple[str, bool]]:
    """Return the names in a sentence that may be companies, and whether their place in it says that they are.

    Example:
        >>> company_names("Norvella reported net sales of $3 million in May 2024.")
        [('Norvella', True)]
    """
    text = sentence if isinstance(sentence, str) else " ".join(sentence)
    found = []
    for match in _NAME.finditer(text):
        name = re.split(r"['’]s?(?=\s|$)", match[0], maxsplit=1)[0].strip(" .,-")
        parts = [part for part in re.split(r"[\s]+", name) if part]
        while parts and (parts[0].lower().strip(".,") in _generic() or read_periods(parts[0])):
            parts.pop(0)
        while parts and (parts[-1].lower().strip(".,") in _generic()):
            parts.pop()
        if not parts:
            continue
        name = " ".join(parts)
        if len(name) < 2 or name.lower() in words()["months"]:
            continue
        found.append((name, _is_subject(text, match, parts)))
    return found


@cache
def _generic() -> frozenset[str]:
    listed = set(words()["generic_subjects"]) | set(words()["months"]) | set(words()["ordinals"])
    return frozenset(
        one for one in listed if one not in _organisation() or one in ("company", "group", "bank", "grupo")
    )


def _is_subject(text: str, match: re.Match[str], parts: Sequence[str]) -> bool:
    after = text[match.end() : match.end() + 40]
    if re.search(r"['’]s?(?=\s|$)", match[0]) or after.startswith(("'s", "’s")):
        return True
    if any(part.lower().strip(",") in _organisation() for part in parts[1:]):
        return True
    if re.match(
        rf"\s*,?\s*(?:{'|'.join(re.escape(one) for one in sorted(_organisation(), key=len, reverse=True))})(?!\w)",
        after,
        re.IGNORECASE,
    ):
        return True
    verb = re.match(r"\s*(?:\([^()]{1,20}\)\s*)?,?\s*(\w+)", after)
    if verb and verb[1].lower() in words()["organisation_verbs"]:
        return True
    if re.match(r"\s*(?:\([^()]{1,25}\)|[:—–-]\s)", after):
        return True
    starts = not text[: match.start()].strip(' *-•"“')
    if verb and not starts and (name_key(verb[1]) in vocabulary_words() or read_periods(verb[1])):
        return True
    return bool(_BEFORE_NAME.search(text[: match.start()]))
