"""Export facts to Parquet and to a DuckDB view, for screens over all issuers."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fin_rag.errors import InputError, MissingDependencyError
from fin_rag.facts.loading import UNSTATED
from fin_rag.facts.periods import UNKNOWN_FILED, filed_text, iso_day

if TYPE_CHECKING:
    from fin_rag.facts.store import FactStore

_BATCH: Final = 100_000
_SQL: Final = (
    "SELECT i.cik, i.ticker, i.name, c.name, f.start, f.end, u.name, d.name, CAST(f.value AS TEXT), f.decimals, "
    "g.form, g.accession, f.filed, g.doc_id FROM facts f JOIN issuers i USING (issuer) "
    "JOIN concepts c ON c.id = f.concept JOIN units u ON u.id = f.unit JOIN dimensions d ON d.id = f.dimensions "
    "JOIN filings g USING (filing)"
)
COLUMNS: Final = (
    "cik",
    "ticker",
    "issuer",
    "concept",
    "start",
    "end",
    "unit",
    "dimensions",
    "value",
    "decimals",
    "form",
    "accession",
    "filed",
    "doc_id",
)


def export_parquet(store: FactStore, path: str | Path) -> int:
    """Write all facts to one Parquet file and return their number.

    ``value`` is a decimal of 38 digits, 6 of them behind the point; ``start``, ``end`` and ``filed`` are ISO texts, so
    that they compare as times do. Values with more digits are an error, never rounded.

    Raises:
        MissingDependencyError: if pyarrow is not installed.
        InputError: if a value does not fit.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingDependencyError("Exports to Parquet need pyarrow. Install fin-rag[eval].") from error
    types = [pa.string()] * len(COLUMNS)
    types[COLUMNS.index("value")] = pa.decimal128(38, 6)
    types[COLUMNS.index("decimals")] = pa.int32()
    schema = pa.schema(list(zip(COLUMNS, types, strict=True)))
    count = 0
    with pq.ParquetWriter(Path(path), schema) as writer:
        for rows in _batches(store):
            try:
                columns = [pa.array(values, kind) for values, kind in zip(zip(*rows, strict=True), types, strict=True)]
            except (pa.ArrowInvalid, ValueError) as error:
                raise InputError(f"A value does not fit the export: {error}.") from error
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
            count += len(rows)
    return count


def open_duckdb(path: str | Path) -> Any:  # noqa: ANN401  # a connection of duckdb, which is optional
    """Open a DuckDB connection with a view ``facts`` over an exported Parquet file.

    Raises:
        MissingDependencyError: if duckdb is not installed.
        InputError: if there is no such file.
    """
    try:
        import duckdb
    except ImportError as error:
        raise MissingDependencyError("Screens with SQL need duckdb. Install fin-rag[scale].") from error
    if not Path(path).is_file():
        raise InputError(f"There is no exported file {str(path)!r}. Make one with export_parquet().")
    connection = duckdb.connect()
    quoted = str(path).replace("'", "''")
    connection.execute(f"CREATE VIEW facts AS SELECT * FROM read_parquet('{quoted}')")
    return connection


def _batches(store: FactStore) -> Iterator[list[tuple[object, ...]]]:
    for rows in store.batches(_SQL, _BATCH):
        batch = []
        for row in rows:
            *head, start, end, unit, dimensions, value, decimals, form, accession, filed, doc_id = row
            known = None if decimals == UNSTATED else decimals
            when = "" if int(str(filed)) >= UNKNOWN_FILED else filed_text(int(str(filed)))
            batch.append(
                (
                    *head,
                    iso_day(start or None),
                    iso_day(end),
                    unit,
                    dimensions,
                    Decimal(str(value)),
                    known,
                    form,
                    accession,
                    when,
                    doc_id,
                )
            )
        yield batch
