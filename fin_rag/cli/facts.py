"""``fin-rag facts``: load facts and read them as they were known at a date."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from fin_rag.errors import InputError
from fin_rag.facts.loading import LoadReport
from fin_rag.facts.lookup import Lookup
from fin_rag.facts.model import Fact
from fin_rag.facts.ratios import RatioResult, compute_ratio
from fin_rag.facts.store import FactStore
from fin_rag.loaders import FinancialDocumentLoader

_PRINTED = (".htm", ".html", ".xhtml", ".txt")


def run(options: argparse.Namespace) -> int:
    """Run one action; 1 where there is no value, or a source could not be taken."""
    with FactStore.open(options.index, create=options.action == "load") as store:
        actions = {"load": _load, "get": _get, "series": _series, "ratio": _ratio, "list": _list}
        return actions[options.action](store, options)


def _load(store: FactStore, options: argparse.Namespace) -> int:
    report = LoadReport()
    for path in map(Path, options.paths):
        if path.suffix.lower() in _PRINTED:
            more = {key: value for key, value in (("ticker", options.ticker), ("filed", options.filed)) if value}
            if "filed" in more:
                more["filed"] = int(str(more["filed"]).replace("-", ""))
            for document in FinancialDocumentLoader(path, **more).load():
                report.add(store.add_document(document))
        else:
            report.add(store.load_company_facts(path, ticker=options.ticker, tickers=options.tickers))
    if options.json:
        print(json.dumps(report.record() | {"store": store.counts()}, ensure_ascii=False))
    else:
        print(f"{report.facts} facts added, {report.repeated} known before, {report.issuers} issuers")
        for reason, count in sorted(report.skipped.items()):
            print(f"   {count} x {reason}")
    return 1 if any("no company-facts" in reason for reason in report.skipped) else 0


def _get(store: FactStore, options: argparse.Namespace) -> int:
    if options.period.strip().upper() in ("TTM", "LTM"):
        found = store.trailing_twelve_months(options.issuer, options.concept, None, options.as_of, unit=options.unit)
    else:
        found = store.lookup(options.issuer, options.concept, options.period, options.as_of, unit=options.unit)
    if options.json:
        print(json.dumps(found.record(), ensure_ascii=False))
    else:
        _print_lookup(found)
    return 0 if found.found else 1


def _print_lookup(found: Lookup) -> None:
    if found.fact is not None:
        _print_fact(found.fact)
        return
    print(found.reason)
    for fact in found.nearest:
        print(f"   nearest: {fact.start or ''} {fact.end}  {fact.value:,f} {fact.unit}")


def _print_fact(fact: Fact) -> None:
    period = f"{fact.start} to {fact.end}" if fact.start else fact.end
    print(f"{fact.issuer}  {fact.concept}  {period}  {fact.value:,f} {fact.unit}")
    if fact.derived:
        print(f"   derived: {fact.formula}")
        for part in fact.parts:
            print(f"   part: {part.start or ''} {part.end}  {part.value:,f}")
    for source in fact.sources:
        print(f"   {source.form} {source.accession}, filed {source.filed or 'at an unknown date'}")
    for source in fact.restated:
        print(f"   restated: {source.value:,f} in {source.form} {source.accession}, filed {source.filed}")
    for source in fact.conflicts:
        print(f"   the same filing also reports {source.value:,f}")


def _series(store: FactStore, options: argparse.Namespace) -> int:
    derive = options.kind in ("quarter", "half")
    found = store.series(options.issuer, options.concept, options.kind, options.as_of, unit=options.unit, derive=derive)
    if options.json:
        print(json.dumps(found.record(), ensure_ascii=False))
    else:
        for fact in found:
            mark = "  (derived)" if fact.derived else ""
            print(f"{fact.start or '':10}  {fact.end}  {fact.value:>24,f} {fact.unit}  {fact.concept}{mark}")
        for reason in found.reasons:
            print(f"   left out: {reason}")
        if not len(found):
            print("Not reported.")
    return 0 if len(found) else 1


def _ratio(store: FactStore, options: argparse.Namespace) -> int:
    result = compute_ratio(store, options.issuer, options.ratio, options.period, options.as_of)
    if options.json:
        print(json.dumps(result.record(), ensure_ascii=False))
    else:
        _print_ratio(result)
    return 0 if result.value is not None else 1


def _print_ratio(result: RatioResult) -> None:
    value = "not available" if result.value is None else f"{result.value:f} {result.ratio.unit}"
    print(f"{result.ratio.label_en}, {result.period}: {value}   = {result.ratio.formula}")
    for name, fact in result.inputs.items():
        source = fact.source.accession if fact.source else fact.formula
        print(f"   {name}: {fact.value:,f} {fact.unit}  ({source})")
    if result.assumed:
        print(f"   counted as zero: {', '.join(result.assumed)}")
    if result.reason:
        print(f"   {result.reason}")


def _list(store: FactStore, options: argparse.Namespace) -> int:
    if options.issuer:
        tags = store.concepts(options.issuer, options.as_of)
        print(json.dumps(tags) if options.json else "\n".join(tags))
        return 0
    issuers = [{"cik": one.cik, "ticker": one.ticker, "name": one.name} for one in store.issuers()]
    if options.json:
        print(json.dumps({"issuers": issuers, "store": store.counts()}, ensure_ascii=False))
    else:
        for one in issuers:
            print(f"{one['cik']:10}  {one['ticker']:8}  {one['name']}")
    if not issuers:
        raise InputError("The store of facts is empty. Load facts with: fin-rag facts load PATH")
    return 0
