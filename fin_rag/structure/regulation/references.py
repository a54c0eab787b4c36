"""Find the cross-references of a statute and resolve them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from fin_rag.loaders.act_title import NUMBERED, clean_act, own_act
from fin_rag.schema import Span
from fin_rag.structure.regulation import zones as zone
from fin_rag.structure.regulation.act_names import named_before
from fin_rag.structure.regulation.acts import (
    Acts,
    OwnNames,
    act_class,
    act_key,
    cfr_title,
    more_numbers,
)
from fin_rag.structure.regulation.address import prefixes
from fin_rag.structure.regulation.build import Built
from fin_rag.structure.regulation.citations import Cited, read_citation
from fin_rag.structure.regulation.civil_words import AND, CONTAINER_KINDS, ITEM_KINDS, TRIGGER
from fin_rag.structure.regulation.lines import merged, plain_text
from fin_rag.structure.regulation.model import EXTERNAL, INTERNAL, Provision, Reference
from fin_rag.structure.regulation.numbers import fold
from fin_rag.structure.regulation.resolve import Resolver
from fin_rag.structure.regulation.segments import RANK, Item, Steps
from fin_rag.structure.regulation.systems import CIVIL
from fin_rag.structure.regulation.us_citations import coded_citations

_TITLE_LINES: Final = 12
_AMENDS: Final = re.compile(
    r"queda[n]?[ ](?:modificad|redactad|sin[ ]contenido)|se[ ](?:modifica|a[ñn]ade|suprime|sustituye"
    r"|introduce|da[ ]nueva)|(?:is|are)[ ](?:hereby[ ])?(?:amended|replaced|inserted|added|deleted|repealed)"
    r"|wird[ ]wie[ ]folgt|se[ ]introducen",
    re.IGNORECASE,
)
_PARTS: Final = re.compile(r",[ \n]+(?:y|e|o|u|and|or|und|oder)(?!\w)|[ \n]*\w+[ \n]+(?:en|a|al|de|del|to|in|of)(?!\w)")
_EXCEPT: Final = re.compile(r"(?:except|excepto|salvo|ausgenommen)(?!\w)[^.;,\n]{0,40}\Z")
_BASIS: Final = re.compile(r"[ ]*(?:Having regard to|Vist[oa]s? |Gest[üu]tzt auf)", re.IGNORECASE)
_AND_IN_IT: Final = re.compile(
    r"(?:[ ]?\([^()\n]{1,40}\))?(?:,[ ]de[ ]\d{1,2}[ ]de[ ][a-z]{4,10}(?:[ ]de[ ]\d{4})?)?"
    r"(?:,[ ](?:(?:y[ ]en[ ]particular|in[ ]particular|and[ ]in[ ]particular|en[ ]particular)[ ])?"
    r"|[ ](?=sus?[ ]|en[ ]sus?[ ]|in[ ]its[ ]))(?:(?:en[ ])?sus?[ ]|in[ ]its[ ]|its[ ])?"
)
_CORRELATION: Final = re.compile(r"correlat|correspond|concordan|entsprechung", re.IGNORECASE)
_AMENDING_TITLE: Final = re.compile(
    r"(?:modificaci[óo]n(?:es)?|reforma|amendments?|[ÄA]nderung(?:en)?)[ ](?:de[ ](?:la|el|los|las)?|del|to"
    r"|of|der|des)?",
    re.IGNORECASE,
)


def own_names(built: Built, title: str) -> OwnNames:
    """Find out how the act is called: from its metadata, else from the lines above its first provision."""
    first = next((i for i, h in enumerate(built.scan.headings) if h is not None), len(built.scan.lines))
    printed = [
        plain_text(line.text)
        for line, kind in zip(built.scan.lines[:first], built.scan.zones, strict=False)
        if kind in ("", zone.FRONT)
    ]
    candidates = [
        title,
        *(
            re.sub(r"\A(?:t[ií]tulo|title|name)\s?:\s?[\"']?", "", line, flags=re.IGNORECASE)
            for line in printed[:_TITLE_LINES]
        ),
    ]
    code = next((number for text in candidates if (number := cfr_title(text))), "")
    name, _ = own_act(candidates)
    if name:
        return OwnNames(name, frozenset({act_key(name)}), act_class(name), code)
    named = next(
        (
            text
            for text in candidates
            if act_class(text.split(",")[0][:40]) and len(text) < 160 and not text.endswith((".", ":"))
        ),
        "",
    )
    return OwnNames(named, frozenset({act_key(named)} if named else ()), act_class(named[:40]) if named else "", code)


def find_references(built: Built, provisions: Sequence[Provision], own: OwnNames) -> tuple[Reference, ...]:
    """Return the references of a statute in order."""
    resolver = Resolver(built.view, provisions)
    acts = Acts(own)
    silent = _silent(built, provisions)
    if built.scan.system == CIVIL:
        found = list(_civil(built, resolver, acts, silent))
    else:
        found = list(coded_citations(built, resolver, acts, silent))
    return tuple(sorted(found, key=lambda ref: (ref.span.start, ref.span.end)))


def _silent(built: Built, provisions: Sequence[Provision]) -> tuple[Span, ...]:
    """Return what is searched for no reference: notes, quotations, furniture, contents, the headings themselves."""
    headings = [p.label for p in provisions if ":" in p.address.rpartition("/")[2] or p.kind in ("preamble", "group")]
    notes = [span for span, _ in built.notes]
    first = min((p.span.start for p in provisions), default=len(built.view))
    tables = [p.span for p in provisions if p.kind == "annex" and _CORRELATION.search(p.heading)]
    return merged([*headings, *tables, *notes, *built.furniture, *built.silent, *built.quotes, Span(0, first)])


def gaps_between(silent: Sequence[Span], length: int) -> Iterator[Span]:
    """Yield the spans that are searched."""
    at = 0
    for span in silent:
        if span.start > at:
            yield Span(at, span.start)
        at = max(at, span.end)
    if at < length:
        yield Span(at, length)


def _civil(built: Built, resolver: Resolver, acts: Acts, silent: Sequence[Span]) -> Iterator[Reference]:
    view = built.view
    context = _Context(built, resolver, acts)
    pending: list[Cited] = []
    quiet = list(gaps_between(silent, len(view)))
    for span in quiet:
        at = span.start
        while match := TRIGGER.search(view, at, span.end):
            cited = read_citation(view, match.start(), span.end, acts) or _mention(view, match.start(), span.end, acts)
            if cited is None:
                at = match.end() + 1
                continue
            if pending and _EXCEPT.search(view, max(pending[-1].end, match.start() - 60), match.start()):
                _attach(pending[-1], cited)
            _of_act_before(view, pending[-1] if pending else None, cited)
            if pending and not _goes_on(view, pending[-1], cited):
                yield from context.settle(pending)
                pending = []
            pending.append(cited)
            _remember(view, cited, span.end, acts)
            at = max(cited.end, match.start() + 1)
        yield from context.settle(pending)
        pending = []


def _goes_on(view: str, before: Cited, cited: Cited) -> bool:
    """Tell whether two citations are joined by nothing but *and* or a comma.

    A comma and *and* together, or a preposition said again, part them: ``en el artículo 3 y en el artículo 5``.
    """
    between = AND.match(view, before.end, cited.start + 1)
    if between is None or between.end() != cited.start:
        return False
    return not _PARTS.match(between.group())


def _attach(before: Cited, cited: Cited) -> None:
    """Complete the point that an exception takes out of the provision before it: ``Article 89 except point (b)``."""
    if before.items and cited.items and cited.items[0].steps[0][0] in ("par", "pt", "sub") and not cited.relative:
        prefix = before.items[-1].to or before.items[-1].steps
        for item in cited.items:
            item.steps = (*prefix, *item.steps)
            item.to = (*prefix, *item.to) if item.to else ()
        cited.act, cited.own = before.act, before.own


def _of_act_before(view: str, before: Cited | None, cited: Cited) -> None:
    """Give a citation the act that was named just before it: ``la Ley 9/2031, de 3 de mayo, artículo 5``."""
    if before is None or not (before.act or before.own) or not cited.items:
        return
    if any(item.steps[-1][0] not in CONTAINER_KINDS for item in before.items):
        return
    if cited.act or cited.own or cited.relative or not _AND_IN_IT.fullmatch(view, before.end, cited.start):
        return
    cited.act, cited.own = before.act, before.own


def _mention(view: str, at: int, limit: int, acts: Acts) -> Cited | None:
    """Read an act that is named without a provision."""
    numbered = NUMBERED.match(view, at, limit)
    if not numbered:
        return None
    name = clean_act(numbered.group())
    if acts.is_own(name):
        return Cited(at, numbered.end(), own=True)
    return Cited(at, numbered.end(), act=name)


def _remember(view: str, cited: Cited, limit: int, acts: Acts) -> None:
    if not cited.act or cited.own:
        return
    acts.note(cited.act)
    acts.define(view, cited.end, cited.act, limit)
    sort = NUMBERED.match(cited.act)
    if sort:
        for name, _ in more_numbers(view, cited.end, sort["type"]):
            acts.note(name)


class _Context:
    """Turn citations into references, with what their place says: source, and the act that is being amended."""

    def __init__(self, built: Built, resolver: Resolver, acts: Acts) -> None:
        self._built = built
        self._resolver = resolver
        self._acts = acts
        self._amended = _amended_acts(built, resolver)
        self._amending: dict[str, Steps] = {}  # by the address of what amends: what it amends

    def settle(self, pending: Sequence[Cited]) -> Iterator[Reference]:
        """Give each citation of a joined run the act that closes the run, where it names none itself."""
        act, own = "", False
        for cited in reversed(pending):
            named = bool(cited.act) or cited.own
            if named:
                act, own = (cited.act, cited.own) if cited.items else ("", False)
            elif act and not own and not cited.relative and cited.items[0].steps[0][0] not in ("par", "pt", "sub"):
                cited.act = act
        for cited in pending:
            yield from self._references(cited)

    def _references(self, cited: Cited) -> Iterator[Reference]:
        span = Span(cited.start, cited.end)
        source = self._resolver.source(cited.start)
        address = source.address if source else ""
        act = cited.act
        if not act and not cited.own and not cited.relative and cited.items:
            act = self._basis_at(cited)
            if not act and (act := self._amended_at(cited)):
                self._complete(cited, address)
        if act and not self._acts.is_own(act):
            yield Reference(span, address, EXTERNAL, act=act, provisions=tuple(self._resolver.plain(cited.items)))
            if not cited.items:
                yield from self._further(cited, address)
            return
        if not cited.items:
            return
        targets, missing = self._resolver.targets(cited.items, source, cited.start)
        if targets:
            yield Reference(span, address, INTERNAL, tuple(targets), tuple(missing))

    def _further(self, cited: Cited, address: str) -> Iterator[Reference]:
        sort = NUMBERED.match(cited.act)
        for name, span in more_numbers(self._built.view, cited.end, sort["type"]) if sort else ():
            if not self._acts.is_own(name):
                yield Reference(span, address, EXTERNAL, act=name)

    def _complete(self, cited: Cited, source: str) -> None:
        """Put the article that is being amended in front of a paragraph or point of it."""
        first = cited.items[0].steps
        if first[0][0] not in ITEM_KINDS:
            self._amending[source] = cited.items[-1].steps
            return
        above = next((self._amending[p] for p in reversed(prefixes(source)) if p in self._amending), ())
        rank = RANK[first[0][0]]
        kept = tuple(step for step in above if RANK.get(step[0], rank) < rank)
        cited.items = [Item((*kept, *item.steps), (*kept, *item.to) if item.to else ()) for item in cited.items]

    def _basis_at(self, cited: Cited) -> str:
        """Return the act that a line names as the basis of this one: ``Having regard to …, in particular …``."""
        view = self._built.view
        start = view.rfind("\n", 0, cited.start) + 1
        return named_before(view, cited.start, self._acts) if _BASIS.match(view, start, cited.start) else ""

    def _amended_at(self, cited: Cited) -> str:
        """Return the act that the provision at a place amends, where the citation may mean it."""
        kind = cited.items[0].steps[0][0]
        at = bisect_right(self._amended, (cited.start, len(self._built.view), "\uffff")) - 1
        if at < 0 or (
            kind in ("da", "dt", "dd", "df") and "disposici" not in self._built.view[cited.start : cited.end].lower()
        ):
            return ""
        start, end, act = self._amended[at]
        return act if start <= cited.start < end else ""


def _amended_acts(built: Built, resolver: Resolver) -> list[tuple[int, int, str]]:
    """Return the spans in which an act is amended, from its heading or its first words: ``(start, end, act)``."""
    found: list[tuple[int, int, str]] = []
    for provision in resolver.top_provisions():
        act = ""
        title = provision.heading
        match = _AMENDING_TITLE.match(title)
        numbered = NUMBERED.search(title, match.end()) if match else None
        start = provision.label.end
        if numbered and not numbered.start() - match.end() > 60 if match else False:
            act = clean_act(numbered.group()) if numbered else ""
        else:
            lead = built.view[start : min(provision.span.end, start + 600)]
            stop = re.search(r":[ ]*\n", lead)
            sentence = lead[: stop.start()] if stop else ""
            named = NUMBERED.search(sentence) if sentence and _AMENDS.search(sentence) else None
            act = clean_act(named.group()) if named else ""
        if act:
            found.append((start, provision.span.end, act))
    return found


def normal_words(text: str) -> str:
    """Return a text in small letters without accents, on one line."""
    return " ".join(fold(text).split())
