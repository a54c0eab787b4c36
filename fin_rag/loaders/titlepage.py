"""Read titles and first pages of documents that are no SEC forms: calls, reports, prospectuses, KIDs, rules.

What is not stated in so many words is left out.
"""

from __future__ import annotations

import re
from typing import Final

from fin_rag.loaders.act_title import ACT, act_metadata
from fin_rag.loaders.dates import find_dates, first_date, first_numeric_date
from fin_rag.schema import FILED, FISCAL_PERIOD, FISCAL_YEAR, ISSUER, PERIOD_END, TICKER, TITLE, MetadataValue

ISIN: Final = "isin"

_HEAD: Final = 6_000
_TOP: Final = 1_600
_MAX_TITLE: Final = 120
_TOP_LINES: Final = 12

_HEADING: Final = re.compile(r"^#{1,6}[ \t]+(\S.*?)[ \t#]*$")
_FRONT_MATTER: Final = re.compile(
    r"\A\ufeff?---[ \t]*\r?\n(?P<body>.{0,8000}?)\r?\n---[ \t]*\r?$", re.DOTALL | re.MULTILINE
)
_FRONT_TITLE: Final = re.compile(r"^title:[ \t]*[\"']?(?P<title>[^\r\n]+?)[\"']?[ \t]*\r?$", re.MULTILINE)
_DULL: Final = re.compile(
    r"^\W*(?:table of contents|contents|[íi]ndice|index|exhibit\b.{0,20}|anexo\b.{0,6}|image source.*"
    r"|page \d+|p[áa]gina \d+|for immediate release|press release|nota de prensa|\d+|<[^>]*>|united states"
    r"|transcripci[óo]n|edited transcript)\W*$",
    re.IGNORECASE,
)
_KIND_WORDS: Final = re.compile(
    r"\binforme (?:anual|financiero|integrado|de gesti[óo]n|semestral|trimestral)|\bcuentas anuales"
    r"|\bannual (?:report|accounts)|\bfolleto|\bprospectus|\bdatos fundamentales"
    r"|\bkey (?:investor )?information|\b(?:nota|informe) de (?:research|an[áa]lisis)"
    r"|\bresearch (?:note|report)|\bearnings (?:conference )?call|\bconference call|\bresultados\b"
    r"|\bresults\b|\bcall transcript|\bfollow[- ]up call",
    re.IGNORECASE,
)
_UPPER: Final = "A-ZÁÉÍÓÚÑ"
_NAME_WORD: Final = rf"(?:(?-i:[{_UPPER}&])[\w&.'’-]{{0,40}}|of|and|the|de|del|y|la)"
_EXCHANGE: Final = (
    r"(?:NYSE(?: American)?|(?:NASDAQ|Nasdaq)(?:GS|GM|CM)?|AMEX|LSE|TSX|ASX|BME|BMV|XETRA|EPA|SIX|HKEX"
    r"|OTC\w*)"
)
_LISTED: Final = re.compile(
    rf"(?<![\w&.'’-])(?P<name>[{_UPPER}][\w&.'’-]{{0,40}}(?:,? {_NAME_WORD}){{0,7}}),? ?"
    rf"\(?{_EXCHANGE} ?: ?(?P<ticker>[A-Z]{{1,6}}(?:\.[A-Z])?)\b"
)
_SYMBOL_LINE: Final = re.compile(
    rf"^(?P<name>[{_UPPER}][^()|\n]{{1,70}}?) \((?P<ticker>[A-Z]{{1,5}}(?:\.[A-Z]{{1,2}})?)(?: [-+−]?[\d.]+ ?%)?\)"
)
_QUARTER_FIRST: Final = re.compile(
    r"^(?P<symbol>[A-Z]{2,5}) F?Q[1-4] (?:FY)?20\d\d\b"
    rf"|\bF?Q[1-4] (?:FY)?20\d\d (?P<inner>[{_UPPER}].{{1,60}}?) (?:Earnings|Conference) (?:Conference )?Call"
    rf"|^(?P<lead>[{_UPPER}].{{1,60}}?),? F?Q[1-4] (?:FY)?20\d\d\b"
)
_ANNOUNCES: Final = re.compile(
    r"^(?P<name>\S.{1,60}?),? (?:reports|announces|releases|publica|anuncia|presenta|comunica)\b",
    re.IGNORECASE,
)
_LABEL: Final = re.compile(
    r"^[^\w\n]{0,9}(?P<label>company|issuer|emisor|compañ[íi]a|sociedad gestora|gestora|productor"
    r"|manufacturer|management company|manager)\W{1,8}(?P<value>[^|\n]{2,100}?)[ \t|*]*$",
    re.IGNORECASE | re.MULTILINE,
)
_MANAGED: Final = re.compile(
    r"\b(?:gestionad[oa] por|managed by|emitid[oa] por|issued by|elaborad[oa] por|prepared by) "
    rf"(?P<name>{_NAME_WORD}(?:,? {_NAME_WORD}){{0,6}})",
    re.IGNORECASE,
)
_LEGAL: Final = re.compile(
    rf"^(?P<name>[{_UPPER}][^|\n]{{1,80}}?,? (?:S\. ?A\.(?: ?U\.)?|S\.L\.(?:U\.)?|S\. ?A\. ?B\. de C\.V\."
    r"|SGIIC|SOCIMI|plc|PLC|Inc\.?|Corp\.?|Corporation|Ltd\.?|Limited|LLC|AG|SE|N\.V\.)(?:, S\. ?A\.)?)"
    r"(?=$|[\s,—–-])"
)
_GROUP: Final = re.compile(
    r",? (?:y (?:sus )?(?:sociedades dependientes|filiales)|and (?:its )?subsidiaries)\b.*$", re.IGNORECASE
)
_YEAR_ENDED: Final = re.compile(
    r"\b(?:ejercicios?|a[ñn]os?)(?: anual(?:es)?| econ[óo]micos?)? (?:terminados?|cerrados?|finalizados?)"
    r" (?:el|a|al)\b|\byears? ended\b|\bfiscal year end(?:ed|ing)\b",
    re.IGNORECASE,
)
_PERIOD_ENDED: Final = re.compile(r"\b(?:period|quarter|year|months) (?:ended|ending)\b", re.IGNORECASE)
_ORDINALS: Final = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "primer": 1, "segundo": 2, "tercer": 3, "cuarto": 4,
}  # fmt: skip
_QUARTER: Final = re.compile(
    r"\bF?Q(?P<n>[1-4])[ ,'-]{0,2}(?:of )?(?:fiscal )?(?:year )?(?:FY)?(?P<y>20\d\d)\b"
    r"|\b(?P<n2>[1-4])Q[ -]?(?P<y2>20\d\d)\b|\b(?P<n3>[1-4])T[ -]?(?P<y3>20\d\d)\b"
    r"|\b(?P<o>first|second|third|fourth)[ -]quarter(?: and full[ -]year)?(?: of)?,?(?: fiscal)?(?: year)?"
    r" (?P<y4>20\d\d)\b"
    r"|\b(?P<o2>primer|segundo|tercer|cuarto) trimestre (?:de |del )?(?:ejercicio |a[ñn]o )?(?P<y5>20\d\d)\b",
    re.IGNORECASE,
)
_YEAR: Final = re.compile(
    r"(?:\b(?:ejercicio|informe anual|cuentas anuales|annual report|annual accounts|folleto|prospectus"
    r"|cobertura"
    r"|initiation|fiscal(?: year)?|full[ -]year|FY)|\((?:kid|kiid)\))"
    r"(?: de(?:l)?| for| of)?(?: ejercicio| a[ñn]o)? ?(?P<y>20\d\d)\b",
    re.IGNORECASE,
)
_CALL_TIME: Final = re.compile(r"^,?\s*(?:at\s+)?\d{1,2}:\d\d|^T\d\d:", re.IGNORECASE)
_DATE_LABEL: Final = re.compile(r"^\W*(?:date|fecha)\b", re.IGNORECASE)
_PRODUCT: Final = re.compile(
    r"^[^\w\n]{0,9}(?:nombre del producto|producto|product name|name of (?:the )?product|product)[ :*]{1,8}"
    r"(?P<name>[^\n|]{4,90}?)[ *]*$",
    re.IGNORECASE | re.MULTILINE,
)
_ISIN: Final = re.compile(r"\bISIN\b\W{0,12}(?P<isin>[A-Z]{2}[A-Z0-9]{9}\d)\b")


def read_title_page(text: str, doc_type: str) -> dict[str, MetadataValue]:
    r"""Return what the first page of a document states about it.

    Keys are ``title``, ``issuer``, ``ticker``, ``fiscal_year``, ``fiscal_period``, ``period_end`` and
    ``isin``; a call's date, at which its words became public, is ``filed``.

    Example:
        >>> page = read_title_page("# Orbital, S.A. — Informe anual 2023\n\nTexto.", "annual_report")
        >>> page["issuer"], page["fiscal_year"]
        ('Orbital, S.A.', 2023)
    """
    title = find_title(text)
    lines = _top_lines(text)
    found: dict[str, MetadataValue] = {TITLE: title} if title else {}
    if doc_type == "regulation":
        act = act_metadata(title, lines)
        name = str(act.get(ACT, ""))
        if name and name not in title:  # a running head or a publisher's code stands above the title
            found[TITLE] = _shorten(next((line[line.find(name) :] for line in lines if name in line), title))
        return {**found, **act}
    found.update(_who(text[:_HEAD], lines, title, doc_type))
    found.update(_period(text[:_HEAD], lines, doc_type))
    if doc_type == "earnings_call":
        held = call_date(text[:_TOP])
        if held:
            found[FILED] = held
        named = (line for line in lines if _KIND_WORDS.search(line) or _QUARTER.search(line))
        found[TITLE] = _shorten(next(named, ""))
    product = _PRODUCT.search(text[:_HEAD].replace("|", " ")) if doc_type == "kid" else None
    if product and product["name"] not in title:
        found[TITLE] = f"{product['name'].strip()} — {title}"
    isin = _ISIN.search(text[:_HEAD].replace("|", " "))
    if isin and doc_type in ("kid", "prospectus"):
        found[ISIN] = isin["isin"]
    return {key: value for key, value in found.items() if value}


def find_title(text: str) -> str:
    r"""Return a document's title: its front matter's, its first heading, or its first telling line.

    Example:
        >>> find_title("Índice\n\n# Circular 7/2031, sobre boletines\n\nTexto")
        'Circular 7/2031, sobre boletines'
    """
    front = _FRONT_MATTER.match(text)
    if front:
        named = _FRONT_TITLE.search(front["body"])
        if named:
            return named["title"][:_MAX_TITLE]
    first = ""
    for line in text[front.end() if front else 0 :][:3000].split("\n"):
        heading = _HEADING.match(line.strip())
        plain = _plain(heading[1] if heading else line)
        if not plain or _DULL.match(plain) or not re.search(r"[^\W\d_]{2}", plain):
            continue
        if heading:
            return _shorten(plain)
        first = first or plain
    return _shorten(first)


def _shorten(title: str) -> str:
    if len(title) <= _MAX_TITLE:
        return title
    return title[:_MAX_TITLE].rsplit(" ", 1)[0].rstrip(" ,;:")


def _plain(line: str) -> str:
    return " ".join(re.sub(r"[*_`\\]+|^[#>\s]+", " ", line).split()).strip(" |")


def _top_lines(text: str) -> list[str]:
    """Return the first telling lines without marks; the title is among them."""
    lines = (_plain(line) for line in text[:_TOP].split("\n"))
    return [line for line in lines if len(line) > 2 and not _DULL.match(line)][:_TOP_LINES]


def _who(head: str, lines: list[str], title: str, doc_type: str) -> dict[str, MetadataValue]:
    """Return issuer and ticker as the first page states them."""
    found: dict[str, MetadataValue] = {}
    flat = re.sub(r"[*_]+|\\", "", head)
    if doc_type == "earnings_call":
        symbol = next((m for m in map(_SYMBOL_LINE.match, lines[:6]) if m), None)
        if symbol:
            return {ISSUER: symbol["name"].strip(" ,"), TICKER: symbol["ticker"]}
    listed = _LISTED.search(flat)
    if listed and doc_type in ("earnings_call", "report", "research", "annual_report"):
        found = {ISSUER: listed["name"].strip(" ,"), TICKER: listed["ticker"]}
        if doc_type != "research":
            return found
    if doc_type == "earnings_call":
        return _who_calls(lines)
    if doc_type in ("kid", "prospectus", "research"):
        label = next((m for m in _LABEL.finditer(flat) if m["label"].lower() not in ("company", "compañía")), None)
        managed = _MANAGED.search(flat)
        if label:
            found[ISSUER] = label["value"].strip(" ,:")
        elif managed:
            found[ISSUER] = managed["name"].strip(" ,.") if not managed["name"].endswith("S.A.") else managed["name"]
        return found
    announced = _ANNOUNCES.match(title) if doc_type == "report" else None
    if announced:
        return {ISSUER: announced["name"]}
    name = _of_title(title) or next((m["name"] for m in map(_LEGAL.match, lines[:4]) if m), "")
    return {ISSUER: _GROUP.sub("", name)} if name else {}


def _who_calls(lines: list[str]) -> dict[str, MetadataValue]:
    found: dict[str, MetadataValue] = {}
    for line in lines[:6]:
        label = _LABEL.match(line)
        if label and not label["value"].isupper():
            return {**found, ISSUER: label["value"].strip()}
        named = _QUARTER_FIRST.search(line)
        legal = _LEGAL.match(line)
        if named and named["symbol"]:
            found[TICKER] = named["symbol"]
        elif named:
            return {**found, ISSUER: (named["inner"] or named["lead"]).strip(" ,:–—|-")}
        elif legal and len(line) < 100:
            return {**found, ISSUER: legal["name"]}
    return found


def _of_title(title: str) -> str:
    """Return the issuer in a title of the form ``Issuer — Annual report 2023``."""
    parts = [part.strip() for part in re.split(r"\s+[—–|-]\s+|:\s+", title) if part.strip()]
    if len(parts) < 2 or not any(_KIND_WORDS.search(part) for part in parts):
        legal = _LEGAL.match(title)
        return legal["name"] if legal else ""
    return next((part for part in parts if not _KIND_WORDS.search(part) and re.search(r"[^\W\d_]{2}", part)), "")


def _period(head: str, lines: list[str], doc_type: str) -> dict[str, MetadataValue]:
    """Return fiscal year, period and period end as the title or the first page states them."""
    found: dict[str, MetadataValue] = {}
    flat = " ".join(re.sub(r"[*_#|\\]+", " ", head).split())
    end = _end_date(flat, _YEAR_ENDED)
    if doc_type == "annual_report" and end:
        return {PERIOD_END: end, FISCAL_YEAR: end // 10000, FISCAL_PERIOD: "FY"}
    # A report says anything on its first page; only its title tells what it is about itself.
    top = "\n".join(lines[:1] if doc_type == "report" else lines)
    quarter = _QUARTER.search(top) or (_QUARTER.search(flat[:_TOP]) if doc_type == "earnings_call" else None)
    year = _YEAR.search(top)
    if quarter:
        number = quarter["n"] or quarter["n2"] or quarter["n3"]
        word = quarter["o"] or quarter["o2"]
        found[FISCAL_PERIOD] = f"Q{number or _ORDINALS[word.lower()]}"
        found[FISCAL_YEAR] = int(next(quarter[k] for k in ("y", "y2", "y3", "y4", "y5") if quarter[k]))
    elif year:
        found[FISCAL_YEAR] = int(year["y"])
        if doc_type == "annual_report":
            found[FISCAL_PERIOD] = "FY"
    if doc_type in ("earnings_call", "report"):
        ended = _end_date(flat[:_TOP], _PERIOD_ENDED)
        if ended and found:
            found[PERIOD_END] = ended
    return found


def _end_date(flat: str, pattern: re.Pattern[str]) -> int | None:
    for match in pattern.finditer(flat):
        near = flat[match.end() : match.end() + 50]
        value = first_date(near) or first_numeric_date(near)
        if value:
            return value
    return None


def call_date(head: str) -> int | None:
    r"""Return the day a call was held: a date with a time of day, a labelled one, or one on its own line.

    Example:
        >>> call_date("Call for the period ending June 29, 2024.\n\nAug 8, 2024, 8:30 a.m. ET")
        20240808
    """
    loose: int | None = None
    timed: list[int] = []
    for line in head.split("\n"):
        plain = _plain(line)
        for offset, value in find_dates(plain):
            if re.search(r"(?:ended|ending|ends|terminado el|cerrado el)\W*$", plain[:offset], re.IGNORECASE):
                continue
            rest = plain[offset:]
            after = re.sub(r"^.{0,24}?(?:19|20)\d\d(?:-\d\d-\d\d)?", "", rest, count=1)
            if _CALL_TIME.match(after) or re.search(r"\bat \d{1,2}:\d\d", after[:20]):
                timed.append(value)
            elif loose is None and (_DATE_LABEL.match(plain) or len(plain) < 60 or _KIND_WORDS.search(plain)):
                loose = value
    return timed[0] if timed else loose
