"""Tell what kind of document a text is, and its language.

SEC forms say what they are on a line of their cover. Everything else is weighed: the words of the title, of
the first pages, and lines whose form gives a kind away (``Artículo 5.``, ``Operator``), from ``kinds.json``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final

from fin_rag.loaders.filename import form_family, read_name
from fin_rag.schema import DOC_TYPE, DOC_TYPES, MetadataValue

_HEAD: Final = 6_000
_COVER: Final = 9_000
_BODY: Final = 120_000
_TITLE_LINES: Final = 4
_MAX_LINE: Final = 400
_ENOUGH: Final = 4.0
_SLICE: Final = 15_000

_FORM_LINE: Final = re.compile(
    r"^[^A-Za-z0-9\n]{0,80}(?:united states\W{1,9}securities and exchange commission.{0,40}?)?form[ \t]{0,8}"
    r"(?P<form>10-?[ \t]?K(?:405|SB|T)?|10-?[ \t]?Q(?:SB)?|8-?[ \t]?K|20-?F|40-?F|6-?K)(?P<amended>/A)?"
    r"(?=[\W_]*$|[ \t]*[(\[,;:–—-]|[ \t]+(?:for|pursuant|annual|quarterly|current|amendment|of)\b"
    r"|[^\S\n]{2,})",
    re.IGNORECASE | re.MULTILINE,
)
_SEC_COVER: Final = (
    (
        re.compile(r"\bannual\s+report\s+pursuant\s+to\s+section\s+13\s+or\s+15\s*\(d\)", re.IGNORECASE),
        "10-K",
    ),
    (
        re.compile(r"\bquarterly\s+report\s+(?:pursuant\s+to|under)\s+section\s+13\s+or\s+15\s*\(d\)", re.IGNORECASE),
        "10-Q",
    ),
    (
        re.compile(r"\bcurrent\s+report\W{1,6}pursuant\s+to\s+section\s+13\s+or\s+15\s*\(d\)", re.IGNORECASE),
        "8-K",
    ),
    (re.compile(r"\breport\s+of\s+foreign\s+private\s+issuer\b", re.IGNORECASE), "6-K"),
)
_SPOKEN: Final = re.compile(r"\w")
_WORD: Final = re.compile(r"[^\W\d_]+")
_SPANISH_MARK: Final = re.compile(r"[ñ¿¡]|[áéíóú]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Detection:
    """Say what kind a document is, how sure that is (0 to 1), and why.

    ``form`` is the SEC form as printed where it says more than its family (``10-K/A``, ``10-K405``).
    """

    doc_type: str
    confidence: float
    reason: str
    form: str = ""


def detect_kind(text: str, *, name: str = "", hints: Mapping[str, MetadataValue] | None = None) -> Detection:
    r"""Tell the kind of a document from its text, and from its name where the text is silent.

    Args:
        text: The canonical text; its first 120,000 code points are looked at.
        name: The file name.
        hints: What the format itself states; a ``doc_type`` in it decides.

    Example:
        >>> detect_kind("# Circular 7/2031, de 2 de junio\n\n###### Norma 1. Objeto.\n\nRegular.").doc_type
        'regulation'
        >>> detect_kind("FORM 10-K/A\n\nANNUAL REPORT PURSUANT TO SECTION 13 OR 15(d)").form
        '10-K/A'
    """
    stated = str((hints or {}).get(DOC_TYPE, ""))
    if stated:
        return _of_form(stated, 1.0, "stated by the source")
    cover = _sec_form(text)
    if cover and cover.confidence >= 0.9:
        return cover
    weighed = _weigh(text, str((hints or {}).get("title", "")))
    named = read_name(name).get(DOC_TYPE)
    if cover and (weighed.doc_type == "report" or named == cover.doc_type):
        return cover
    if weighed.doc_type == "report" and isinstance(named, str):
        return Detection(named, 0.5, f"the file name says {named}")
    return weighed


def _of_form(stated: str, confidence: float, reason: str) -> Detection:
    """Return a detection for a stated kind: one of ours, or an SEC form reduced to its family."""
    if stated in DOC_TYPES:
        return Detection(stated, confidence, reason)
    family = form_family(re.sub(r"/A$", "", stated.strip(), flags=re.IGNORECASE))
    if family in DOC_TYPES:
        return Detection(family, confidence, reason, form=stated.strip())
    if re.match(r"(?:424B|S-[1348]|F-[1348]|485|497|N-1A)", stated, re.IGNORECASE):
        return Detection("prospectus", confidence, reason, form=stated.strip())
    return Detection("report", confidence, reason, form=stated.strip())


def _sec_form(text: str) -> Detection | None:
    """Find the form on the cover of an SEC filing: its own line first, then the sentence under it."""
    cover = text[:_COVER]
    match = _FORM_LINE.search(cover)
    official = re.search(r"securities\s+(?:and|&)\s+exchange\s+commission|exact\s+name\s+of", cover, re.IGNORECASE)
    if match:
        printed = re.sub(r"\s", "", match["form"]).upper()
        printed = re.sub(r"^(10|8|20|40|6)(?=[KQF])", r"\1-", printed) + (match["amended"] or "").upper()
        sure = 0.98 if official else (0.9 if match.start() < 1500 else 0.6)
        family = form_family(printed)
        return Detection(family, sure, f"cover line 'Form {printed}'", form="" if printed == family else printed)
    for pattern, family in _SEC_COVER:
        if pattern.search(cover):
            return Detection(family, 0.9 if official else 0.7, f"cover sentence of a {family}")
    return None


@lru_cache(maxsize=1)
def _cues() -> dict[str, dict[str, list[tuple[re.Pattern[str], float, int]]]]:
    """Return the cues by kind and zone, each with its weight and the most often it may count."""
    data = json.loads(files(__package__).joinpath("kinds.json").read_text(encoding="utf-8"))
    flags = re.IGNORECASE | re.MULTILINE
    compiled: dict[str, dict[str, list[tuple[re.Pattern[str], float, int]]]] = {}
    for kind, zones in data["kinds"].items():
        compiled[kind] = {
            zone: [
                (
                    re.compile(cue if isinstance(cue, str) else cue[0], flags),
                    weight,
                    1 if isinstance(cue, str) else cue[1],
                )
                for cue in zones[zone]
            ]
            for zone, weight in data["weights"].items()
        }
    return compiled


def _zones(text: str, title: str) -> dict[str, str]:
    """Return the texts that the cues of each zone are tried on; long lines are cut to bound the cost."""
    body = "\n".join(line[:_MAX_LINE].strip() for line in text[:_BODY].splitlines() if _SPOKEN.search(line))
    first = [line for line in body[:3000].split("\n") if re.search(r"[^\W\d_]{2}", line)][:_TITLE_LINES]
    titles = "\n".join([title, *(line[:200] for line in first)])
    return {"title": titles, "head": body[:_HEAD], "lines": body, "support": body}


def _weigh(text: str, title: str) -> Detection:
    """Weigh the cues of every kind; the heaviest wins if it weighs enough."""
    zones = _zones(text, title)
    scores: dict[str, float] = {}
    reasons: dict[str, str] = {}
    for kind, by_zone in _cues().items():
        score, found = 0.0, []
        for zone, cues in by_zone.items():
            if zone == "support" and not score:
                break
            for pattern, weight, cap in cues:
                count, shown = _count(pattern, zones[zone], cap)
                score += weight * count
                if count:
                    found.append(shown)
                if count and zone == "title":
                    break
        scores[kind] = score
        reasons[kind] = ", ".join(repr(shown) for shown in found[:4])
    kind = min(scores, key=lambda k: (-scores[k], k))
    if scores[kind] < _ENOUGH:
        return Detection("report", 0.3, "no kind's words weigh enough")
    second = max(score for other, score in scores.items() if other != kind)
    confidence = round(min(0.97, scores[kind] / (scores[kind] + second + 1.0)), 2)
    return Detection(kind, confidence, f"words of {kind}: {reasons[kind]}")


def _count(pattern: re.Pattern[str], text: str, cap: int) -> tuple[int, str]:
    """Count matches up to ``cap``; also return the first one, shortened."""
    count, shown = 0, ""
    for match in pattern.finditer(text):
        count += 1
        shown = shown or " ".join(match.group().split())[:60]
        if count >= cap:
            break
    return count, shown


@lru_cache(maxsize=1)
def _function_words() -> dict[str, frozenset[str]]:
    data = json.loads(files(__package__).joinpath("function_words.json").read_text(encoding="utf-8"))
    return {language: frozenset(words) for language, words in data.items()}


def detect_language(text: str) -> str:
    """Tell English (``en``) from Spanish (``es``) by function words at the start, middle and end of a text.

    Where neither prevails, Spanish letters decide; a text without words is English.

    Example:
        >>> detect_language("El consejo propondrá un dividendo."), detect_language("Net sales rose.")
        ('es', 'en')
    """
    profile = language_profile(text)
    if profile["en"] == profile["es"]:
        return "es" if _SPANISH_MARK.search(text[:_SLICE]) else "en"
    return max(profile, key=lambda language: profile[language])


def language_profile(text: str) -> dict[str, float]:
    """Return the share of words that are function words of each language.

    English and Spanish prose has 0.3 and more of its own; other languages have far less of both.

    Example:
        >>> language_profile("el coste de la deuda")["es"]
        0.6
    """
    middle = max(len(text) // 2 - _SLICE // 2, _SLICE)
    parts = (text[:_SLICE], text[middle : middle + _SLICE], text[max(len(text) - _SLICE, middle + _SLICE) :])
    words = [word.casefold() for part in parts for word in _WORD.findall(part)]
    total = max(len(words), 1)
    return {
        language: round(sum(word in known for word in words) / total, 3)
        for language, known in sorted(_function_words().items())
    }
