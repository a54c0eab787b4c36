"""Compare inline facts with an independent parser (ixbrlparse): value, scale, sign, period, unit, dimensions.

    python benchmarks/inline_facts.py [FOLDER] [--most N] [-v]

FOLDER holds filings as HTML, also gzip (default: the shared ones). Facts are matched in document order by concept.
The other parser reads numbers and contexts; whether each fact's span holds what is printed is checked here against
the digits of the reported value.
"""

from __future__ import annotations

import argparse
import gzip
import io
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from fin_rag.loaders.html import read_html
from fin_rag.schema import InlineFact

FILINGS = Path(__file__).resolve().parents[2] / "shared" / "data" / "sec"
_ZERO_WORDS = re.compile(r"^(?:[-–—]+|no|none|nil|zero)?$", re.IGNORECASE)
_DIGITS = re.compile(r"\d")


@dataclass
class Tally:
    """Count compared facts and what differs; ``faults`` describe each difference."""

    compared: int = 0
    equal: int = 0
    shown: int = 0
    printed: int = 0
    faults: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        """Add another tally to this one."""
        self.compared += other.compared
        self.equal += other.equal
        self.shown += other.shown
        self.printed += other.printed
        self.faults += other.faults
        self.counts.update(other.counts)


def read_source(path: Path) -> bytes:
    """Return the bytes of a filing, unpacked."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def compare(source: bytes, name: str = "") -> Tally:
    """Compare all numeric facts of one filing; a filing without inline facts yields an empty tally."""
    from ixbrlparse import IXBRL

    tally = Tally()
    if b"<ix:nonFraction" not in source and b"<ix:nonfraction" not in source:
        return tally
    loaded = read_html(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = IXBRL(io.StringIO(source.decode("utf-8", "replace")), raise_on_error=False)
    ours: dict[str, list[InlineFact]] = defaultdict(list)
    for fact in loaded.markup.facts:
        if fact.unit:
            ours[fact.concept].append(fact)
    used: Counter[str] = Counter()
    for theirs in other.numeric:
        concept = f"{theirs.schema}:{theirs.name}"
        at = used[concept]
        used[concept] += 1
        tally.compared += 1
        if at >= len(ours[concept]):
            tally.counts["missing"] += 1
            tally.faults.append(f"{name} {concept} #{at}: not found")
            continue
        fact = ours[concept][at]
        wrong = list(_differences(fact, theirs))
        tally.equal += not wrong
        tally.counts.update(wrong)
        if wrong:
            shown = fact.span.slice(loaded.text) if fact.span else None
            tally.faults.append(
                f"{name} {concept} #{at}: {wrong} ours={fact.value} {fact.start}..{fact.end} {fact.dimensions} "
                f"theirs={theirs.value} {_period(theirs)} scale={theirs.format and theirs.format.scale} shown={shown!r}"
            )
    _check_spans(loaded.text, loaded.markup.facts, tally, name)
    return tally


def _differences(fact: InlineFact, theirs: object) -> Iterator[str]:
    tag = getattr(theirs, "soup_tag", None)
    nil = tag is not None and any(name.endswith(":nil") and flag in ("true", "1") for name, flag in tag.attrs.items())
    value = None if nil else getattr(theirs, "value", None)  # it reads a nil fact as 0
    if not _same_value(fact.value, value):
        yield "value"
    scale = getattr(getattr(theirs, "format", None), "scale", 0) or 0
    if int(scale) != fact.scale and fact.value is not None:
        yield "scale"
    if (fact.start, fact.end) != _period(theirs):
        yield "period"
    segments = getattr(theirs.context, "segments", None) or []  # type: ignore[attr-defined]
    pairs = sorted(
        (str(s.get("dimension")).strip(), str(s.get("value")).strip()) for s in segments if s.get("dimension")
    )
    if pairs != sorted(fact.dimensions):
        yield "dimensions"


def _same_value(ours: object, theirs: object) -> bool:
    if ours is None or theirs is None:
        return ours is None and theirs is None
    if not isinstance(ours, Decimal):
        return False
    # The other parser computes in binary floats.
    return abs(float(ours) - float(str(theirs))) <= 1e-9 * max(1.0, abs(float(ours)))


def _period(theirs: object) -> tuple[str, str]:
    context = getattr(theirs, "context", None)
    instant, start, end = (getattr(context, name, None) for name in ("instant", "startdate", "enddate"))
    return ("", str(instant)) if instant else (str(start or ""), str(end or ""))


def _check_spans(text: str, facts: tuple[InlineFact, ...], tally: Tally, name: str) -> None:
    """Check that the digits at a fact's span are those of its value."""
    for fact in facts:
        if not fact.unit or fact.span is None:
            continue
        tally.shown += 1
        printed = fact.span.slice(text)
        if _prints(printed, fact):
            tally.printed += 1
        else:
            tally.counts["span"] += 1
            tally.faults.append(f"{name} {fact.concept} span: {printed!r} is not {fact.value}")


def _prints(printed: str, fact: InlineFact) -> bool:
    digits = "".join(_DIGITS.findall(printed))
    if not digits:  # a dash, or a number in words ("two")
        return fact.value is None or fact.value == 0 or any(c.isalpha() for c in printed) or not printed.strip()
    if fact.value is None or not isinstance(fact.value, Decimal):
        return fact.value is None
    value = abs(fact.value).scaleb(-fact.scale)
    expected = "".join(c for c in format(value.normalize(), "f") if c.isdigit()).strip("0")
    return digits.strip("0") == expected


def filings(folder: Path, most: int) -> list[Path]:
    """Return the HTML filings of a folder that carry inline facts, in order of name."""
    chosen = []
    for path in sorted(folder.iterdir()):
        if ".htm" in path.name and b"<ix:nonFraction" in read_source(path):
            chosen.append(path)
        if len(chosen) == most:
            break
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=FILINGS)
    parser.add_argument("--most", type=int, default=0, help="only so many filings (0: all)")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    total = Tally()
    paths = filings(options.folder, options.most)
    for path in paths:
        tally = compare(read_source(path), path.name[:40])
        print(
            f"{path.name[:60]:60} {tally.equal}/{tally.compared}",
            f"spans {tally.printed}/{tally.shown} {dict(tally.counts)}",
        )
        total.add(tally)
    share, spans = total.equal / max(1, total.compared), total.printed / max(1, total.shown)
    print(
        f"{len(paths)} filings: {total.equal}/{total.compared} equal ({share:.5f});",
        f"spans {total.printed}/{total.shown} ({spans:.5f})",
    )
    if options.verbose:
        print(*total.faults, sep="\n")


if __name__ == "__main__":
    main()
