"""Names of other acts in running text: numbered, named, defined before, and taken up again."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from fin_rag.loaders.act_title import NUMBERED, UNION, YEAR_NUMBER, own_number
from fin_rag.schema import Span
from fin_rag.structure.regulation.numbers import fold

_MORE_NUMBERS: Final = re.compile(
    rf"(?:,[ ]|,?[ ](?:and|y|e|und|or|o)[ ])(?:(?:the|la|el|los|las)[ ])?(?P<number>{UNION}{YEAR_NUMBER})"
)
_CAPITAL_WORD: Final = r"[A-ZÁÉÍÓÚÑ][\wáéíóúñü’'-]{1,30}"
_LINK_WORDS: Final = r"(?:(?:de[ ]la|de[ ]los|de[ ]las|del|de|y|e|en|sobre|a|al|para|el|la|los|las|contra)[ ]){0,3}"
NAMED: Final = re.compile(
    rf"(?P<spanish>(?:[Tt]exto[ ][Rr]efundido[ ]de[ ]la[ ])?Ley(?:[ ](?:Org[áa]nica|General))?(?:[ ](?:de|del"
    rf"|sobre|General)[ ](?:(?:la|los|las|el)[ ])?{_CAPITAL_WORD}(?:[ ]{_LINK_WORDS}{_CAPITAL_WORD}){{0,10}})"
    rf"|C[óo]digo[ ](?:Civil|Penal|de[ ]{_CAPITAL_WORD})|Constituci[óo]n(?:[ ]Espa[ñn]ola)?"
    rf"|Estatuto[ ](?:de[ ]los|del|de)[ ]{_CAPITAL_WORD}"
    rf"|Reglamento(?:[ ]General)?[ ](?:de|del)[ ](?:(?:la|los|las)"
    rf"[ ])?{_CAPITAL_WORD}(?:[ ]{_LINK_WORDS}{_CAPITAL_WORD}){{0,8}}|Tratado[ ](?:de|constitutivo)"
    rf"[ ]{_CAPITAL_WORD}(?:[ ]{_LINK_WORDS}{_CAPITAL_WORD}){{0,8}})"
    r"|(?P<treaty>TFEU|TEU|TFUE|TUE|AEUV|EUV)(?!\w)"
    rf"|(?P<english>(?:{_CAPITAL_WORD}[ ](?:(?:and|of|on|for|the|in|to)[ ]){{0,3}}){{0,9}}(?:Act|Directive"
    rf"|Regulation|Code|Convention|Treaty|Charter|Agreement|Protocol(?:[ ]No[ ]?\d{{1,2}})?|Statute)"
    rf"(?:[ ]of[ ]\d{{4}}|[ ](?:on|establishing)[ ]the[ ]{_CAPITAL_WORD}(?:[ ](?:(?:of|the|and)"
    rf"[ ]){{0,2}}{_CAPITAL_WORD}){{0,5}})?)(?![\w])"
)
US_ACT: Final = re.compile(
    r"\d{1,2}[ ]U\.?[ ]?S\.?[ ]?C\.?[ ](?:§§?[ ]?|[Ss]ections?[ ]"
    r"|[Cc]hapter[ ])?\d{1,5}[a-z]{0,3}(?:-\d{1,5}[a-z]?)?(?:\([0-9A-Za-z]{1,5}\)){0,6}"
    r"|(?:Securities (?:Exchange )?Act|Investment (?:Company|Advisers) Act|Exchange Act|Sarbanes-Oxley Act"
    r"|Trust Indenture Act|Freedom of Information Act|Privacy Act|Bank Holding Company Act)(?: of \d{4})?"
    r"|(?:Executive Order|E\.O\.)[ ](?:No\.[ ])?\d{4,5}|Pub(?:lic|\.)[ ]L(?:aw|\.)"
    r"[ ](?:No\.[ ])?\d{2,3}[-–]\d{1,4}"
)
OWN: Final = re.compile(
    r"(?:(?:of|to|in)[ ])?(?:est[ea](?:[ ]mism[ao])?|(?:la[ ]|el[ ])?presentes?|this|dieser|dieses|diesem)[ ]"
    r"(?P<type>ley(?:[ ]org[áa]nica)?|real[ ]decreto(?:[- ]ley|[ ]legislativo)?|decreto(?:[- ]ley)?|orden"
    r"|circular|reglamento|directiva|decisi[óo]n|resoluci[óo]n|texto[ ]refundido"
    r"|regulation|directive|decision|act|order|law|verordnung|richtlinie|beschluss(?:es)?)(?!\w)",
    re.IGNORECASE,
)
BACK: Final = re.compile(
    r"(?:(?:la|el)[ ])?(?:dich[oa]|citad[oa]|mencionad[oa]|referid[oa]|indicad[oa]|aquella|aquel|es[ea]"
    r"|expresad[oa]|propi[oa]|that|the[ ]said|the[ ]same|jener|jenes|genannten)[ ](?:mism[oa][ ])?"
    r"(?P<type>ley(?:[ ]org[áa]nica)?|real[ ]decreto(?:[- ]ley|[ ]legislativo)?|decreto(?:[- ]ley)?|orden"
    r"|circular|reglamento|directiva|decisi[óo]n|c[óo]digo|texto(?:[ ](?:refundido|legal))?|norma[ ]legal"
    r"|regulation|directive|decision|act|law|treaty|code|verordnung|richtlinie)(?!\w)",
    re.IGNORECASE,
)
PRONOUN: Final = re.compile(
    r"(?:de[ ][ée]st[ae](?=[ ]?[,;.:)]|[ ]?\n)|de[ ]la[ ]misma|del[ ]mismo|de[ ]aqu[ée]lla|de[ ]aqu[ée]l|thereof)(?!\w)",
    re.IGNORECASE,
)
BARE: Final = re.compile(
    r"(?P<type>Ley|Real[ ]Decreto(?:[- ][Ll]ey|[ ]Legislativo)?|Orden|Reglamento|Directiva|Circular"
    r"|Decisi[óo]n|Texto[ ]Refundido|Regulation|Directive|Decision|Act|Treaty)(?![\w])"
)
_DEFINED: Final = re.compile(
    r"\([ ]?(?:(?P<word>en (?:adelante|lo sucesivo)|hereinafter|hereafter|im Folgenden)"
    r"[, :]{0,2}(?:(?:referred to as|called)[ ])?)?(?:(?:the|la|el|los|las)[ ](?=[«“‘\"„]))?(?P<open>[«“‘\"„])?[ ]?"
    r"(?:(?:the|la|el|los|las)[ ])?(?P<name>[^()«»“”‘’\"„]{2,80}?)[ ]?(?P<close>[»”’\"“])?[ ]?\)"
)
_DEFINITION_REACH: Final = 400
_SENTENCE_BREAK: Final = re.compile(r"[.;][ \n]+(?=[A-ZÁÉÍÓÚÑ«“‘(0-9])|\n[ ]*\n")

_CLASSES: Final = (
    ("decree", ("real decreto", "decreto", "royal decree")), ("law", ("ley", "texto", "act", "law", "leyes")),
    ("regulation", ("reglamento", "regulation", "verordnung", "delegated regulation")),
    ("directive", ("directiva", "directive", "richtlinie")), ("decision", ("decision", "beschluss", "entscheidung")),
    ("order", ("orden", "order")), ("circular", ("circular",)),
    ("treaty", ("treaty", "tratado", "tfeu", "teu", "tfue", "tue")),
    ("code", ("codigo", "code")), ("constitution", ("constitucion",)),
)  # fmt: skip


# Acts of one sort that are numbered each in a series of its own.
_SERIES: Final = re.compile(r"\b(organica|foral|legislativo|(?<=decreto[- ])ley)\b")
_CFR_TITLE: Final = re.compile(r"(\d{1,2})[ ]CFR\b|\bTitle[ ](\d{1,2})[ ]?(?:—|–|-|:|,)", re.IGNORECASE)
_FEMININE: Final = frozenset({"law", "order", "directive", "decision", "circular", "constitution"})


def act_class(words: str) -> str:
    """Return what sort of act a name says: ``law``, ``decree``, ``regulation``, ``directive``, …; or nothing.

    Example:
        >>> act_class("Real Decreto-ley 5/2023"), act_class("Council Directive 85/611/EEC"), act_class("dicha Ley")
        ('decree', 'directive', 'law')
    """
    folded = fold(words)
    best, at = "", len(folded) + 1
    for name, stems in _CLASSES:
        for stem in stems:
            match = re.search(rf"\b{stem}", folded)
            if match and match.start() < at:
                best, at = name, match.start()
    return best


def act_key(name: str) -> str:
    """Return the form in which names of acts are compared: sort and number, without institutions and dates.

    Example:
        >>> act_key("Ley 10/2014, de 26 de junio") == act_key("LEY 10/2014")
        True
        >>> act_key("Council Directive 85/611/EEC"), act_key("Regulation (EU) No 648/2012")
        ('directive 85/611', 'regulation 648/2012')
        >>> act_key("Real Decreto 5/2023") == act_key("Real Decreto-ley 5/2023")
        False
    """
    numbered = own_number(name)
    number = re.search(r"(?:[A-Z]{2,6}/)?\d{1,4}/\d{1,4}", numbered or name)
    if number:
        kind = (numbered or name)[: number.start()]
        series = _SERIES.search(fold(kind))
        return f"{series[1] + ' ' if series else ''}{act_class(kind)} {number.group().casefold()}"
    words = re.findall(r"\w+", fold(name))
    return " ".join(word for word in words if word not in ("the", "la", "el", "los", "las"))


def cfr_title(text: str) -> str:
    """Return the number of the title of the Code of Federal Regulations that a heading names, or nothing.

    Example:
        >>> cfr_title("Title 17—Commodity and Securities Exchanges"), cfr_title("17 CFR Part 240")
        ('17', '17')
    """
    match = _CFR_TITLE.search(text)
    return (match[1] or match[2]) if match else ""


def act_names(act: str, title: str, addresses: Iterable[str]) -> frozenset[str]:
    """Return the keys by which other acts may name an act: its own name, its title, the parts of a code.

    Example:
        >>> sorted(act_names("", "Title 17—Exchanges", ["part:240", "sec:240.1"]))
        ['17 cfr 240', 'title 17 exchanges']
        >>> sorted(act_names("Ley 9/2031", "Ley 9/2031, de 3 de mayo", []))
        ['law 9/2031']
    """
    found = {act_key(name) for name in (act, title) if name}
    code = cfr_title(title)
    for address in addresses:
        kind, _, number = address.partition(":")
        if kind == "part" and code:
            found.add(act_key(f"{code} CFR {number}"))
        elif kind == "chapter" and number[:1].isalpha() and number[-1:].isdigit():
            found.add(act_key(number))
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class OwnNames:
    """Hold how an act is called by itself: shown, as comparison keys, and its sort."""

    shown: str = ""
    keys: frozenset[str] = frozenset()
    sort: str = ""
    cfr_title: str = ""


@dataclass(slots=True)
class Acts:
    """Remember the acts that a text has named so far: the last of each sort, and short names defined for them."""

    own: OwnNames
    last: dict[str, str] = field(default_factory=dict)
    latest: str = ""
    last_feminine: str = ""
    last_masculine: str = ""
    short: dict[str, str] = field(default_factory=dict)
    _names: dict[str, list[str]] = field(default_factory=dict)

    def note(self, name: str) -> None:
        """Remember that an act was named."""
        self.latest = name
        sort = act_class(name)
        self.last[sort] = name
        if sort in _FEMININE:
            self.last_feminine = name
        else:
            self.last_masculine = name

    def of_gender(self, pronoun: str) -> str:
        """Return the act that a Spanish pronoun agrees with, the last one named; any act for other pronouns."""
        folded = fold(pronoun)
        if folded.startswith("de la ") or folded.endswith(("aquella", "esta")):
            return self.last_feminine or self.latest
        return (self.last_masculine if folded.startswith("de") else "") or self.latest

    def is_own(self, name: str) -> bool:
        """Tell whether a name is that of the citing act."""
        return act_key(name) in self.own.keys

    def define(self, view: str, end: int, name: str, limit: int) -> None:
        """Read the short name that brackets give an act after its full name."""
        stop = min(limit, end + _DEFINITION_REACH)
        broken = _SENTENCE_BREAK.search(view, end, stop)
        stop = broken.start() if broken else stop
        following = NUMBERED.search(view, end, stop)
        stop = following.start() if following else stop
        for match in _DEFINED.finditer(view, end, stop):
            if match["word"] or (match["open"] and match["close"]):
                short = " ".join(match["name"].split()).strip(" ,.")
                if short[:1].isupper() or short.split()[-1][:1].isupper():
                    self.short.setdefault(short, name)
                    self._names.setdefault(short.split()[0], []).append(short)
                    self._names[short.split()[0]].sort(key=len, reverse=True)
                return

    def short_at(self, view: str, at: int) -> tuple[str, int] | None:
        """Return the act and end of a defined short name that stands at an offset, or ``None``."""
        word = re.compile(r"[\w-]+").match(view, at)
        for name in self._names.get(word.group(), ()) if word else ():
            if view.startswith(name, at) and not view[at + len(name) : at + len(name) + 1].isalnum():
                return self.short[name], at + len(name)
        return None


def more_numbers(view: str, at: int, sort: str) -> list[tuple[str, Span]]:
    """Return further acts of a list that share one word, and where their numbers stand.

    Example:
        >>> more_numbers("Directives 2002/92/EC and 2011/61/EU", 21, "Directive")
        [('Directive 2011/61/EU', Span(start=26, end=36))]
    """
    found: list[tuple[str, Span]] = []
    while match := _MORE_NUMBERS.match(view, at):
        found.append((f"{sort} {match['number']}", Span(*match.span("number"))))
        at = match.end()
    return found
