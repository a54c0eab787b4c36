"""The title of a statute: which act it is, and of what day."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from fin_rag.loaders.dates import find_dates
from fin_rag.schema import MetadataValue

ACT: Final = "act"
"""Key of an act's own name with its number: ``Ley 9/2031``."""
ACT_DATE: Final = "act_date"
"""Key of the day of an act, ``YYYYMMDD``, as its title gives it."""

YEAR_NUMBER: Final = r"(?:[A-ZÑ]{2,6}/)?\d{1,4}/\d{1,4}(?:/(?:EU|UE|EC|CE|EEC|CEE|EG|EWG|JHA|JAI|JI|Euratom))?(?![\w/])"
UNION: Final = r"(?:\((?:EU|UE|EC|CE|EEC|CEE|EG|EWG)(?:, ?Euratom)?\)[ ])?(?:(?:[Nn][.]?[º°oO][.]?|Nr\.|No\.?)[ ]?)?"
# An act with its number: Ley 10/2014, Real Decreto-ley 5/2023, Commission Delegated Regulation (EU) 2017/565.
NUMBERED: Final = re.compile(
    rf"(?P<type>Ley(?:es)?(?:[ ](?:Org[áa]nica|Foral))?|Real(?:es)?[ ]Decretos?(?:[- ][Ll]ey|[ ]Legislativo)?"
    rf"|Decretos?(?:[- ][Ll]ey|[ ](?:Legislativo|Foral))?"
    r"|[ÓO]rden(?:es)?(?:[ ]Ministerial)?|Circular(?:es)?|Instrucci[óo]n(?:[ ]T[ée]cnica)?|Resoluci[óo]n"
    r"|(?:Reglamentos?|Directivas?|Decisi[óo]n(?:es)?|Recomendaci[óo]n)(?:[ ](?:Delegad[oa]s?"
    r"|de Ejecuci[óo]n))?(?:[ ](?:de la Comisi[óo]n|del Consejo))?"
    r"|(?:(?:Commission|Council)[ ])?(?:(?:Delegated|Implementing|Framework)[ ])?(?:Regulations?|Directives?"
    r"|Decisions?|Recommendations?)"
    r"|(?:Delegierten?[ ]|Durchf[üu]hrungs)?(?:Verordnung(?:en)?|Richtlinien?|Beschl[üu]ss(?:e|es)?"
    r"|Entscheidung)|Law|Royal Decree)[ ]"
    rf"(?P<number>{UNION}{YEAR_NUMBER})"
)
_SINGULAR: Final = {
    "leyes": "Ley", "reales decretos": "Real Decreto", "decretos": "Decreto", "órdenes": "Orden", "ordenes": "Orden",
    "circulares": "Circular", "reglamentos": "Reglamento", "directivas": "Directiva", "decisiones": "Decisión",
    "regulations": "Regulation", "directives": "Directive", "decisions": "Decision",
    "recommendations": "Recommendation", "verordnungen": "Verordnung", "richtlinien": "Richtlinie",
}  # fmt: skip
_PLURAL: Final = re.compile(rf"\b(?:{'|'.join(_SINGULAR)})\b", re.IGNORECASE)
_OWN_NUMBER: Final = re.compile(NUMBERED.pattern, re.IGNORECASE)
_LATEST_START: Final = 60  # code points before the number of the act that a title is of
_TITLE_REACH: Final = 200
_YEAR: Final = re.compile(r"(?:19|20|21)\d\d")
_DAY_OF_YEAR: Final = re.compile(
    r",?[ ]de[ ](?P<day>\d{1,2})\.?[ºª]?[ ]de[ ](?P<month>[a-z]{4,10})(?!\w)(?![ ]de[ ]\d)"
)


def clean_act(text: str) -> str:
    """Return a name of an act on one line, in the singular.

    Example:
        >>> clean_act("Commission Delegated Regulation (EU)  2017/565")
        'Commission Delegated Regulation (EU) 2017/565'
        >>> clean_act("Directives 2009/65/EC")
        'Directive 2009/65/EC'
    """
    words = " ".join(text.split())
    return _PLURAL.sub(lambda match: _SINGULAR[match.group().casefold()], words, count=1)


def own_number(name: str) -> str:
    """Return the first act with a number that a name holds, or nothing.

    Example:
        >>> own_number("texto refundido de la Ley de Aguas, aprobado por el Real Decreto Legislativo 1/2001")
        'Real Decreto Legislativo 1/2001'
    """
    match = _OWN_NUMBER.search(name)
    return match.group() if match else ""


def own_act(lines: Iterable[str]) -> tuple[str, str]:
    """Return the act that the first of some title lines names, and that line; nothing if none does.

    Example:
        >>> own_act(["Boletín", "LEY 9/2031, de 3 de mayo, de depósitos"])
        ('LEY 9/2031', 'LEY 9/2031, de 3 de mayo, de depósitos')
    """
    for line in lines:
        match = _OWN_NUMBER.search(line)
        if match and match.start() <= _LATEST_START:
            return clean_act(match.group()), line
    return "", ""


def act_metadata(title: str, lines: Iterable[str]) -> dict[str, MetadataValue]:
    """Return the name and the day of the act that a document is the text of, as far as its title says.

    Example:
        >>> act_metadata("Ley 9/2031, de 3 de mayo, de depósitos", [])
        {'act': 'Ley 9/2031', 'act_date': 20310503}
    """
    given = [title, *lines]
    name, line = own_act(given)
    if not name:
        return {}
    found: dict[str, MetadataValue] = {ACT: name}
    at = given.index(line)
    after = " ".join(given[at:])[line.find(name.split()[0]) :][:_TITLE_REACH]
    day = _act_date(name, after)
    return found | ({ACT_DATE: day} if day else {})


def _act_date(name: str, after: str) -> int | None:
    """Read the day behind the number: with its year, or in the year of the number."""
    short = _DAY_OF_YEAR.search(after)
    year = _YEAR.search(name)
    if short and year:
        return next((value for _, value in find_dates(f"{short['day']} de {short['month']} de {year.group()}")), None)
    return next((value for _, value in find_dates(after)), None)
