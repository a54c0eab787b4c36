"""Read a speaker line: name, role, firm, letter, whatever the layout."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from fin_rag.structure.calls.affiliation import DASH, Affiliation, is_analyst_role, is_firm, is_role, split_affiliation
from fin_rag.structure.calls.names import name_kind
from fin_rag.structure.calls.vocabulary import classes, fold, words

STAMP: Final = re.compile(
    r"(?:[\[(]\s*\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d{1,3})?\s*(?:-+>?|–|—)?\s*(?:\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d{1,3})?)?\s*[\])]"
    r"|\d{1,2}:\d\d:\d\d(?:[.,]\d{1,3})?|\d{1,2}:\d\d(?!\d)(?!\s*[ap]\.?m))"
)
_LEADING_STAMP: Final = re.compile(rf"\s*{STAMP.pattern}\s*(?:[-–—:]\s+)?")
_TRAILING_STAMP: Final = re.compile(rf"\s*{STAMP.pattern}\s*$")
_NUMBERED: Final = re.compile(r"\s*\[\d{1,4}\]\s*$")
_EDGE_LETTER: Final = re.compile(r"(?:\s{2,}|\t)\s*([QA])\s*$")
_LEADING_LETTER: Final = re.compile(r"([QAPR])(?:\s*[-–—:]\s+|\.\s*[-–—]\s*|\.\s*(?=\())(?=\S)")
_LETTER_BRACKET: Final = re.compile(
    r"(?P<word>[QAPR]|Question|Answer|Pregunta|Respuesta)\s*[.:]?\s*[(\[](?P<who>[^()\[\]]{2,120})[)\]]"
)
_LETTER_ALONE: Final = re.compile(r"(?P<word>[QAPR]|Question|Answer|Pregunta|Respuesta)\s*\.?", re.IGNORECASE)
_BRACKET: Final = re.compile(r"(?P<name>[^()\[\]]+?)\s*[(\[](?P<inside>[^()\[\]]{1,120})[)\]]")
_BREAK: Final = re.compile(r"\s*(?:<br ?/?>|;|\||\t)\s*", re.IGNORECASE)
_MOST_ASIDE: Final = 3  # words
_COMMA: Final = re.compile(r"\s*,\s+")
_QUESTION_WORDS: Final = frozenset({"q", "p", "question", "pregunta"})
_ANSWER_WORDS: Final = frozenset({"a", "r", "answer", "respuesta"})


@dataclass(frozen=True, slots=True)
class Label:
    """Hold what a speaker line says; ``kind`` is that of :func:`name_kind`, or ``role``, ``letter``.

    ``tag`` is a class that the line itself states (``company``, ``analyst``, ``operator``, ``unknown``).
    ``marked`` tells that the line bears a mark which speech hardly ever bears (a number, a stamp, a letter).
    """

    name: str
    kind: str
    role: str = ""
    firm: str = ""
    tag: str = ""
    marked: bool = False
    affiliation: str = ""

    @property
    def key(self) -> str:
        """Return what two labels of one speaker share."""
        return fold(self.name) or f"{self.kind}:{self.tag}"


def parse_label(
    words_: str, *, known: frozenset[str] = frozenset(), firms: Sequence[str] = (), firm_first: bool = False
) -> Label | None:
    """Read a speaker line; ``None`` if it names nobody.

    Args:
        words_: the line without Markdown marks and without the colon that ends it.
        known: folded names of the participants, for lines that glue name and role together.
        firms: folded names of firms that are known.
        firm_first: the layout prints ``Name, Firm - Role``.

    Example:
        >>> label = parse_label("Petra Okafor -- Halden Securities -- Analyst")
        >>> label.name, label.role, label.firm
        ('Petra Okafor', 'Analyst', 'Halden Securities')
        >>> parse_label("Q - Peggy Sato").tag, parse_label("gross margin")
        ('analyst', None)
    """
    text, marked = _without_marks(words_)
    letter = _EDGE_LETTER.search(words_.rstrip())
    tag = _letter_tag(letter[1]) if letter else ""
    if letter:
        text = _without_marks(words_[: letter.start()])[0]
    bracket = _LETTER_BRACKET.fullmatch(text)
    if bracket:
        inner = _plain_label(bracket["who"], known, firms, firm_first=firm_first)
        return replace(inner, tag=_letter_tag(bracket["word"]), marked=True) if inner else None
    alone = _LETTER_ALONE.fullmatch(text)
    if alone:
        return Label("", "letter", tag=_letter_tag(alone["word"]), marked=False)
    leading = _LEADING_LETTER.match(text)
    if leading:
        inner = _plain_label(text[leading.end() :].strip("() "), known, firms, firm_first=firm_first)
        if inner and inner.kind != "role":
            return replace(inner, tag=_letter_tag(leading[1]), marked=True)
    found = _plain_label(text, known, firms, firm_first=firm_first)
    if found is None:
        return None
    return replace(found, tag=tag or found.tag, marked=marked or bool(tag) or found.marked)


def _without_marks(words_: str) -> tuple[str, bool]:
    text = words_.strip()
    bare = _NUMBERED.sub("", text)
    stamped = _LEADING_STAMP.match(bare)
    if stamped and stamped.end() < len(bare):
        bare = bare[stamped.end() :]
    bare = _TRAILING_STAMP.sub("", bare) if bare[-1:].isdigit() or bare[-1:] in "])" else bare
    return bare.strip(" :"), bare != text


def _letter_tag(word: str) -> str:
    folded = word.casefold()
    return "analyst" if folded in _QUESTION_WORDS else "company" if folded in _ANSWER_WORDS else ""


def _plain_label(text: str, known: frozenset[str], firms: Sequence[str], *, firm_first: bool) -> Label | None:
    text = text.strip(" ,")
    if not text:
        return None
    kind = name_kind(text)
    if kind and not (kind in ("person", "single") and fold(text) in words("role_labels")):
        return Label(text, kind)
    if _is_role_label(text):
        return _role_label(text, firms)
    ways = (_broken(text), _bracketed(text), _separated(text), _glued(text, known), _fused(text, firms))
    labels = (_of_parts(*parts, firms, firm_first=firm_first) for parts in ways if parts is not None)
    return next((label for label in labels if label is not None), None)


def _of_parts(name: str, rest: str, how: str, firms: Sequence[str], *, firm_first: bool) -> Label | None:
    """Return the label of a name and what stands beside it; ``how`` is the mark between them."""
    if how == "dash" and is_role(name) and name_kind(rest) == "person":
        name, rest = rest, name
    kind = name_kind(name)
    if fold(rest.split(" ")[0]) in words("legal_forms"):
        return None  # "Rook Hale, LLC" is a firm
    if kind in ("", "single") and not (kind == "single" and _says_who(rest)):
        return None
    if how == "bracket":
        tag = classes("tags").get(fold(rest), "")
        if tag:
            role = rest if kind == "person" and fold(rest) in ("analyst", "analista") else ""
            return Label(name, kind, role=role, tag=tag, marked=True)
        if rest.islower() and len(rest.split()) <= _MOST_ASIDE and kind == "person":
            return Label(name, kind)  # "(follow-up)", "(by phone)"
    if how in ("bracket", "glued") and not _says_who(rest):
        return None
    said = _affiliated(rest, firms, firm_first=how == "fused" or (firm_first and how == "comma"))
    return Label(name, kind, said.role, said.firm, affiliation=rest)


def _affiliated(rest: str, firms: Sequence[str], *, firm_first: bool) -> Affiliation:
    return split_affiliation(rest, firms=firms, firm_first=firm_first and DASH.search(rest) is not None)


def _says_who(rest: str) -> bool:
    """Tell whether words behind a name can be a role or a firm: capitalised, no sentence."""
    tokens = rest.split()
    if not tokens or len(tokens) > 16 or rest[-1] in "?!" or ":" in rest or fold(tokens[0]) in words("legal_forms"):
        return False
    if rest[-1] == "." and fold(tokens[-1]) not in words("legal_forms"):
        return False
    if is_role(rest):
        return not rest[0].islower() or len(tokens) <= 4
    small = sum(
        token[0].islower() and fold(token) not in words("particles") | {"and", "for", "the"} for token in tokens
    )
    return tokens[0][0].isupper() and small * 3 <= len(tokens)


def _is_role_label(text: str) -> bool:
    """Tell whether a line is an office only, such as "Chief Designer" or "Director of Investor Relations"."""
    tokens = text.split()
    opens = fold(re.split(r"[\s-]", text, maxsplit=1)[0])
    if fold(text) in words("role_labels") and tokens[0][0].isupper():
        return True
    if not is_role(text) or len(tokens) > 8 or not tokens[0][0].isupper() or "(" in text or _BREAK.search(text):
        return False
    return (opens in words("titles_words") or opens in words("department_words")) and DASH.search(text) is None


def _role_label(text: str, firms: Sequence[str]) -> Label:
    said = split_affiliation(text, firms=firms)
    outside = fold(said.role or text) in words("outside_roles") or is_analyst_role(said.role or text)
    firm = "" if fold(text) in words("role_labels") else said.firm
    return Label(text, "role", said.role or text, firm, tag="analyst" if outside else "company")


def _broken(text: str) -> tuple[str, str, str] | None:
    parts = [part for part in _BREAK.split(text) if part]
    return (parts[0], ", ".join(parts[1:]), "break") if len(parts) > 1 else None


def _bracketed(text: str) -> tuple[str, str, str] | None:
    match = _BRACKET.fullmatch(text)
    if match is None or DASH.search(match["name"]) or "," in match["name"]:
        return None
    return match["name"].strip(), match["inside"].strip(), "bracket"


def _separated(text: str) -> tuple[str, str, str] | None:
    """Split at the first dash or comma; a firm's own commas and dashes come later."""
    dash, comma = DASH.search(text), _COMMA.search(text)
    while comma and fold(text[comma.end() :].split(" ")[0]) in words("suffixes"):
        comma = _COMMA.search(text, comma.end())
    if dash and (comma is None or dash.start() < comma.start()):
        return text[: dash.start()], text[dash.end() :], "dash"
    if comma:
        return text[: comma.start()], text[comma.end() :], "comma"
    return None


def _glued(text: str, known: frozenset[str]) -> tuple[str, str, str] | None:
    """Split a name from the role that follows without any mark."""
    tokens = text.split()
    for count in range(min(len(tokens) - 1, 6), 0, -1):
        if fold(" ".join(tokens[:count])) in known:
            return " ".join(tokens[:count]), " ".join(tokens[count:]), "glued"
    if not is_role(text):
        return None
    for count in range(2, min(len(tokens), 6)):
        if fold(tokens[count]) in words("titles_words") and is_role(" ".join(tokens[count:])):
            return " ".join(tokens[:count]), " ".join(tokens[count:]), "glued"
    return None


def _fused(text: str, firms: Sequence[str]) -> tuple[str, str, str] | None:
    """Split ``Abel Osei Vance Chemical Corporation - President`` before a known firm, else behind the second name."""
    dash = DASH.search(text)
    if dash is None or not is_role(text[dash.end() :]):
        return None
    tokens = text[: dash.start()].split()
    known = next((n for n in range(2, min(len(tokens), 7)) if fold(" ".join(tokens[n:])) in firms), 0)
    count = known or (_name_words(tokens) if is_firm(" ".join(tokens)) else 0)
    if not 0 < count < len(tokens):
        return None
    return " ".join(tokens[:count]), " ".join(text.split()[count:]), "fused"


def _name_words(tokens: Sequence[str]) -> int:
    """Return how many words at the beginning are a name of two, with initials, particles and suffixes."""
    count, real = 0, 0
    while count < len(tokens) and real < 2:
        folded = fold(tokens[count])
        real += len(folded) > 1 and folded not in words("particles") and folded not in words("honorifics")
        count += 1
    while count < len(tokens) and fold(tokens[count]) in words("suffixes"):
        count += 1
    return count
