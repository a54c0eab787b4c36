"""The grammar of note markers: what each form prints, and the keys that it names."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final, NamedTuple

from fin_rag.structure.notes.model import NoteKey

RAISED: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_RAISED_LETTERS: Final = "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"
_PLAIN: Final = str.maketrans(RAISED + _RAISED_LETTERS + "⁽⁾", "0123456789abcdefghijklmnoprstuvwxyz()")
_STAR: Final = r"(?:\\?\*){1,5}"
_SIGN: Final = r"(?:[†‡]{1,4}|§{1,3}|¶)"
_ROMAN: Final = r"[ivx]{2,4}"
_ONE: Final = rf"(?:\d{{1,2}}|{_ROMAN}|[a-zA-Z]|{_STAR}|{_SIGN})"
_AND: Final = r"\s?(?:[,;/]|y|e|and|&)\s?"
_RUN: Final = rf"(?:{_ONE}(?:{_AND}(?:\d{{1,2}}|[a-zA-Z])){{0,8}}|\d{{1,2}}\s?[-–a]\s?\d{{1,2}})"

# Each form once; a token is looked for left to right and the first form that fits wins.
TOKEN: Final = re.compile(
    rf"(?P<html><sup>\s?(?:<a\b[^<>]{{0,200}}>)?\s?(?P<htmltext>[^<>]{{1,12}}?)\s?(?:</a>)?\s?</sup>)"
    rf"|(?P<caret>\\?\[\^(?P<name>[\w.-]{{1,24}})\\?\])(?!:)"
    rf"|(?P<bracket>\\?\[(?P<inbracket>{_RUN})\\?\])(?:\((?P<target>#[^()\s]{{1,80}})\)|(?!\())"
    rf"|(?P<paren>\\?\((?P<inparen>{_RUN})\\?\))"
    rf"|(?P<raised>⁽?[{RAISED}]{{1,3}}(?:\s?[,;⁻]\s?[{RAISED}]{{1,2}}){{0,8}}⁾?|[{_RAISED_LETTERS}](?![\w]))"
    rf"|(?P<star>{_STAR})"
    rf"|(?P<sign>{_SIGN})"
    r"|(?<![\w/.,])(?P<slash>(?:\d{1,2}|[a-z])/)(?![\w/])"
    r"|(?<![\w(/.,])(?P<close>(?:\d{1,2}|[a-z])\))(?!\w)"
)
# A superscript that lost its height: "ventas1". Only believed where a note line opens with the bare number.
GLUED: Final = re.compile(r"(?:(?<=[^\W\d_]{3}|[^\W\d_]{2}[.)])|(?<=[%»”]))(?P<glued>\d{1,2})(?![\w%]|[.,/-]\d)")
_OPENING: Final = re.compile(
    r"(?:>\s{0,3}){0,3}(?:[-–•]\s{1,3}(?=[(\[¹²³⁴⁵⁶⁷⁸⁹]))?(?P<emphasis>[*_]{1,3}(?=[(\[¹²³⁴⁵⁶⁷⁸⁹†‡]|[Nn]ot[ae] ))?(?:"
    rf"<sup>\s?(?:<a\b[^<>]{{0,200}}>)?\s?(?P<html>[^<>]{{1,8}}?)\s?(?:</a>)?\s?</sup>"
    r"|\\?\[\^(?P<caret>[\w.-]{1,24})\\?\]:"
    rf"|\\?\[(?P<bracket>{_ONE})\\?\](?!\():?"
    rf"|\\?\((?P<paren>{_ONE})\\?\)[.:]?"
    rf"|(?P<raised>⁽?[{RAISED}]{{1,3}}⁾?|[{_RAISED_LETTERS}](?!\w))[.:)]?"
    r"|(?P<escaped>(?:\\\*){1,5})"
    r"|(?P<star>\*{1,5})(?=\s|[^\W\d_a-zñáéíóú][^*]*$)"
    rf"|(?P<sign>{_SIGN})(?!\s?\d)"
    r"|(?P<slash>\d{1,2}|[a-z])/(?=\s)"
    r"|\(?(?P<word>(?:[Nn]otas?|NOTA|[Nn]otes?|NOTE|Llamada)(?:\s?n\.?[ºo°]\.?)?(?:\s|(?=\())\s?\(?(?P<wordkey>\d{1,2}|[a-zA-Z]|\*{1,3})\)?)(?=\s?[):.–—-])"
    r"(?:\)\s?|\s?)[:.–—-]?"
    r"|(?P<dot>\d{1,2}|[a-z])\\?[.)]-?(?=\s)"
    r"|(?P<dash>\d{1,2}|[a-z])\s[-–—](?=\s)"
    r"|(?P<bare>\d{1,2})(?=\s{1,4}[^\W\d_a-z])"
    r")\s*[*_]{0,3}\s*(?=\S)"
)
_FORMS: Final = (
    "html", "caret", "bracket", "paren", "raised", "escaped", "star", "sign", "slash", "wordkey", "dot", "dash", "bare",
)  # fmt: skip
_SINGLE: Final = re.compile(rf"\d{{1,3}}|{_ROMAN}|[a-zA-Z]|{_STAR}|{_SIGN}")
_RANGE: Final = re.compile(r"(\d{1,2})\s?[-–a]\s?(\d{1,2})")
_LONGEST_RANGE: Final = 20
_ROMANS: Final = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_AFTER_ROMAN: Final = dict(pairwise(_ROMANS))
# Forms that print one thing in different ways.
_FAMILY: Final = {"html": "raised", "escaped": "star", "wordkey": "word", "dash": "dot"}


class Opening(NamedTuple):
    """Tell how a line opens as a note: its key, form, and the length of the marker with blanks behind it."""

    key: NoteKey
    form: str
    length: int
    printed: str


def key_of(text: str) -> NoteKey | None:
    r"""Read what a marker says, without the brackets around it.

    Example:
        >>> key_of("¹"), key_of(r"\*\*"), key_of("b"), key_of("sic") is None
        (NoteKey(kind='number', value='1'), NoteKey(kind='star', value='2'), NoteKey(kind='letter', value='b'), True)
    """
    bare = text.translate(_PLAIN).strip("()[]^ ").replace("\\", "")
    if bare.isdigit():
        return NoteKey("number", str(int(bare))) if len(bare) <= 3 and int(bare) else None
    if bare and not bare.strip("*"):
        return NoteKey("star", str(len(bare)))
    if len(bare) > 1 and not bare.lower().strip("ivx"):
        return NoteKey("roman", bare.lower())
    if len(bare) == 1 and bare.isalpha() and bare.isascii():
        return NoteKey("letter", bare)
    if bare and not bare.strip("†‡§¶"):
        return NoteKey("dagger", bare)
    return None


def keys_of(text: str) -> list[NoteKey]:
    """Read a list or range of markers: ``1, 3`` or ``1-3``.

    Example:
        >>> [key.value for key in keys_of("(1, 3)")], [key.value for key in keys_of("2-4")]
        (['1', '3'], ['2', '3', '4'])
    """
    bare = text.translate(_PLAIN).replace("⁻", "-").strip("()[] ")
    if len(bare) > 1 and bare.isalpha() and bare.lower().strip("ivx"):
        return []  # an ordinal or a trade mark: "5th", "TM"
    found = _RANGE.fullmatch(bare)
    if found:
        first, last = int(found[1]), int(found[2])
        if 0 < first < last <= first + _LONGEST_RANGE:
            return [NoteKey("number", str(n)) for n in range(first, last + 1)]
        return []
    keys = [key_of(part) for part in _SINGLE.findall(bare)]
    return [key for key in keys if key is not None]


def name_key(name: str) -> NoteKey:
    """Return the key of a Markdown footnote name; a number is a number in any form."""
    return key_of(name) or NoteKey("name", name.casefold())


def opening_of(line: str) -> Opening | None:
    """Read the marker that opens a line as a note, in the widest sense; whether it is one is not said here.

    Example:
        >>> opening_of("(1) Restated.").form, opening_of("1. First").form, opening_of("Plain text") is None
        ('paren', 'dot', True)
    """
    found = _OPENING.match(line)
    if found is None:
        return None
    form = next(name for name in _FORMS if found[name] is not None)
    key = name_key(found[form]) if form == "caret" else key_of(found[form])
    if key is None:
        return None
    printed = (found["word"] or found[0]).strip().rstrip(":.").strip("> ")
    return Opening(key, _FAMILY.get(form, form), found.end(), printed)


def token_form(found: re.Match[str]) -> tuple[str, list[NoteKey]]:
    """Return the form of a token that :data:`TOKEN` found and the keys that it names; none if it is no marker."""
    if found["html"]:
        return "raised", keys_of(found["htmltext"])
    if found["caret"]:
        return "caret", [name_key(found["name"])]
    for form, group in (("bracket", "inbracket"), ("paren", "inparen")):
        if found[form]:
            return form, keys_of(found[group])
    form = next(name for name in ("raised", "star", "sign", "slash", "close") if found[name])
    text = found[form].rstrip("/)") if form in ("slash", "close") else found[form]
    return form, keys_of(text) if form == "raised" else [key for key in (key_of(text),) if key]


def follows(key: NoteKey, after: NoteKey) -> bool:
    """Tell whether ``after`` is the next marker in a sequence that has come to ``key``.

    Example:
        >>> follows(NoteKey("number", "1"), NoteKey("number", "2"))
        True
    """
    if key.kind in ("number", "star") and after.kind == key.kind:
        return int(after.value) == int(key.value) + 1
    if key.kind == "letter" and after.kind == "letter":
        return ord(after.value) == ord(key.value) + 1
    if after.kind == "roman":
        return after.value == _AFTER_ROMAN.get(key.value)
    return {key.kind, after.kind} <= {"star", "dagger"} and after.kind == "dagger" and key != after
