"""``fin-rag ask``: an answer from facts and statement rows, from a model over evidence, or none with the reason."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from fin_rag.answers.asking import NONE, Answered, Corpus, ask
from fin_rag.answers.chain import answer_chain
from fin_rag.cli.search import evidence as printed_evidence
from fin_rag.errors import InputError, MissingDependencyError
from fin_rag.facts.store import FILE_NAME, FactStore
from fin_rag.index import FilingIndex


def run(options: argparse.Namespace) -> int:
    """Run the command; 1 where there is no answer."""
    index = FilingIndex.open(options.index, create=False)
    folder = Path(options.index)
    store = FactStore.open(folder, create=False) if (folder / FILE_NAME).is_file() else None
    try:
        if options.llm:
            return _with_model(options, index, store)
        corpus = Corpus.of_index(index, k=options.k, as_of=options.as_of, session_id=options.session)
        found = ask(options.question, corpus, store, as_of=options.as_of)
    finally:
        index.close()
        if store is not None:
            store.close()
    if options.json:
        print(json.dumps({"question": options.question, **found.record()}, ensure_ascii=False))
    else:
        _print(found, options.question)
    return 1 if found.route == NONE else 0


def _print(found: Answered, question: str) -> None:
    if found.text:
        print(found.text)
    for number, source in enumerate(found.sources, 1):
        print(f"   [{number}] {_cited(source)}")
    print(f"   route: {found.route} ({found.reason})")
    for document in found.documents:
        print(printed_evidence(document, question))


def _cited(source: dict[str, object]) -> str:
    filings = source.get("sources")
    value = f"{source.get('concept')}, {source.get('end')}: {source.get('value')} {source.get('unit')}"
    if isinstance(filings, list) and filings:
        first = filings[0]
        return f"{value} ({first['form']} {first['accession']}, filed {first['filed']})"
    if source.get("formula"):
        return f"{value} ({source['formula']})"
    span = source.get("span")
    place = f", characters {span[0]}-{span[1]}" if isinstance(span, list) else ""
    return f"{source.get('label')}: {source.get('value')} ({source.get('statement')}, {source.get('doc_id')}{place})"


def _with_model(options: argparse.Namespace, index: FilingIndex, store: FactStore | None) -> int:
    retriever = index.retriever(k=options.k, as_of=options.as_of, session_id=options.session)
    chain = answer_chain(_model(options.llm), retriever, store, as_of=options.as_of, strict=options.strict)
    result = chain.invoke({"input": options.question})
    if options.json:
        shown = {key: value for key, value in result.items() if key != "context"}
        shown["evidence"] = [{"id": one.id, "metadata": one.metadata} for one in result["context"]]
        print(json.dumps(shown, ensure_ascii=False, default=str))
    else:
        print(result["answer"])
        for one in result.get("citations", []):
            print(f"   [{one['number']}] {one.get('title', '')} {one.get('section_path', '')}".rstrip())
        if result.get("reason"):
            print(f"   {result['reason']}")
    return 1 if result.get("outcome") == "replaced" else 0


def _model(name: str) -> Any:  # noqa: ANN401  # any chat model
    from langchain_classic.chat_models import init_chat_model

    provider, colon, model = name.partition(":")
    if not colon or not provider or not model:
        raise InputError(f"--llm needs PROVIDER:MODEL, such as 'openai:gpt-4o'. Got {name!r}.")
    try:
        return init_chat_model(model, model_provider=provider)
    except ImportError as error:
        raise MissingDependencyError(f"The model {name!r} needs another package: {error}") from error
    except ValueError as error:
        raise InputError(f"The model {name!r} cannot be used: {error}") from error
