"""Time reading filings: HTML to text, sections, tables and exact offsets, beside a bare lxml parse and edgartools.

    python benchmarks/filings.py [FOLDER] [--match 10k_html] [--most 10] [--runs 3] [--peers] [--memory] [--growth]

FOLDER holds filings as HTML, also gzip (default: the shared ones). All run on the same bytes in one process, turn and
turn about; a figure is the sum over the files of the median CPU time, and what counts is its ratio to lxml's, which
does not depend on the machine. ``--memory`` gives the peak above the bare import, each file in a process of its own;
``--growth`` joins the bodies of filings to inputs of 1 to 20 MB. edgartools is of the extra ``bench``.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

FILINGS = Path(__file__).resolve().parents[2] / "shared" / "data" / "sec"
MB = 1_000_000
Work = Callable[[bytes], object]


def source(path: Path) -> bytes:
    """Return the bytes of a filing, unpacked."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def bare_lxml(data: bytes) -> object:
    """Parse and do nothing more."""
    from lxml import html

    return html.fromstring(data)


def load_only(data: bytes) -> object:
    """Read text, tables, page map, links, inline facts."""
    from fin_rag.loaders.html import read_html

    return read_html(data)


def sections_and_tables(data: bytes) -> object:
    """Read the text and its outline: Items, sub-headings, notes, and every table's block with its rows."""
    from fin_rag.loaders.html import read_html
    from fin_rag.structure.filings import outline_filing

    loaded = read_html(data)
    metadata = {"doc_type": "10-K", "page_map": loaded.page_map.format()}
    return outline_filing(loaded.text, metadata=metadata, markup=loaded.markup)


def with_statements(data: bytes) -> object:
    """Read the outline and the primary statements with their row records."""
    from fin_rag.loaders.html import read_html
    from fin_rag.structure.filings import add_statements, outline_filing
    from fin_rag.structure.statements import find_statements

    loaded = read_html(data)
    metadata = {"doc_type": "10-K", "page_map": loaded.page_map.format()}
    outline = outline_filing(loaded.text, metadata=metadata, markup=loaded.markup)
    found = find_statements(loaded.text, outline=outline, page_map=loaded.page_map, markup=loaded.markup)
    return add_statements(loaded.text, outline, found)


def edgartools_parse(data: bytes) -> object:
    """Parse and write the text, without Items."""
    from edgar.documents import parse_html

    return parse_html(data.decode("utf-8", "replace")).text()


def edgartools_sections(data: bytes) -> object:
    """Parse and write each section's text."""
    from edgar.documents import HTMLParser, ParserConfig

    document = HTMLParser(ParserConfig(form="10-K")).parse(data.decode("utf-8", "replace"))
    return [section.text() for section in document.sections.values()]


def cpu(work: Work, data: bytes) -> float:
    """Return the CPU seconds of one run."""
    begin = time.process_time()
    work(data)
    return time.process_time() - begin


def times(works: dict[str, Work], inputs: list[bytes], runs: int) -> dict[str, float]:
    """Return the summed median CPU time of each, run turn and turn about on the same inputs."""
    for work in works.values():
        work(inputs[0])  # imports and caches
    # What the other packages keep in memory must not be scanned again and again while one of them runs.
    gc.collect()
    gc.freeze()
    total = dict.fromkeys(works, 0.0)
    for data in inputs:
        measured: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(runs):
            for name, work in works.items():
                measured[name].append(cpu(work, data))
        for name, found in measured.items():
            total[name] += statistics.median(found)
    return total


def peak(path: Path) -> tuple[float, float]:
    """Return the peak memory in MiB of reading one filing in a fresh process, before and after."""
    code = (
        "import re, sys; sys.path.insert(0, sys.argv[2]); from pathlib import Path; import filings\n"
        "def high(): return int(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])\n"
        "data = filings.source(Path(sys.argv[1])); filings.with_statements(b'<p>Item 1. Business</p>')\n"
        "before = high(); filings.with_statements(data); print(before, high())\n"
    )
    here = str(Path(__file__).resolve().parent)
    command = [sys.executable, "-c", code, str(path), here]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own code
    before, after = (int(part) / 1024 for part in shown.stdout.split())
    return before, after


def grown(inputs: list[bytes], size: int) -> bytes:
    """Return one page of about ``size`` bytes made of the bodies of filings."""
    bodies = []
    total = 0
    while total < size:
        for data in inputs:
            low = data.lower()
            begin = low.find(b"<body")
            body = data[begin if begin >= 0 else 0 :].replace(b"</body>", b"").replace(b"</html>", b"")
            bodies.append(body[: size - total])
            total += len(bodies[-1])
            if total >= size:
                break
    return b"<html>" + b"\n".join(bodies) + b"</body></html>"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=FILINGS)
    parser.add_argument("--match", default="10k_html_a", help="only files whose name holds this")
    parser.add_argument("--most", type=int, default=10)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--peers", action="store_true", help="edgartools too (minutes)")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--growth", action="store_true")
    options = parser.parse_args()
    if not options.folder.is_dir():
        sys.exit(f"There is no folder {str(options.folder)!r}. Name one that holds filings as HTML.")
    named = (path for path in sorted(options.folder.iterdir()) if options.match in path.name)
    paths = [path for path in named if ".htm" in path.name][: options.most]
    inputs = [source(path) for path in paths]
    size = sum(map(len, inputs)) / MB
    works: dict[str, Work] = {
        "lxml parse": bare_lxml,
        "fin_rag text, tables, facts": load_only,
        "fin_rag + sections": sections_and_tables,
        "fin_rag + sections + statements": with_statements,
    }
    if options.peers and find_spec("edgar") is not None:
        works |= {"edgartools parse + text": edgartools_parse, "edgartools sections": edgartools_sections}
    elif options.peers:
        print("edgartools is not installed; install the extra 'bench'.")
    found = times(works, inputs, options.runs)
    print(f"{len(inputs)} filings, {size:.1f} MB")
    for name, seconds in found.items():
        print(f"{name:34} {seconds / size:7.4f} s/MB  {seconds / found['lxml parse']:6.1f} x lxml")
    if options.memory:
        for path, data in zip(paths, inputs, strict=True):
            before, after = peak(path)
            mib = len(data) / 2**20
            more = after - before
            print(
                f"{path.name[:50]:50} {mib:4.1f} MiB: {more:6.1f} MiB above {before:.0f} ({more / mib:.1f} x the file)"
            )
    if options.growth:
        for megabytes in (1, 2, 5, 10, 20):
            data = grown(inputs, megabytes * MB)
            seconds = cpu(with_statements, data)
            print(f"{megabytes:3} MB: {seconds:6.2f} s  {seconds / megabytes:.3f} s/MB")


if __name__ == "__main__":
    main()
