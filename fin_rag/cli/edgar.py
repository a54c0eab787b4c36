"""``fin-rag edgar``: download filings, to be ingested afterwards."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from fin_rag.loaders.edgar import download_filings


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    found = download_filings(
        options.ticker,
        options.out,
        user_agent=options.user_agent,
        forms=tuple(options.form or ["10-K"]),
        years=options.years,
        progress=None if options.json else _say,
    )
    if options.json:
        print(json.dumps({"written": [str(p) for p in found.written], "kept": [str(p) for p in found.kept]}))
    else:
        print(f"{len(found.written)} downloaded, {len(found.kept)} were there. Next: fin-rag ingest {options.out}")
    return 0


def _say(path: Path) -> None:
    print(path, file=sys.stderr, flush=True)
