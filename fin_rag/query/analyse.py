"""From a question to a plan."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Final

from fin_rag.query.issuers import find_issuers, find_missing
from fin_rag.query.lexicon import Lexicon
from fin_rag.query.library import Library
from fin_rag.query.model import Mention, MetricMatch, Period, QueryPlan, TopicMatch
from fin_rag.query.periods import find_periods
from fin_rag.query.vocabulary import (
    PhraseFinder,
    Token,
    corrected,
    finder,
    metrics_data,
    phrases,
    read_json,
    tokenize,
    topics_data,
)
from fin_rag.text.words import function_words

_SENTENCE: Final = re.compile(r"(?<=[?!])\s+|(?<=[a-z0-9)]\.)\s+(?=[A-ZÁÉÍÓÚ¿¡])")
_CLAUSE: Final = re.compile(r"[,:;]\s+")
_ITEM: Final = re.compile(r"\b[Ii]tem\s+(\d{1,2}(?:\.\d\d)?[A-Ca-c]?)\b")
_CODE: Final = re.compile(r"\b(?=\w*\d)(?=\w*[A-Z])[A-Z0-9]{6,}\b|\b\d{1,4}/\d{2,4}\b|\b\w+(?:[.&-]\w+)+\b")
_DEFINES: Final = re.compile(
    r"^\W*(?:how (?:do|does|is|are|did)|what (?:do|does|did|is meant by)|c[oó]mo|qu[eé])\b[^?.]{0,80}?"
    r"\b(?:defin\w+|exclu\w+|inclu\w+|leaves? out|signific\w+|consist\w+|mean(?:s|t)?)\b",
    re.IGNORECASE,
)
_SPANISH_MARK: Final = re.compile(r"[¿¡ñ]")
_LEAST_INSTRUCTION_SHARE: Final = 0.5
_MOST_CLAUSES: Final = 3
SEGMENTS: Final = "segments"


def analyse(
    question: str,
    library: Library,
    *,
    lexicon: Lexicon | None = None,
    occurs: Callable[[str], bool] = lambda _: True,
) -> QueryPlan:
    """Return what a question asks for.

    Args:
        question: as it was typed.
        library: the issuers and documents that the index holds.
        lexicon: the user's own terms.
        occurs: tells whether a folded word occurs in any text of the index; names that do not are missing ones.

    Example:
        >>> library = Library([(0, {"issuer": "Acme, Inc.", "title": "10-K 2024"})])
        >>> plan = analyse("Please tell me: what was Acme's capex in FY24?", library)
        >>> plan.mentions[0].entities, str(plan.periods[0]), plan.metrics[0].metric
        (('Acme, Inc.',), 'FY 2024', 'capex')
    """
    tokens, corrections = corrected(tokenize(question), occurs)
    mentions, reasons = find_issuers(tokens, library)
    missing = find_missing(question, tokens, mentions, occurs)
    reasons += corrections
    reasons += [f"{name!r}: not in the index" for name in missing]
    periods = find_periods(question)
    if periods:
        reasons.append(f"periods: {', '.join(str(period) for period in periods)}")
    core = _core(question, tokens, mentions, periods)
    content = [t for t in core if not _inside(t, mentions) and not _inside(t, periods) and not _possessive(question, t)]
    lang = _language(question, [t for t in tokens if not _inside(t, mentions)])
    growth = finder("growth").has(core)
    hits = finder("statements", exact=True).find(tokens)
    naming = [(tokens[hit.first].start, tokens[hit.last - 1].end) for hit in hits]
    naming += [(mention.start, mention.end) for mention in mentions]
    naming += [(period.start, period.end) for period in periods]
    unnamed = [
        t for t in core
        if not any(start <= t.start < end for start, end in naming) and not _possessive(question, t)
    ]  # fmt: skip
    metrics = _metrics(unnamed, question) or _metrics(tokens, question)
    topics = _topics(unnamed, question) + (lexicon.find(question, tokens) if lexicon else [])
    breakdown = finder("breakdown").has(core)
    if breakdown and metrics and all(topic.topic != SEGMENTS for topic in topics):
        topics.append(_topic(SEGMENTS, "", 0, 0))  # a figure by part of the business stands in the segment tables
    named, hinted = _kinds(tokens)
    reasons += [f"kind of document {kind!r} is named" for kind in named]
    reasons += [f"{match.text!r}: metric {match.metric} ({', '.join(match.items)})" for match in metrics]
    statements = tuple(dict.fromkeys(hit.label for hit in hits))
    compared = _compared(core, mentions, periods)
    turns = _turns(content, compared, growth=growth and bool(metrics))
    if compared:
        reasons.append(f"compared over {compared}")
    return QueryPlan(
        question=question,
        lang=lang,
        search=" ".join(t.text for t in content if t not in turns) or " ".join(t.text for t in content),
        clauses=_clauses(content, turns, metrics, topics),
        mentions=tuple(mentions),
        missing=tuple(missing),
        periods=tuple(periods),
        named_kinds=named,
        hinted_kinds=hinted,
        metrics=tuple(metrics),
        topics=tuple(topics),
        statements=statements,
        items=tuple(f"Item {match[1].upper()}" for match in _ITEM.finditer(question)),
        shape="definition" if _DEFINES.search(question) else _shape(core, metrics),
        identifiers=tuple(_codes(question, mentions, periods)),
        compared=compared,
        growth=growth,
        forward=finder("forward").has(core),
        breakdown=breakdown,
        adjusted=finder("adjusted", exact=True).has(core),
        newest=finder("newest").has(core),
        reasons=tuple(reasons),
    )


def _possessive(question: str, token: Token) -> bool:
    return token.folded == "s" and question[token.start - 1 : token.start] in ("'", "’")


def _inside(token: Token, parts: Sequence[Mention] | Sequence[Period]) -> bool:
    return any(part.start <= token.start and token.end <= part.end for part in parts)


# --- directions to the reader ----------------------------------------------------------------------


def _core(
    question: str, tokens: Sequence[Token], mentions: Sequence[Mention], periods: Sequence[Period]
) -> list[Token]:
    """Return the words that ask; sentences and clauses that direct the reader are left out."""
    pieces = _pieces(question)
    kept: list[Token] = []
    for start, end in pieces:
        part = [t for t in tokens if start <= t.start < end]
        if part and not _directs(question, start, end, part, mentions, periods):
            kept += part
    polite = {
        i for hit in finder("polite").find(kept) if hit.last - hit.first > 1 or kept[hit.first].folded != "hola"
        for i in range(hit.first, hit.last)
    }  # fmt: skip
    asked = [token for i, token in enumerate(kept) if i not in polite]
    return asked or list(tokens)


def _pieces(question: str) -> list[tuple[int, int]]:
    bounds = [0]
    bounds += [match.end() for match in _SENTENCE.finditer(question)]
    bounds += [match.end() for match in _CLAUSE.finditer(question)]
    bounds = sorted(set(bounds))
    return list(zip(bounds, [*bounds[1:], len(question)], strict=True))


def _directs(
    question: str,
    start: int,
    end: int,
    part: Sequence[Token],
    mentions: Sequence[Mention],
    periods: Sequence[Period],
) -> bool:
    """Tell whether a clause is a direction: mostly words of directions, no name and no question mark."""
    sentence_starts = start == 0 or question[:start].rstrip()[-1:] in ".?!"
    words = [t for t in part if t.folded not in function_words()]
    told = sum(t.folded in _instruction_words() for t in words)
    names = any(_inside(t, mentions) for t in part) or any(_inside(t, periods) for t in part)
    if "?" in question[start:end] or (names and told < len(words) * _LEAST_INSTRUCTION_SHARE):
        return False
    if sentence_starts and start and part[0].folded in ("if", "si") and told >= 2:
        return True
    return bool(words) and not names and told >= max(1, len(words) * _LEAST_INSTRUCTION_SHARE)


@cache
def _instruction_words() -> frozenset[str]:
    return frozenset(token.folded for text in phrases()["instructions"] for token in tokenize(text))


# --- language, kinds, shape ------------------------------------------------------------------------


def _language(question: str, tokens: Sequence[Token]) -> str:
    """Return ``es`` or ``en`` by function words, outside of names."""
    if _SPANISH_MARK.search(question):
        return "es"
    data = _words_of_language()
    spanish = sum(t.folded in data["es"] for t in tokens) - sum(t.folded in data["en"] for t in tokens)
    return "es" if spanish > 0 else "en"


@cache
def _words_of_language() -> dict[str, frozenset[str]]:
    """Return words that only one of the two languages uses, out of function words and terms."""
    from fin_rag.text.words import language_words

    words = {lang: set(language_words(lang)) for lang in ("en", "es")}
    for topic in topics_data()["topics"].values():
        for lang in ("en", "es"):
            words[lang] |= {token.folded for text in topic[lang] for token in tokenize(text)}
    return {
        "en": frozenset(words["en"] - words["es"]),
        "es": frozenset(words["es"] - words["en"]),
    }


@cache
def _kind_finders() -> tuple[PhraseFinder, PhraseFinder]:
    kinds = read_json("kinds.json")["kinds"]
    named = PhraseFinder({kind: entry["named"] for kind, entry in kinds.items()}, exact=True)
    return named, PhraseFinder({kind: entry["hinted"] for kind, entry in kinds.items()})


def named_kind_finder() -> PhraseFinder:
    """Return the finder of kinds of documents by name; labels are kinds."""
    return _kind_finders()[0]


def kind_doc_types(kind: str) -> tuple[str, ...]:
    """Return the ``doc_type`` values that a kind of ``kinds.json`` stands for."""
    return tuple(read_json("kinds.json")["kinds"][kind]["doc_types"])


def _kinds(tokens: Sequence[Token]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    named, hinted = _kind_finders()
    first = tuple(dict.fromkeys(hit.label for hit in named.find(tokens)))
    return first, tuple(dict.fromkeys(hit.label for hit in hinted.find(tokens) if hit.label not in first))


def _shape(tokens: Sequence[Token], metrics: Sequence[MetricMatch]) -> str:
    """Return the form that the answer has; the first cue decides, a yes-or-no verb only at the start."""
    hits = [hit for hit in finder("shapes", exact=True).find(tokens) if hit.label != "yes_no"]
    if hits:
        strong = [hit for hit in hits if hit.label != "amount"]
        first = min(hits, key=lambda hit: hit.first)
        return strong[0].label if first.label == "amount" and strong else first.label
    if metrics:
        return "amount"
    starts = finder("shapes", exact=True).find(tokens[:1])
    return "yes_no" if starts else "text"


# --- metrics and topics ----------------------------------------------------------------------------


@cache
def _metric_finder() -> PhraseFinder:
    data = metrics_data()
    return PhraseFinder({f"{g}.{key}": entry["names"] for g in data for key, entry in data[g].items()})


def formula_items(metric: str) -> tuple[str, ...]:
    """Return the line items of a metric of ``metrics.toml``, in the order of its formula."""
    data = metrics_data()
    if metric in data["item"]:
        return (metric,)
    ratio = data["ratio"][metric]
    if "items" in ratio:
        return tuple(ratio["items"])
    return tuple(dict.fromkeys(name for name in re.findall(r"[a-z_]+", ratio["formula"]) if name in data["item"]))


def _metrics(tokens: Sequence[Token], question: str) -> list[MetricMatch]:
    data = metrics_data()
    found: dict[str, MetricMatch] = {}
    for hit in _metric_finder().find(tokens):
        group, _, key = hit.label.partition(".")
        start, end = tokens[hit.first].start, tokens[hit.last - 1].end
        if key in found or _is_function(tokens[hit.first : hit.last]):
            continue
        items = formula_items(key)
        statements = tuple(dict.fromkeys(data["item"][item]["statement"] for item in items))
        formula = str(data["ratio"][key]["formula"]) if group == "ratio" else ""
        found[key] = MetricMatch(key, question[start:end], start, end, items, statements, formula)
    return list(found.values())


def _is_function(tokens: Sequence[Token]) -> bool:
    """Tell whether an abbreviation is a common word here: "ar", "da", "ap" in running text."""
    return len(tokens) == 1 and len(tokens[0].folded) <= 2 and not tokens[0].text.isupper()


@cache
def _topic_finder() -> PhraseFinder:
    return PhraseFinder({key: [*t["en"], *t["es"]] for key, t in topics_data()["topics"].items()})


def _topics(tokens: Sequence[Token], question: str) -> list[TopicMatch]:
    found: dict[str, TopicMatch] = {}
    for hit in _topic_finder().find(tokens):
        if hit.label not in found:
            start, end = tokens[hit.first].start, tokens[hit.last - 1].end
            found[hit.label] = _topic(hit.label, question[start:end], start, end)
    return list(found.values())


def _topic(name: str, text: str, start: int, end: int) -> TopicMatch:
    entry = topics_data()["topics"][name]
    return TopicMatch(
        name, text, start, end, (*entry["en"], *entry["es"]), tuple(entry["titles"]),
        items=tuple(entry.get("items", ())), opening=bool(entry.get("opening")),
    )  # fmt: skip


# --- shape of the search ---------------------------------------------------------------------------


def _compared(tokens: Sequence[Token], mentions: Sequence[Mention], periods: Sequence[Period]) -> str:
    """Say what is set side by side.

    Two issuers named are compared; issuers of one name ("which fund of Brand") are where a superlative asks which.
    """
    named = {key for mention in mentions for key in mention.entities}
    compares = finder("compare", exact=True).has(tokens)
    superlative = finder("superlative", exact=True).has(tokens)
    which = any(t.folded in phrases()["which"] for t in tokens[:4]) and finder("things").has(tokens)
    if len(mentions) > 1 and len(named) > 1:
        return "issuers"
    if len(named) > 1 and (superlative or which or compares):
        return "issuers"
    if not mentions and which and superlative:
        return "issuers"
    years = {(p.year, p.part) for p in periods if not p.names_document}
    return "periods" if len(years) > 1 else ""


@cache
def _joint_finder() -> PhraseFinder:
    return PhraseFinder({"joint": phrases()["clause_joints"]}, exact=True)


def _turns(content: Sequence[Token], compared: str, *, growth: bool) -> set[Token]:
    """Return the words that turn a question and are not looked for: "which fund has the lowest", "grew", "prospectus".

    What a comparison or a change is about stands in the other words.
    """
    groups = [finder("weak", exact=True)]
    if compared == "issuers":
        groups += [finder("superlative", exact=True), finder("things"), finder("compare", exact=True)]
    if growth:
        groups.append(finder("growth"))
    found = {
        token for group in groups for hit in group.find(content) for token in content[hit.first : hit.last]
    }  # fmt: skip
    for hit in _kind_finders()[0].find(content):
        found |= set(content[hit.first : hit.last])
    return found


def _clauses(
    content: Sequence[Token], turns: set[Token], metrics: Sequence[MetricMatch], topics: Sequence[TopicMatch]
) -> tuple[str, ...]:
    """Split "… and is it included in net debt?" off.

    A clause without a subject of its own ("and what does it leave out?") takes that of the first one.
    """
    cuts = [0, *(hit.first for hit in _joint_finder().find(content) if hit.first), len(content)]
    parts = []
    for first, last in pairwise(cuts):
        words = [t for t in content[first:last] if t not in turns]
        if any(token.folded not in function_words() for token in words):
            parts.append(words)
    if len(parts) < 2:
        return ()
    subjects: list[MetricMatch | TopicMatch] = [*metrics, *topics]
    end = parts[1][0].start
    first_subject = next((subject.text for subject in subjects if subject.start < end), "")
    texts = []
    for place, words in enumerate(parts[:_MOST_CLAUSES]):
        own = any(words[0].start <= subject.start <= words[-1].end for subject in subjects)
        text = " ".join(token.text for token in words)
        texts.append(text if own or not place or not first_subject else f"{first_subject} {text}")
    return tuple(texts)


def _codes(question: str, mentions: Sequence[Mention], periods: Sequence[Period]) -> list[str]:
    """Return exact identifiers: ISINs, codes, Items, tickers, marked words; no period and no form name."""
    found = []
    for match in _CODE.finditer(question):
        apart = not any(p.start < match.end() and match.start() < p.end for p in periods)
        if apart and any(char.isdigit() for char in match[0]):
            found.append(match[0])
    found += [mention.text for mention in mentions if "ticker" in mention.reason]
    return list(dict.fromkeys(found))
