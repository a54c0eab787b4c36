"""Settle the metadata of a document: what it says of itself, and above that what the caller says.

Sources, strongest first: the caller; what the format states (inline XBRL ``dei`` facts, a submission header,
a transcript service's fields); the cover or title page; the file name. A value that none of them states is
absent: a filing date, for example, is never guessed.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from typing import Final

from fin_rag.errors import InputError
from fin_rag.loaders.content import LoadedText
from fin_rag.loaders.cover import read_cover
from fin_rag.loaders.dates import as_date_number
from fin_rag.loaders.detect import Detection, detect_kind, detect_language
from fin_rag.loaders.filename import form_family, read_name, without_extension
from fin_rag.loaders.titlepage import read_title_page
from fin_rag.schema import (
    CIK,
    DOC_ID,
    DOC_TYPE,
    DOC_TYPES,
    FILED,
    FISCAL_PERIOD,
    FISCAL_YEAR,
    ISSUER,
    KEY_TYPES,
    LANG,
    PERIOD_END,
    SESSION_ID,
    SOURCE_SCOPE,
    TICKER,
    TITLE,
    MetadataValue,
    clean_metadata,
)
from fin_rag.text.canonical import text_sha256

FORM: Final = "form"
"""Key of the SEC form as filed where it says more than its family: ``10-K/A``, ``10-K405``."""

SEC_FORMS: Final = ("10-K", "10-Q", "8-K", "20-F", "40-F", "6-K")

_DATES: Final = (PERIOD_END, FILED)
_PERIODS: Final = ("FY", "Q1", "Q2", "Q3", "Q4")
_SCOPES: Final = ("public", "private")
_NAMES: Final = {
    ("annual_report", "es"): "Informe anual", ("annual_report", "en"): "Annual report",
    ("earnings_call", "es"): "Presentación de resultados", ("earnings_call", "en"): "Earnings call",
}  # fmt: skip
_STATE_SUFFIX: Final = re.compile(r"\s*[/\\][A-Z]{0,3}[/\\]?$")
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")


def document_metadata(
    loaded: LoadedText, *, name: str = "", caller: Mapping[str, object] | None = None
) -> dict[str, MetadataValue]:
    """Return the metadata of a document; a key that nothing states is absent.

    Always there: ``doc_id`` (the accession number, else the first 16 hexadecimal digits of the text's hash; of
    a private document with a mark of its session), ``title``, ``doc_type``, ``lang`` and ``source_scope``.

    Args:
        loaded: The text and what its format states.
        name: The file name, a hint where the document is silent.
        caller: The caller's values. They win; dates may be given as ``20240201``, ``"2024-02-01"`` or
            ``date`` objects, and keys of the caller's own pass through.

    Raises:
        InputError: if a value of the caller has the wrong type or is out of range.

    Example:
        >>> loaded = LoadedText("# Orbital, S.A. — Informe anual 2023")
        >>> found = document_metadata(loaded, caller={"filed": "2024-02-01"})
        >>> found["doc_type"], found["fiscal_year"], found["filed"], found["lang"]
        ('annual_report', 2023, 20240201, 'es')
    """
    given = caller_metadata(caller or {})
    named = read_name(name) if name else {}
    detected = _detect(loaded, name, given)
    if detected.doc_type in SEC_FORMS:
        page = read_cover(loaded.text, detected.doc_type)
        page.pop(TITLE, None)
        # A cover settles the period for good; a file name may only fill in what no cover states.
        if DOC_TYPE in named and named[DOC_TYPE] != detected.doc_type:
            named = {key: value for key, value in named.items() if key in (DOC_ID, CIK)}
        if PERIOD_END in page:
            named.pop(PERIOD_END, None)
        stated = {key: value for key, value in loaded.hints.items() if key != TITLE}
    else:
        page = read_title_page(loaded.text, detected.doc_type)
        stated = dict(loaded.hints)
        if page.get(TITLE):
            stated.pop(TITLE, None)
    named.pop(DOC_TYPE, None)
    found: dict[str, object] = {**_fitting(named, detected), **page, **stated, DOC_TYPE: detected.doc_type}
    if detected.form:
        found[FORM] = detected.form
    found.setdefault(LANG, detect_language(loaded.text))
    found.setdefault(SOURCE_SCOPE, "public")
    found.setdefault(DOC_ID, text_sha256(loaded.text)[:16])
    _tidy(found)
    if SESSION_ID in given:
        # A private copy is another document than a public one, or than another session's.
        owner = text_sha256(str(given[SESSION_ID]))[:8]
        found[DOC_ID] = f"{found[DOC_ID]}~{owner}"
    found.update(given)
    found[TITLE] = given.get(TITLE) or _title(found, name)
    return clean_metadata(found)


def _detect(loaded: LoadedText, name: str, given: Mapping[str, MetadataValue]) -> Detection:
    if DOC_TYPE in given:
        return Detection(str(given[DOC_TYPE]), 1.0, "given by the caller")
    return detect_kind(loaded.text, name=name, hints=loaded.hints)


def _fitting(named: Mapping[str, MetadataValue], detected: Detection) -> dict[str, MetadataValue]:
    """Keep of a name's hints what fits the kind: an event report has no fiscal period, a law no ticker."""
    drop: tuple[str, ...] = ()
    if detected.doc_type in ("8-K", "6-K"):
        drop = (FISCAL_YEAR, FISCAL_PERIOD)
    elif detected.doc_type not in SEC_FORMS:
        drop = (TICKER, PERIOD_END, CIK)
        if detected.doc_type == "regulation" or (detected.doc_type == "report" and FISCAL_PERIOD not in named):
            drop = (*drop, FISCAL_YEAR, FISCAL_PERIOD)
    return {key: value for key, value in named.items() if key not in drop}


def _tidy(found: dict[str, object]) -> None:
    """Bring found values into the contract's form; a value that cannot be is dropped."""
    if found.get(DOC_TYPE) in ("10-K", "20-F", "40-F") and FISCAL_YEAR in found:
        found[FISCAL_PERIOD] = "FY"
    issuer = found.get(ISSUER)
    if isinstance(issuer, str):
        found[ISSUER] = _STATE_SUFFIX.sub("", re.sub(r"\s+([.,])", r"\1", " ".join(issuer.split())))
    period = found.get(FISCAL_PERIOD)
    if period is not None and period not in _PERIODS:
        del found[FISCAL_PERIOD]
    for key in list(found):
        wanted = KEY_TYPES.get(key)
        value = found[key]
        if value in ("", None) or (wanted and (not isinstance(value, wanted) or isinstance(value, bool))):
            del found[key]


def _title(found: Mapping[str, object], name: str) -> str:
    """Return a title: for SEC forms and where none was found, the kind with its period."""
    doc_type, language = str(found.get(DOC_TYPE)), str(found.get(LANG))
    year, period = found.get(FISCAL_YEAR), found.get(FISCAL_PERIOD)
    if doc_type in SEC_FORMS:
        form = str(found.get(FORM, doc_type))
        if doc_type in ("8-K", "6-K"):
            return " ".join(filter(None, (form, _iso(found.get(PERIOD_END)))))
        parts = (form, str(year or ""), str(period) if period and period != "FY" else "")
        return " ".join(filter(None, parts))
    title = str(found.get(TITLE) or "")
    kind = _NAMES.get((doc_type, language), "")
    if kind and year and not _YEAR.search(title):
        # Reports of two years often have the same heading; the period tells them apart.
        issuer = str(found.get(ISSUER) or "")
        shown = kind if not title or (issuer and title.startswith(issuer)) else title
        return " ".join(filter(None, (shown, str(period) if period and period != "FY" else "", str(year))))
    return title or kind or without_extension(name) or doc_type


def _iso(value: object) -> str:
    return f"{value // 10000}-{value // 100 % 100:02d}-{value % 100:02d}" if isinstance(value, int) else ""


def caller_metadata(values: Mapping[str, object]) -> dict[str, MetadataValue]:
    """Check a caller's metadata and bring them into the contract's form; ``None`` means not given.

    Raises:
        InputError: if a value has the wrong type or is out of range, or if scope and session do not go
        together.

    Example:
        >>> caller_metadata({"cik": 320193, "fiscal_year": "2024", "doc_type": "10k", "fiscal_period": "q2"})
        {'cik': '0000320193', 'fiscal_year': 2024, 'doc_type': '10-K', 'fiscal_period': 'Q2'}
    """
    checked: dict[str, object] = {}
    for key, value in values.items():
        if value is None:
            continue
        checked[key] = _checked(key, value)
    scope, session = checked.get(SOURCE_SCOPE), checked.get(SESSION_ID)
    if scope == "private" and not session:
        raise InputError("A private document needs a 'session_id'; without one nobody could ever see it. Pass it.")
    if session and scope != "private":
        raise InputError(
            "A 'session_id' belongs to a private document. Pass source_scope='private' too, or leave it out."
        )
    return clean_metadata(checked)


def _checked(key: str, value: object) -> object:
    if key in _DATES:
        return as_date_number(value, key=key)
    if key == FISCAL_YEAR:
        return _fiscal_year(value)
    if key == CIK:
        return _cik(value)
    wanted = KEY_TYPES.get(key)
    if wanted is str and not isinstance(value, str):
        raise InputError(f"Metadata {key!r} must be a string. Got {type(value).__name__}: {value!r}.")
    if isinstance(value, str) and key in _NORMAL:
        return _NORMAL[key](value.strip())
    return value


def _fiscal_year(value: object) -> int:
    number = int(value) if isinstance(value, str) and re.fullmatch(r"\s*\d{4}\s*", value) else value
    if isinstance(number, bool) or not isinstance(number, int) or not 1900 <= number <= 2199:
        raise InputError(f"Metadata 'fiscal_year' must be a year such as 2024. Got {value!r}.")
    return number


def _cik(value: object) -> str:
    digits = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if not re.fullmatch(r"\d{1,10}", digits):
        raise InputError(f"Metadata 'cik' must be up to ten digits, such as '0000320193'. Got {value!r}.")
    return digits.zfill(10)


def _doc_type(value: str) -> str:
    """Return a kind in the contract's spelling; the caller's own kinds pass, a slip of the pen does not."""
    plain = re.sub(r"[\s-]+", "_", value.lower())
    if value in DOC_TYPES or plain in DOC_TYPES:
        return value if value in DOC_TYPES else plain
    bare = re.sub(r"^form\s+", "", value, flags=re.IGNORECASE)
    family = form_family(bare)
    if family in DOC_TYPES and re.fullmatch(r"[\w-]{3,8}(?:/A)?", bare, re.IGNORECASE):
        return family
    near = difflib.get_close_matches(plain, [kind.lower() for kind in DOC_TYPES], n=1, cutoff=0.85)
    if near or not value:
        raise InputError(
            f"Metadata 'doc_type' is {value!r}. Did you mean {near[0] if near else 'report'!r}? "
            f"Known kinds: {', '.join(DOC_TYPES)}."
        )
    return value


def _one_of(key: str, allowed: tuple[str, ...], value: str) -> str:
    if value not in allowed:
        raise InputError(f"Metadata {key!r} must be one of {', '.join(allowed)}. Got {value!r}.")
    return value


def _language(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z]{2,3}", value):
        raise InputError(f"Metadata 'lang' must be a language code such as 'en' or 'es'. Got {value!r}.")
    return value.lower()


def _fiscal_period(value: str) -> str:
    return _one_of(FISCAL_PERIOD, _PERIODS, value.upper())


def _source_scope(value: str) -> str:
    return _one_of(SOURCE_SCOPE, _SCOPES, value.lower())


_NORMAL: Final[Mapping[str, Callable[[str], str]]] = {
    DOC_TYPE: _doc_type,
    TICKER: str.upper,
    LANG: _language,
    FISCAL_PERIOD: _fiscal_period,
    SOURCE_SCOPE: _source_scope,
}
