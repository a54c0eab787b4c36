"""``fin-rag doctor``: what works here, what is missing, and the one command that mends it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from fin_rag.inspector.checkup import FAULT, OK, check_up

_DEFAULT = "fin_rag_index"


def run(options: argparse.Namespace) -> int:
    """Run the command; 1 if something is at fault."""
    folder = options.index or (_DEFAULT if Path(_DEFAULT).is_dir() else None)
    findings = []
    for one in check_up(folder, repair=options.repair):
        findings.append(one)
        if not options.json:
            mark = {OK: "ok   ", FAULT: "FAULT"}.get(one.state, "-    ")
            print(f"{mark}  {one.name}: {one.found}" + (f"\n       {one.remedy}" if one.remedy else ""), flush=True)
    faults = sum(one.state == FAULT for one in findings)
    if options.json:
        print(json.dumps({"faults": faults, "findings": [one.record() for one in findings]}, ensure_ascii=False))
    else:
        print(f"\n{faults} faults." if faults else "\nAll is well.")
    return 1 if faults else 0
