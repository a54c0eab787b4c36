"""``FactStore``: values as they were known at a point in time, each with the filing it comes from."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from langchain_core.documents import Document

from fin_rag.errors import FinRagError, InputError, NotFoundError, ParseError
from fin_rag.facts.companyfacts import company_files, load_company, load_tickers
from fin_rag.facts.database import Database
from fin_rag.facts.derive import Deriver
from fin_rag.facts.frames import load_table
from fin_rag.facts.inline import load_inline
from fin_rag.facts.loading import Loader, LoadReport, cik_of
from fin_rag.facts.lookup import Lookup, Series
from fin_rag.facts.model import Fact
from fin_rag.facts.periods import KINDS, FiscalPeriod, fact_date, instant, iso_day
from fin_rag.facts.reading import Issuer, Reader

if TYPE_CHECKING:
    from types import TracebackType

PointInTime: TypeAlias = str | int | date | datetime | None
FILE_NAME: Final = "facts.sqlite"
_ROWS_A_COMMIT: Final = 200_000


class FactStore:
    """Keep XBRL facts in one SQLite file and answer from what was known at a point in time.

    ``as_of`` is a day (known is what was filed by its end), an instant (a filing exactly then is known), or
    ``None`` for everything. Issuers are named by CIK, ticker, or the name they file under.

    Example:
        >>> import tempfile
        >>> store = FactStore.open(tempfile.mkdtemp())
        >>> row = {"ticker": "ACME", "concept": "us-gaap:Revenues", "start": "2023-01-01", "end": "2023-12-31"}
        >>> row |= {"unit": "USD", "value": 1250, "form": "10-K", "accession": "0001-24-1", "filed": "2024-02-01"}
        >>> store.add_table([row]).facts
        1
        >>> store.fact("ACME", "us-gaap:Revenues", "2023-01-01", "2023-12-31", "2024-02-01").value
        Decimal('1250')
        >>> store.fact("ACME", "us-gaap:Revenues", "2023-01-01", "2023-12-31", "2024-01-31") is None
        True
        >>> store.close()
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._reader = Reader(database)
        self._deriver = Deriver(self._reader)

    @classmethod
    def open(cls, folder: str | Path, *, create: bool = True) -> FactStore:
        """Open the store of a folder, such as that of an index, or make one there.

        Raises:
            NotFoundError: if there is none and ``create`` is false.
            IntegrityError: if its file is damaged or of another format.
        """
        root = Path(folder)
        if create:
            try:
                root.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(f"The folder {str(root)!r} cannot be made: {error.strerror}.") from error
        return cls(Database(root / FILE_NAME, create=create))

    def close(self) -> None:
        """Close the file; the object is of no use afterwards."""
        self._database.close()

    def __enter__(self) -> FactStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- loading ------------------------------------------------------------------------------

    def load_company_facts(
        self,
        path: str | Path,
        *,
        ticker: str = "",
        tickers: Mapping[str, object] | str | Path | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> LoadReport:
        """Load company-facts JSON: a file (also gzipped), a folder of files, or the bulk archive.

        Args:
            path: the file, folder or ``.zip``.
            ticker: the ticker of the issuer, where ``path`` is one file.
            tickers: CIK by ticker, or a file in the form of the SEC's ``company_tickers.json``.
            progress: called with the name of each file.

        Returns:
            What was taken; files that could not be read are named in ``warnings`` and counted in ``skipped``.

        Raises:
            InputError: if ``path`` cannot be read, or one single file is no company-facts JSON.
        """
        where = Path(path)
        if not where.exists():
            raise InputError(f"There is no file or folder {str(where)!r}.")
        report = LoadReport()
        names = self._tickers(tickers)
        single = where.is_file() and where.suffix.lower() != ".zip"
        files = company_files(where)
        done = False
        while not done:
            done = True
            with self._database.writing() as connection:
                loader, written = Loader(connection), 0
                for name, raw in files:
                    if progress:
                        progress(name)
                    try:
                        part = load_company(loader, name, raw, ticker=ticker)
                    except ParseError as error:
                        if single:
                            raise InputError(str(error)) from error
                        report.skip("file that is no company-facts JSON", str(error))
                        continue
                    report.add(part)
                    written += part.facts
                    if written >= _ROWS_A_COMMIT:
                        done = False
                        break
        self._alias(names)
        return report

    def add_document(self, document: Document, *, doc_id: str = "") -> LoadReport:
        """Load the inline XBRL facts of a document from ``FinancialDocumentLoader``, with their spans.

        Facts that an earlier load of the same ``doc_id`` left are replaced. A document without ``filed`` counts
        only where no ``as_of`` is asked for.
        """
        name = doc_id or str(document.metadata.get("doc_id") or document.metadata.get("source") or "")
        with self._database.writing() as connection:
            connection.execute(
                "DELETE FROM facts WHERE filing IN (SELECT filing FROM filings WHERE doc_id = ?)", (name,)
            )
            connection.execute("DELETE FROM filings WHERE doc_id = ?", (name,))
            return load_inline(Loader(connection), document, doc_id=doc_id)

    def add_table(self, table: Any, *, columns: Mapping[str, str] | None = None) -> LoadReport:  # noqa: ANN401
        """Load a DataFrame or rows (mappings) of facts.

        Columns: ``cik``, ``ticker`` or ``issuer`` (one is needed), ``name``, ``concept``, ``start`` (empty for an
        instant), ``end``, ``unit``, ``value``, ``decimals``, ``form``, ``accession``, ``filed`` (a day, known at its
        end, or an instant), ``dimensions`` (a mapping), ``doc_id``. ``columns`` maps other names to these.

        Raises:
            InputError: if a needed column is absent. Rows that cannot be read are counted in the report.
        """
        with self._database.writing() as connection:
            return load_table(Loader(connection), table, columns)

    def add_alias(self, issuer: str, *names: str) -> None:
        """Let an issuer be found by further names or tickers.

        Raises:
            InputError: if another issuer has one of the names.
        """
        number = self.issuer(issuer).number
        taken = [name for name in names if self._reader.find_issuer(name) not in (None, number)]
        if taken:
            raise InputError(f"{taken[0]!r} already names another issuer. Use another name for {issuer!r}.")
        with self._database.writing() as connection:
            Loader(connection).alias(number, *names)

    def remove(self, doc_id: str) -> int:
        """Remove the facts of a document and return how many there were."""
        with self._database.writing() as connection:
            cursor = connection.execute(
                "DELETE FROM facts WHERE filing IN (SELECT filing FROM filings WHERE doc_id = ?)", (doc_id,)
            )
            connection.execute("DELETE FROM filings WHERE doc_id = ?", (doc_id,))
            return cursor.rowcount

    def _tickers(self, tickers: Mapping[str, object] | str | Path | None) -> dict[str, str]:
        if tickers is None:
            return {}
        if isinstance(tickers, Mapping):
            return load_tickers(tickers)
        try:
            return load_tickers(json.loads(Path(tickers).read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            if isinstance(error, FinRagError):
                raise
            raise InputError(f"The tickers {str(tickers)!r} cannot be read: {error}.") from error

    def _alias(self, tickers: Mapping[str, str]) -> None:
        if not tickers:
            return
        with self._database.writing() as connection:
            loader = Loader(connection)
            for ticker, cik in sorted(tickers.items()):
                number = self._reader.find_issuer(cik)
                if number is not None:
                    loader.alias(number, ticker)
                    connection.execute(
                        "UPDATE issuers SET ticker = ? WHERE issuer = ? AND ticker = ''", (ticker, number)
                    )

    # --- what is in it ------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._reader.count("facts")

    def counts(self) -> dict[str, int]:
        """Return the numbers of facts, issuers, concepts and filings."""
        return {name: self._reader.count(name) for name in ("facts", "issuers", "concepts", "filings")}

    def batches(self, sql: str, size: int) -> Iterator[list[tuple[object, ...]]]:
        """Yield the rows of a query over the file in batches; for exports."""
        return self._database.batches(sql, size)

    def issuers(self) -> list[Issuer]:
        """Return the issuers, sorted by CIK and name."""
        return self._reader.issuers()

    def issuer(self, name: str) -> Issuer:
        """Return an issuer by CIK, ticker or name.

        Raises:
            NotFoundError: if there is none; the message offers near names. Another issuer is never taken instead.
        """
        number = self._reader.find_issuer(name)
        if number is not None:
            return self._reader.issuer(number)
        names = self._reader.issuer_names()
        near = difflib.get_close_matches(name.casefold(), names, n=3, cutoff=0.7)
        hint = f" Near names: {', '.join(near)}." if near else ""
        kind = "CIK" if cik_of(name) else "issuer"
        raise NotFoundError(f"No filing of the {kind} {name!r} is in the store of facts.{hint}")

    def concepts(self, issuer: str, as_of: PointInTime = None) -> list[str]:
        """Return the tags that an issuer had reported by ``as_of``, sorted."""
        return self._reader.concepts(self.issuer(issuer).number, _cutoff(as_of))

    # --- answers ------------------------------------------------------------------------------

    def fact(
        self,
        issuer: str,
        concept: str,
        start: object,
        end: object,
        as_of: PointInTime = None,
        *,
        unit: str | None = None,
        dimensions: Mapping[str, str] | None = None,
    ) -> Fact | None:
        """Return the reported value for exactly this period, as it was known at ``as_of``; ``None`` if there is none.

        The last filing known decides; of one moment's filings the more precise value, then the higher accession
        number. Earlier filings with another value are listed in ``restated``.

        Args:
            issuer: CIK, ticker or name.
            concept: a tag (``us-gaap:Revenues``, ``Revenues``) or a line item in words (``revenue``, ``ingresos``);
                of a line item's tags the first one that has a value for the period is taken.
            start: first day; ``None`` or empty for an instant.
            end: last day, or the day of the instant.
            as_of: a day (its end), an instant, or ``None``.
            unit: needed only where the concept is reported in several units.
            dimensions: axis and member of a breakdown; without them only the total is looked at.

        Raises:
            NotFoundError: if the issuer, or the concept, is unknown.
            InputError: if a date is malformed, or several units are reported and none is chosen.
        """
        number = self.issuer(issuer).number
        first, last = iso_day(start), iso_day(end)
        if not last or (first and fact_date(first) > fact_date(last)):
            raise InputError(f"A period needs an end that is not before its start. Got {start!r} to {end!r}.")
        tags = self._reader.tags(concept)
        return self._reader.fact(number, tags, first, last, _cutoff(as_of), unit=unit, dimensions=dimensions)

    def lookup(
        self,
        issuer: str,
        concept: str,
        period: str | FiscalPeriod,
        as_of: PointInTime = None,
        *,
        unit: str | None = None,
        derive: bool = True,
    ) -> Lookup:
        """Look up a line item for a fiscal period in the issuer's own calendar: ``FY2024``, ``Q3 2024``, ``H1 2024``.

        A value that is not reported is derived if its parts are known at ``as_of`` and on one basis (Q4 = year less
        nine months, and so on), unless ``derive`` is false. Without a value, ``reason`` says why and ``nearest`` holds
        the closest periods of that length.

        Raises:
            NotFoundError: if the issuer, or the concept, is unknown.
            InputError: if the period is malformed, or several units are reported and none is chosen.
        """
        number = self.issuer(issuer).number
        wanted = FiscalPeriod.parse(period) if isinstance(period, str) else period
        tags = self._reader.tags(concept)
        return self._deriver.lookup(number, tags, wanted, _cutoff(as_of), unit=unit, derive=derive)

    def series(
        self,
        issuer: str,
        concept: str,
        kind: str = "year",
        as_of: PointInTime = None,
        *,
        unit: str | None = None,
        derive: bool = False,
    ) -> Series:
        """Return all values of a line item for periods of one length, oldest first, each with the tag it had.

        Args:
            issuer: CIK, ticker or name.
            concept: a tag or a line item in words; the tags of a line item make one unbroken series.
            kind: ``year``, ``quarter``, ``half``, ``nine_months`` or ``instant``.
            as_of: a day (its end), an instant, or ``None``.
            unit: needed only where the concept is reported in several units.
            derive: also derive quarters and halves that are not reported.
        """
        if kind not in KINDS:
            raise InputError(f"'kind' of series must be one of {', '.join(KINDS)}. Got {kind!r}.")
        number = self.issuer(issuer).number
        tags = self._reader.tags(concept)
        return self._deriver.series(number, tags, kind, _cutoff(as_of), unit=unit, derive=derive)

    def trailing_twelve_months(
        self, issuer: str, concept: str, end: object = None, as_of: PointInTime = None, *, unit: str | None = None
    ) -> Lookup:
        """Return the sum of the twelve months up to ``end`` (by default the last quarter known).

        It is refused, with the reason, where a part is missing, was not known at ``as_of``, or cannot be added.
        """
        number = self.issuer(issuer).number
        tags = self._reader.tags(concept)
        return self._deriver.trailing(number, tags, iso_day(end), _cutoff(as_of), unit=unit)


def _cutoff(as_of: PointInTime) -> int | None:
    return None if as_of is None or as_of == "" else instant(as_of)
