"""Facts at scale: loading rate, one value as of a date, and a screen, beside a Parquet scan and DuckDB, in one run.

    python benchmarks/facts.py [--issuers 1225] [--shared ../shared] [--queries 2000]

The company-facts file of the shared folder is repeated over many CIKs with other values (1,225 issuers: 10 million
rows). DuckDB takes part where it is installed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import resource
import tempfile
import time
from pathlib import Path

from fin_rag.facts import FactStore
from fin_rag.facts.export import export_parquet, open_duckdb
from fin_rag.facts.tools import xbrl_lookup

ROOT = Path(__file__).resolve().parents[1]
TAG = "us-gaap:RevenueFromContractWithCustomerExcludingAssessedTax"
PERIODS = [(f"{year}-02-01", f"{year + 1}-01-31") for year in range(2019, 2025)]


def write_files(source: Path, folder: Path, issuers: int) -> int:
    """Write the file once for each issuer and return the number of bytes."""
    data = json.loads(gzip.decompress(source.read_bytes()))
    size = 0
    for number in range(issuers):
        data["cik"] = 5_000_000 + number
        for tags in data["facts"].values():
            for content in tags.values():
                for entries in content["units"].values():
                    for entry in entries:
                        entry["accn"] = f"{number:07d}" + entry["accn"][7:]
                        if isinstance(entry["val"], int):
                            entry["val"] += number
        raw = json.dumps(data).encode()
        (folder / f"CIK{data['cik']:010d}.json").write_bytes(raw)
        size += len(raw)
    return size


def percentiles(times: list[float]) -> dict[str, float]:
    """Return the median and the 95th percentile in milliseconds."""
    ordered = sorted(times)
    return {
        "p50_ms": round(ordered[len(ordered) // 2] * 1000, 3),
        "p95_ms": round(ordered[int(len(ordered) * 0.95)] * 1000, 3),
    }


def timed(calls: list) -> dict[str, float]:
    """Run calls one by one."""
    times = []
    for call in calls:
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return percentiles(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--issuers", type=int, default=1225)
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    options = parser.parse_args()
    rng = random.Random(1)  # noqa: S311  # the same questions in every run
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = folder / "json"
        files.mkdir()
        size = write_files(options.shared / "data" / "companyfacts" / "snow_facts.json.gz", files, options.issuers)
        cpu, wall = time.process_time(), time.perf_counter()
        store = FactStore.open(folder / "index")
        store.load_company_facts(files)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        rows = len(store)
        report: dict[str, object] = {
            "rows": rows,
            "json_mb": round(size / 1e6),
            "load_cpu_s": round(cpu, 1),
            "load_wall_s": round(wall, 1),
            "rows_per_cpu_s": round(rows / cpu),
            "rows_per_wall_s": round(rows / wall),
            "disk_mb": round(sum(one.stat().st_size for one in (folder / "index").iterdir()) / 1e6),
        }
        asked = [
            (
                str(5_000_000 + rng.randrange(options.issuers)),
                *rng.choice(PERIODS),
                f"{rng.randint(2021, 2025)}-{rng.randint(1, 12):02d}-15",
            )
            for _ in range(options.queries)
        ]
        tool = xbrl_lookup(store)
        report["fact"] = timed([lambda q=q: store.fact(q[0], TAG, q[1], q[2], q[3]) for q in asked])
        report["tool"] = timed(
            [lambda q=q: tool.func(issuer=q[0], concept=TAG, start=q[1], end=q[2], as_of=q[3]) for q in asked]
        )
        report["tool_by_words"] = timed(
            [lambda q=q: tool.func(issuer=q[0], concept="revenue", period="FY2023", as_of=q[3]) for q in asked[:300]]
        )
        parquet = folder / "facts.parquet"
        started = time.process_time()
        export_parquet(store, parquet)
        report["export_cpu_s"] = round(time.process_time() - started, 1)
        report["parquet"] = parquet_scan(parquet, asked[:10])
        report["duckdb"] = duckdb_scan(parquet, asked[:20])
        report["rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        store.close()
    print(json.dumps(report, indent=1))


def parquet_scan(path: Path, asked: list) -> dict[str, float]:
    """Answer the questions by a filtered scan."""
    import pyarrow.dataset as ds

    data = ds.dataset(path)

    def one(query: tuple[str, str, str, str]) -> None:
        field = ds.field
        where = (
            (field("cik") == query[0].zfill(10))
            & (field("concept") == TAG)
            & (field("end") == query[2])
            & (field("filed") <= query[3])
        )
        data.to_table(filter=where, columns=["value", "filed"])

    return timed([lambda q=q: one(q) for q in asked])


def duckdb_scan(path: Path, asked: list) -> dict[str, float] | str:
    """Answer the questions, and one screen, through DuckDB."""
    try:
        connection = open_duckdb(path)
    except ImportError as error:
        return str(error)
    where = 'cik = ? AND concept = ? AND "end" = ? AND start = ? AND filed <= ?'
    sql = f"SELECT value FROM facts WHERE {where} ORDER BY filed DESC LIMIT 1"  # noqa: S608  # a constant
    result = timed(
        [lambda q=q: connection.execute(sql, [q[0].zfill(10), TAG, q[2], q[1], q[3]]).fetchall() for q in asked]
    )
    started = time.perf_counter()
    connection.execute("SELECT cik, max(value) FROM facts WHERE concept = ? GROUP BY cik", [TAG]).fetchall()
    return result | {"screen_ms": round((time.perf_counter() - started) * 1000, 1)}


if __name__ == "__main__":
    main()
