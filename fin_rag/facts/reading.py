"""Read facts under a cut-off in time: which filing decides, what was restated, which tags stand for a line item."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from fin_rag.errors import InputError, NotFoundError
from fin_rag.facts.concepts import Concept, concept_map
from fin_rag.facts.database import Database
from fin_rag.facts.frames import dimensions_text
from fin_rag.facts.loading import UNSTATED, cik_of, folded
from fin_rag.facts.model import Fact, FactSource
from fin_rag.facts.periods import FiscalCalendar, calendar_of, duration_kind, filed_text, iso_day, known_order
from fin_rag.schema import Span

_USUAL: Final = 0.9  # share of its figures that an issuer reports in its own currency
_LAST: Final = (1 << 62) - 1
_FACTS: Final = (
    "SELECT f.issuer, f.concept, f.end, f.start, f.unit, f.filed, f.decimals, f.value, f.span_start, f.span_end, "
    "g.accession, g.form, g.doc_id FROM facts f JOIN filings g USING (filing) "
)


@dataclass(frozen=True, slots=True)
class Issuer:
    """Name an issuer; what is not known is empty."""

    number: int
    cik: str
    ticker: str
    name: str

    @property
    def label(self) -> str:
        """Return the shortest name by which a reader knows it."""
        return self.ticker or self.name or self.cik


class Version(NamedTuple):
    """Hold one row: a value as one filing reports it."""

    issuer: int
    concept: int
    end: int
    start: int
    unit: int
    filed: int
    decimals: int
    value: int | str
    span_start: int | None
    span_end: int | None
    accession: str
    form: str
    doc_id: str


class Current(NamedTuple):
    """Hold a fact with all its versions known, oldest first: what tells whether two facts are on one basis."""

    fact: Fact
    versions: tuple[Version, ...]

    @property
    def last_report(self) -> int:
        """Return when the value was last reported; a derived one counts with its parts, which were checked."""
        return known_order(self.versions[-1].filed) if self.versions else _LAST

    @property
    def changed(self) -> int | None:
        """Return when a later period's filing last recast the value, ``None`` if none did.

        An amendment (10-K/A) corrects the value of its own period; that is no change of basis.
        """
        when = None
        for before, after in pairwise(self.versions):
            if differs(before, after) and not after.form.endswith("/A"):
                when = known_order(after.filed)
        return when


@dataclass(frozen=True, slots=True)
class Tags:
    """Hold the tags that stand for what was asked, the preferred one first."""

    asked: str
    numbers: tuple[int, ...]
    concept: Concept | None


class Reader:
    """Answer queries; nothing here knows how a value is derived."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._names: dict[tuple[str, int], str] = {}

    def count(self, table: str) -> int:
        """Return the number of rows of a table."""
        return int(str(self._database.rows(f"SELECT COUNT(*) FROM {table}")[0][0]))

    # --- issuers ------------------------------------------------------------------------------

    def find_issuer(self, name: str) -> int | None:
        """Return the number of an issuer by CIK, ticker or name, or ``None``."""
        for key in (folded(name), cik_of(name)):
            rows = self._database.rows("SELECT issuer FROM issuer_names WHERE name = ?", (key,)) if key else []
            if rows:
                return int(str(rows[0][0]))
        return None

    def issuer(self, number: int) -> Issuer:
        """Return an issuer by its number."""
        row = self._database.rows("SELECT cik, ticker, name FROM issuers WHERE issuer = ?", (number,))[0]
        return Issuer(number, *(str(part) for part in row))

    def issuers(self) -> list[Issuer]:
        """Return all issuers, sorted by CIK and name."""
        rows = self._database.rows("SELECT issuer, cik, ticker, name FROM issuers ORDER BY cik, name, ticker")
        return [Issuer(int(str(row[0])), str(row[1]), str(row[2]), str(row[3])) for row in rows]

    def issuer_names(self) -> list[str]:
        """Return all names by which issuers are found."""
        return [str(row[0]) for row in self._database.rows("SELECT name FROM issuer_names ORDER BY name")]

    def calendar(self, issuer: int, cutoff: int | None) -> FiscalCalendar:
        """Return the fiscal calendar of an issuer as it was known."""
        rows = self._database.rows(
            "SELECT DISTINCT year_end, fiscal_year FROM filings WHERE issuer = ? AND year_end > 0 AND filed <= ? "
            "AND form NOT LIKE '%Q%' AND form NOT LIKE '6-K%' ORDER BY year_end, fiscal_year",
            (issuer, _LAST if cutoff is None else cutoff),
        )
        return calendar_of((iso_day(row[0]), int(str(row[1]))) for row in rows)

    # --- concepts -----------------------------------------------------------------------------

    def tags(self, asked: str) -> Tags:
        """Return the stored tags for a tag or a line item in words.

        Raises:
            NotFoundError: if neither the store nor the concept map knows it; near names are offered.
        """
        exact = self._database.rows("SELECT id FROM concepts WHERE name = ?", (asked,))
        if exact:
            return Tags(asked, (int(str(exact[0][0])),), concept_map().by_tag(asked))
        mapped = concept_map().find(asked)
        if mapped is not None:
            return Tags(asked, tuple(self._numbers(mapped.tags)), mapped)
        local = self._database.rows(
            "SELECT concept FROM local_names WHERE name = ? ORDER BY concept", (asked.rpartition(":")[2].casefold(),)
        )
        if local and ":" not in asked:
            return Tags(asked, tuple(int(str(row[0])) for row in local), None)
        if concept_map().by_tag(asked) is not None:
            return Tags(asked, (), concept_map().by_tag(asked))
        raise NotFoundError(
            f"The concept {asked!r} is neither a reported tag nor a known line item.{self._near(asked)}"
        )

    def _numbers(self, names: Iterable[str]) -> Iterable[int]:
        for name in names:
            rows = self._database.rows("SELECT id FROM concepts WHERE name = ?", (name,))
            if rows:
                yield int(str(rows[0][0]))

    def _near(self, asked: str) -> str:
        stored = [str(row[0]) for row in self._database.rows("SELECT DISTINCT name FROM local_names ORDER BY name")]
        known = [*concept_map().names(), *stored]
        near = difflib.get_close_matches(asked.rpartition(":")[2].casefold(), known, n=3, cutoff=0.6)
        return f" Near names: {', '.join(near)}." if near else ""

    def concepts(self, issuer: int, cutoff: int | None) -> list[str]:
        """Return the tags that an issuer had reported, sorted."""
        rows = self._database.rows(
            "SELECT DISTINCT c.name FROM facts f JOIN concepts c ON c.id = f.concept "
            "WHERE f.issuer = ? AND f.filed <= ? ORDER BY c.name",
            (issuer, _LAST if cutoff is None else cutoff),
        )
        return [str(row[0]) for row in rows]

    def name(self, table: str, number: int) -> str:
        """Return a concept's, unit's or dimension's name by its number."""
        key = (table, number)
        if key not in self._names:
            self._names[key] = str(self._database.rows(f"SELECT name FROM {table} WHERE id = ?", (number,))[0][0])
        return self._names[key]

    # --- facts --------------------------------------------------------------------------------

    def fact(
        self,
        issuer: int,
        tags: Tags,
        start: str,
        end: str,
        cutoff: int | None,
        *,
        unit: str | None = None,
        dimensions: Mapping[str, str] | None = None,
    ) -> Fact | None:
        """Return the fact for exactly this period from the first tag that has one, or ``None``."""
        dims = self._dimensions(dimensions)
        if dims is None:
            return None
        first, last = int(start.replace("-", "") or 0), int(end.replace("-", ""))
        for tag in tags.numbers:
            rows = self._database.rows(
                _FACTS + "WHERE f.issuer = ? AND f.concept = ? AND f.end = ? AND f.start = ? AND f.dimensions = ? "
                "AND f.filed <= ?",
                (issuer, tag, last, first, dims, _LAST if cutoff is None else cutoff),
            )
            found = [Version(*row) for row in rows]  # type: ignore[arg-type]  # as selected
            versions = self._of_unit(found, unit, tags.asked)
            if versions:
                return self._current(self.issuer(issuer).label, versions, dimensions).fact
        return None

    def all_facts(
        self, issuer: int, tags: Tags, cutoff: int | None, *, unit: str | None = None, kind: str | None = None
    ) -> dict[tuple[str, str], Current]:
        """Return the facts of a line item by ``(start, end)``, as they were known; totals only, in one unit."""
        by_tag: list[list[Version]] = []
        for tag in tags.numbers:
            rows = self._database.rows(
                _FACTS + "WHERE f.issuer = ? AND f.concept = ? AND f.dimensions = 0 AND f.filed <= ?",
                (issuer, tag, _LAST if cutoff is None else cutoff),
            )
            by_tag.append([Version(*row) for row in rows])  # type: ignore[arg-type]  # as selected
        chosen = self._unit_of([one for versions in by_tag for one in versions], unit, tags.asked)
        label = self.issuer(issuer).label
        found: dict[tuple[str, str], Current] = {}
        for versions in by_tag:
            periods: dict[tuple[int, int], list[Version]] = {}
            for one in versions:
                if one.unit == chosen:
                    periods.setdefault((one.start, one.end), []).append(one)
            for (first, last), group in periods.items():
                key = (_iso(first), _iso(last))
                if key not in found and (kind is None or duration_kind(*key) == kind):
                    found[key] = self._current(label, group, None)
        return dict(sorted(found.items(), key=lambda item: (item[0][1], item[0][0])))

    def _dimensions(self, dimensions: Mapping[str, str] | None) -> int | None:
        if not dimensions:
            return 0
        rows = self._database.rows("SELECT id FROM dimensions WHERE name = ?", (dimensions_text(dimensions),))
        return int(str(rows[0][0])) if rows else None

    def _of_unit(self, versions: Sequence[Version], unit: str | None, asked: str) -> list[Version]:
        chosen = self._unit_of(versions, unit, asked)
        return [one for one in versions if one.unit == chosen]

    def _unit_of(self, versions: Sequence[Version], unit: str | None, asked: str) -> int | None:
        """Return the one unit of the versions; units are never mixed."""
        names = {number: self.name("units", number) for number in sorted({one.unit for one in versions})}
        if unit is not None:
            return next((number for number, name in names.items() if name == unit), None)
        if len(names) > 1:
            usual = self._usual_currency(versions[0].issuer)
            chosen = [number for number, name in names.items() if name.partition("/")[0] == usual]
            if len(chosen) == 1:
                return chosen[0]
            listed = ", ".join(repr(name) for name in sorted(names.values()))
            raise InputError(f"{asked!r} is reported in several units: {listed}. Choose one with unit=.")
        return next(iter(names), None)

    def _usual_currency(self, issuer: int) -> str:
        """Return the currency in which an issuer reports nearly all of its figures, or an empty string."""
        rows = self._database.rows(
            "SELECT u.name, COUNT(*) FROM facts f JOIN units u ON u.id = f.unit WHERE f.issuer = ? GROUP BY u.name",
            (issuer,),
        )
        counts: dict[str, int] = {}
        for name, count in rows:
            if str(name) not in ("shares", "pure", ""):
                currency = str(name).partition("/")[0]
                counts[currency] = counts.get(currency, 0) + int(str(count))
        best = max(counts, key=lambda name: (counts[name], name), default="")
        return best if best and counts[best] >= _USUAL * sum(counts.values()) else ""

    def _current(self, issuer: str, versions: list[Version], dimensions: Mapping[str, str] | None) -> Current:
        """Choose among versions of one fact: the last filing, then precision, then the accession number."""
        ordered = sorted(versions, key=_order)
        best = ordered[-1]
        same = [one for one in reversed(ordered) if not differs(one, best)]
        other = [one for one in reversed(ordered) if differs(one, best)]
        conflicts = [one for one in other if _order(one)[:2] == _order(best)[:2] and one.accession == best.accession]
        earlier = [one for one in other if known_order(one.filed) < known_order(best.filed)]
        fact = Fact(
            issuer=issuer,
            concept=self.name("concepts", best.concept),
            start=_iso(best.start),
            end=_iso(best.end),
            unit=self.name("units", best.unit),
            value=Decimal(best.value),
            sources=_sources([best, *[one for one in same if one is not best]]),
            restated=_sources(earlier),
            conflicts=_sources(conflicts),
            dimensions=tuple(sorted((dimensions or {}).items())),
        )
        return Current(fact, tuple(_last_of_each_filing(ordered)))

    def dimension_names(self, number: int) -> dict[str, str]:
        """Return axis and member of a stored breakdown."""
        text = self.name("dimensions", number)
        return dict(json.loads(text)) if text else {}


@lru_cache(maxsize=50_000)
def _iso(number: int) -> str:
    """Return YYYYMMDD in ISO form; empty for 0, the start of an instant."""
    return iso_day(number) if number else ""


def _order(version: Version) -> tuple[int, int, str, str]:
    return (known_order(version.filed), version.decimals, version.accession, str(version.value))


def _last_of_each_filing(ordered: Sequence[Version]) -> Iterable[Version]:
    """Yield the deciding version of each moment, oldest first."""
    for one, following in zip(ordered, [*ordered[1:], None], strict=True):
        if following is None or known_order(following.filed) != known_order(one.filed):
            yield one


def _sources(versions: Sequence[Version]) -> tuple[FactSource, ...]:
    """Return one source a filing and value, in the order given."""
    seen: dict[tuple[str, str], FactSource] = {}
    for one in versions:
        key = (one.accession, str(one.value))
        span = Span(one.span_start, one.span_end) if one.span_start is not None and one.span_end is not None else None
        known = seen.get(key)
        if known is not None and (known.span is not None or span is None):
            continue
        seen[key] = FactSource(
            accession=one.accession, form=one.form, filed=filed_text(one.filed), value=Decimal(one.value),
            decimals=None if one.decimals == UNSTATED else one.decimals, doc_id=one.doc_id, span=span,
        )  # fmt: skip
    return tuple(seen.values())


def differs(one: Version, other: Version) -> bool:
    """Tell whether two values of a fact differ by more than the rounding that they state.

    Example:
        >>> row = Version(1, 1, 20241231, 0, 1, 0, -6, 1200000, None, None, "a", "10-K", "")
        >>> differs(row, row._replace(value=1234567, decimals=0)), differs(row, row._replace(value=1900000))
        (False, True)
    """
    if one.value == other.value:
        return False
    places = min(one.decimals, other.decimals)
    if places <= UNSTATED or places > 30 or one.decimals == other.decimals:
        return Decimal(one.value) != Decimal(other.value)
    return abs(Decimal(one.value) - Decimal(other.value)) * 2 > Decimal(10) ** -places
