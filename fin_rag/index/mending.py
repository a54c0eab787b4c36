"""Mending an index: what a dead writer left, what differs between the parts, parts made again from the texts."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from fin_rag.errors import FinRagError, IntegrityError
from fin_rag.index.catalogue import StoredChunk
from fin_rag.index.filters import parse_filter
from fin_rag.index.graph import Graph
from fin_rag.index.parts import Parts
from fin_rag.index.writer import Writer, keyword_records
from fin_rag.schema import (
    CONTEXT_HEADER,
    DOC_ID,
    END_INDEX,
    SESSION_ID,
    SOURCE_SCOPE,
    SPANS,
    START_INDEX,
    TEXT_SHA256,
    parse_spans,
)
from fin_rag.text.canonical import text_sha256

logger = logging.getLogger(__name__)

_ERASING: Final = "erasing"  # setting of the catalogue: a session is being erased
_SHOWN: Final = 5  # rows named in a sentence
_REBUILD: Final = "Run FilingIndex.rebuild()."
_AGAIN: Final = "Remove it and ingest it again."


def repair(parts: Parts, writer: Writer) -> int:
    """Take out what a writer left that died, unless another one is at work; return the number of rows.

    An index in a folder that may not be written stays as it is: what was left is never looked up.
    """
    erasing = parts.catalogue.setting(_ERASING) is not None
    if not os.access(parts.folder, os.W_OK) or not (erasing or parts.catalogue.stale_rows()):
        return 0
    try:
        with writer.locked(patience=0, mend=False), writer.changing():
            rows = writer.purge()
            if erasing:
                _drop_traces(parts)
            parts.folders.keywords.delete_unused()
            parts.folders.chroma.delete_unused()
    except IntegrityError as error:  # most often a living writer, which the rows belong to
        logger.info("The index %s was not repaired at opening: %s", parts.folder, error)
        return 0
    logger.info("Repaired the index %s: took out %d rows of a writer that did not finish", parts.folder, rows)
    return rows


# --- verify -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Rows:
    """Hold which rows are filed at one moment: of all documents, of public ones, and of none any more."""

    filed: set[int]
    public: set[int]
    stale: set[int]
    end: int


def verify(parts: Parts) -> list[str]:
    """Compare counts, hashes, offsets, model and versions of all parts; return what is wrong and what to do.

    Others may write meanwhile: a document counts if it was there from the beginning to the end.
    """
    damage = parts.catalogue.connection.faults()
    if damage:
        return [f"The catalogue is damaged: {fault}. Restore a backup." for fault in damage]
    broken: list[str] = []
    with parts.catalogue.snapshot(lambda: _pin(parts, broken)):
        faults = [fault for one in _documents(parts) for fault in one]
        before = _filed(parts)
        faults += broken or _keyword_faults(parts, before)
        parts.keywords.unpin()
        wrong_vectors = _wrong_vectors(parts)
        in_graph: set[int] = set()
        if parts.has_vectors:
            try:
                in_graph = parts.vectors.graph_rows()
            except IntegrityError as error:
                return [*faults, str(error)]
    after = _filed(parts)
    faults += [
        f"The vectors of {doc_id!r} do not match their hash. {_REBUILD}"
        for doc_id, row in wrong_vectors
        if row in after.filed
    ]
    for what, rows in (
        ("lacks", (before.public & after.public) - in_graph),
        (
            "holds too much:",
            {row for row in in_graph if row < before.end} - before.public - after.public - before.stale - after.stale,
        ),
    ):
        if rows:
            faults.append(f"Chroma {what} {len(rows)} vectors, such as row {min(rows)}. {_REBUILD}")
    if parts.has_vectors:
        try:
            parts.check_model()
        except FinRagError as error:
            faults.append(str(error))
    return faults


def _pin(parts: Parts, broken: list[str]) -> None:
    """Fix what the keyword index holds at this moment, or note why it cannot be read."""
    broken.clear()
    try:
        parts.keywords.pin()
    except IntegrityError as error:
        broken.append(str(error))


def _filed(parts: Parts) -> _Rows:
    catalogue = parts.catalogue
    private = set(catalogue.private_ranges())
    ranges = [(doc, count) for _, doc, count, _ in catalogue.vector_hashes()]
    stale = [(first, count) for first, count, _ in catalogue.stale_rows()]
    public = [one for one in ranges if one not in private]
    return _Rows(_numbers(ranges), _numbers(public), _numbers(stale), catalogue.next_row())


def _numbers(ranges: Iterable[tuple[int, int]]) -> set[int]:
    return {row for first, count in ranges for row in range(first, first + count)}


def _documents(parts: Parts) -> Iterator[list[str]]:
    """Yield what is wrong with the text and the chunks of each document."""
    catalogue = parts.catalogue
    for doc_id, doc, count, _ in catalogue.vector_hashes():
        faults: list[str] = []
        text = catalogue.texts([doc]).get(doc, "")
        if text_sha256(text) != catalogue.metadata_of([doc])[doc].get(TEXT_SHA256):
            faults.append(f"The text of {doc_id!r} does not match its hash. {_AGAIN}")
        chunks = catalogue.chunks_of(doc)
        if [chunk.row for chunk in chunks] != list(range(doc, doc + count)):
            faults.append(f"{doc_id!r} has {len(chunks)} chunks, not the {count} that it came with. {_AGAIN}")
        wrong = [chunk.row for chunk in chunks if not _inside(chunk, len(text))]
        if wrong:
            faults.append(f"{len(wrong)} chunks of {doc_id!r} point outside of its text: {wrong[:_SHOWN]}. {_AGAIN}")
        yield faults


def _wrong_vectors(parts: Parts) -> list[tuple[str, int]]:
    """Return id and number of the documents whose vectors are not those that they came with."""
    if not parts.has_vectors:
        return []
    return [
        (doc_id, doc)
        for doc_id, doc, count, digest in parts.catalogue.vector_hashes()
        if count and parts.vectors.file.digest(doc, count) != digest
    ]


def _inside(chunk: StoredChunk, length: int) -> bool:
    try:
        spans = parse_spans(str(chunk.metadata[SPANS]))
        body = (int(str(chunk.metadata[START_INDEX])), int(str(chunk.metadata[END_INDEX])))
    except (KeyError, ValueError, FinRagError):
        return False
    return all(span.end <= length for span in spans) and body in {(span.start, span.end) for span in spans}


def _keyword_faults(parts: Parts, filed: _Rows) -> list[str]:
    found = parts.keywords.rows()
    differ = (filed.filed - found) | ({row for row in found if row < filed.end} - filed.filed - filed.stale)
    if not differ:
        return []
    return [
        f"The keyword index holds {len(found)} chunks, the catalogue {len(filed.filed)}; they differ in "
        f"{len(differ)}, such as row {min(differ)}. {_REBUILD}"
    ]


# --- erasing ---------------------------------------------------------------------------------------


def erase_session(parts: Parts, writer: Writer, session_id: str) -> list[str]:
    """Take the private documents of a session out, with every trace; return their ids. The lock must be held."""
    wanted = parse_filter({SOURCE_SCOPE: "private", SESSION_ID: session_id})
    parts.catalogue.set_setting(_ERASING, "1")  # so that it is finished at the next opening, should this process die
    removed = writer.remove([str(one[DOC_ID]) for one in parts.catalogue.document_metadata(wanted)])
    _drop_traces(parts)
    return removed


def _drop_traces(parts: Parts) -> None:
    """Write anew what still holds words of what was removed: tantivy keeps them until it merges its segments."""
    parts.keywords.replace(keyword_records(parts))
    parts.catalogue.connection.forget_deleted()
    parts.catalogue.remove_setting(_ERASING)


# --- rebuild ----------------------------------------------------------------------------------------


def rebuild(parts: Parts, writer: Writer) -> int:
    """Make keywords, damaged vectors and Chroma's files again from the stored texts; return the number of chunks."""
    with writer.locked(mend=False), writer.changing():
        parts.keywords.replace(keyword_records(parts))
        if parts.has_vectors:
            _embed_damaged(parts)
            parts.vectors.replace_graph(partial(_fill, parts))
        writer.purge()
        parts.catalogue.connection.forget_deleted()
    return parts.keywords.count()


def _embed_damaged(parts: Parts) -> None:
    """Embed again what does not match its hash."""
    wrong = dict(_wrong_vectors(parts))
    for doc_id, doc in wrong.items():
        logger.warning("The vectors of %s are made again from its text", doc_id)
        text = parts.catalogue.texts([doc])[doc]
        prepared = [
            parts.tokenization.prepare(_body(chunk, text), header=str(chunk.metadata[CONTEXT_HEADER]))
            for chunk in parts.catalogue.chunks_of(doc)
        ]
        parts.vectors.file.write(doc, parts.embed(prepared))
        parts.catalogue.set_vector_hash(doc, parts.vectors.file.digest(doc, len(prepared)))


def _fill(parts: Parts, graph: Graph) -> None:
    """Put the vectors of all public documents into a collection."""
    catalogue = parts.catalogue
    private = {doc for doc, _ in catalogue.private_ranges()}
    for _, doc, count, _ in catalogue.vector_hashes():
        if count and doc not in private:
            text, own = catalogue.texts([doc])[doc], catalogue.metadata_of([doc])[doc]
            chunks = catalogue.chunks_of(doc)
            graph.add(
                doc,
                parts.vectors.file.read(np.arange(doc, doc + count)),
                [_body(chunk, text) for chunk in chunks],
                [{**own, **chunk.metadata} for chunk in chunks],
            )


def _body(chunk: StoredChunk, text: str) -> str:
    return "\n\n".join(span.slice(text) for span in parse_spans(str(chunk.metadata[SPANS])))
