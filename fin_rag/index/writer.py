"""Writing: documents become rows of all parts, each document whole or not at all.

The order is the safety: rows are reserved in the catalogue, then vectors and keywords are written under
them, then one transaction of the catalogue makes the documents visible. A writer that dies in between
leaves rows that nothing looks up; the next writer takes them out.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from filelock import FileLock, Timeout
from langchain_core.documents import Document

from fin_rag.errors import FinRagError, IntegrityError
from fin_rag.index.catalogue import NewDocument
from fin_rag.index.embeddings import embedding_name
from fin_rag.index.ingest import AddReport, Progress, input_key, load_document, source_name
from fin_rag.index.keywords import KeywordRecord
from fin_rag.index.parts import Parts
from fin_rag.index.provisions import stored_sections
from fin_rag.index.statements import statement_records
from fin_rag.index.vectors import hash_vectors
from fin_rag.schema import (
    DOC_ID,
    ITEM,
    ITEM_TITLE,
    LANG,
    PAGE_MAP,
    SECTION_PATH,
    SESSION_ID,
    SOURCE_SCOPE,
    SPANS,
    MetadataValue,
    Outline,
    SourceDocument,
    clean_metadata,
    parse_spans,
)
from fin_rag.splitters.chunks import prepared_text
from fin_rag.splitters.kinds import splitter_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Documents are committed in groups of about this many chunks: each commit has a fixed cost.
_GROUP_CHUNKS = 1024
_PATIENCE = 10.0  # seconds that a second writer waits
_COPY_PATIENCE = 60.0
_POLL = 0.005  # seconds between two attempts: a writer that goes on at once leaves a gap of less than that


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Hold a document that was split and waits for its vectors."""

    document: Document
    chunks: list[Document]
    outline: Outline
    texts: list[str]
    keys: list[bytes]
    input_key: str
    settings: str

    @property
    def doc_id(self) -> str:
        return str(self.document.metadata[DOC_ID])

    @property
    def session(self) -> str:
        """Return the session that a private document belongs to; nothing for a public one."""
        return _owner(self.document.metadata)[1]

    @property
    def fingerprint(self) -> str:
        """Hash text, metadata and settings, by way of the chunks' ids."""
        identity = [self.document.metadata, self.settings, [chunk.id for chunk in self.chunks]]
        return hashlib.sha256(json.dumps(identity, sort_keys=True, default=str).encode()).hexdigest()


class Writer:
    """Write to one index; use :meth:`locked` around everything else."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._catalogue = parts.catalogue
        self._changing = FileLock(str(parts.folder / "changing.lock"))

    @contextmanager
    def locked(self, *, patience: float | None = None, mend: bool = True) -> Iterator[None]:
        """Keep other writers out, and take out what a writer before left half done.

        Args:
            patience: seconds to wait for another writer; by default ten.
            mend: take out what was left; not where the parts may be damaged.

        Raises:
            IntegrityError: if another process is writing, or the disk refuses.
        """
        folder = str(self._parts.folder)
        lock = FileLock(str(self._parts.folder / "writer.lock"))
        try:
            lock.acquire(timeout=_PATIENCE if patience is None else patience, poll_interval=_POLL)
        except Timeout as error:
            raise IntegrityError(
                f"Another process is writing to {folder!r}. Wait for it to end and try again."
            ) from error
        except OSError as error:
            raise IntegrityError(f"{folder!r} cannot be written: {error.strerror}.") from error
        try:
            if mend:
                self.purge()
            yield
        except (OSError, sqlite3.Error) as error:
            raise IntegrityError(
                f"The index {folder!r} could not be written: {error}. It is as it was after the last whole "
                "document; make room or check the permissions, and run the same again."
            ) from error
        finally:
            lock.release()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Keep copies out while the parts differ; a writer holds this for a group of documents, not for a whole run.

        Raises:
            IntegrityError: if it is held for a minute.
        """
        try:
            with self._changing.acquire(timeout=_COPY_PATIENCE, poll_interval=_POLL):
                yield
        except Timeout as error:
            raise IntegrityError(
                f"Another process is changing or copying {str(self._parts.folder)!r}. Try again when it has ended."
            ) from error

    def add(
        self,
        sources: Sequence[Path | Document],
        metadata: Mapping[str, MetadataValue],
        report: AddReport,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        """Take sources in, in groups; note in the report what became of each."""
        group: list[_Prepared] = []
        taken: dict[str, str] = {}
        for done, source in enumerate(sources, 1):
            prepared = self._prepare(source, metadata, taken, report)
            if prepared is not None:
                group.append(prepared)
            if sum(len(p.chunks) for p in group) >= _GROUP_CHUNKS or done == len(sources):
                self._write(group, report)
                group = []
            if progress is not None:
                progress(Progress(done, len(sources), source_name(source), report.chunks))

    def remove(self, doc_ids: Sequence[str]) -> list[str]:
        """Take documents out and return the ids that were there."""
        known = [one for one in doc_ids if self._catalogue.fingerprint(one) is not None]
        with self.changing():
            self._catalogue.commit([], remove=known)
            self.purge()
        return known

    def purge(self) -> int:
        """Take out of the other parts what the catalogue does not hold, or no longer; return the number of rows."""
        stale = self._catalogue.stale_rows()
        if not stale:
            return 0
        with self.changing():
            for first, count, erase in stale:
                if count and self._parts.has_vectors:
                    self._parts.vectors.remove(first, count, erase=erase)
                    self._parts.keywords.remove(first, count)
            self._catalogue.forget_stale(stale)
        return sum(count for _, count, _ in stale)

    def _prepare(
        self,
        source: Path | Document,
        metadata: Mapping[str, MetadataValue],
        taken: dict[str, str],
        report: AddReport,
    ) -> _Prepared | None:
        """Load and split one source; note in the report why there is nothing to write."""
        name = source_name(source)
        tokenization, config = self._parts.tokenization, self._parts.config
        settings = f"{config}|{tokenization.name}"
        try:
            key = input_key(source, metadata, settings)
            known = self._catalogue.known_input(key)
            if known is not None:
                report.unchanged.append(known)
                return None
            document = load_document(source, metadata)
            splitter = splitter_for(
                document,
                chunk_size=config.max_tokens,
                chunk_overlap=config.overlap_tokens,
                tokenization=tokenization,
            )
            whole, outline, chunks = splitter.split_whole(document)
        except (FinRagError, OSError) as error:
            report.failed[name] = str(error)
            return None
        doc_id = str(whole.metadata[DOC_ID])
        if doc_id in taken:
            report.failed[name] = (
                f"it has the same document id {doc_id!r} as {taken[doc_id]!r}. Give one of them its own 'doc_id'."
            )
            return None
        owner = self._catalogue.owner(doc_id)
        if owner is not None and owner != _owner(whole.metadata):
            report.failed[name] = (
                f"its document id {doc_id!r} belongs to a document of another scope. Give it its own 'doc_id'."
            )
            return None
        taken[doc_id] = name
        if isinstance(whole, SourceDocument) and whole.markup.warnings:
            report.warnings[name] = list(whole.markup.warnings)
        texts = [prepared_text(chunk, tokenization) for chunk in chunks]
        model = embedding_name(self._parts.embeddings)
        keys = [hashlib.sha256(f"{model}\x1f{text}".encode()).digest() for text in texts]
        return _Prepared(whole, chunks, outline, texts, keys, key, settings)

    def _write(self, group: Sequence[_Prepared], report: AddReport) -> None:
        """Embed and file a group of documents; the catalogue's commit makes them visible together."""
        if not group:
            return
        vectors = self._embedded(group, report)
        replaced = {p.doc_id for p in group if self._catalogue.fingerprint(p.doc_id) is not None}
        with self.changing():
            self._file_group(group, vectors)
        for prepared in group:
            (report.replaced if prepared.doc_id in replaced else report.added).append(prepared.doc_id)
        report.chunks += len(vectors)

    def _file_group(self, group: Sequence[_Prepared], vectors: NDArray[np.float32]) -> None:
        """Write the rows of a group to all parts, commit them and take out what they replace."""
        new: list[NewDocument] = []
        at = 0
        for prepared in group:
            count = len(prepared.chunks)
            new.append(self._file(prepared, vectors[at : at + count]))
            at += count
        self._parts.keywords.add(
            KeywordRecord(
                document.first_row + i,
                document.first_row,
                str(document.metadata.get(LANG)),
                text,
                section_words(prepared.chunks[i].metadata),
            )
            for prepared, document in zip(group, new, strict=True)
            for i, text in enumerate(prepared.texts)
        )
        self._catalogue.commit(new)
        self.purge()

    def _file(self, prepared: _Prepared, vectors: NDArray[np.float32]) -> NewDocument:
        """Put the vectors of one document where the catalogue will look for them."""
        metadata = clean_metadata({k: v for k, v in prepared.document.metadata.items() if k != PAGE_MAP})
        first = self._catalogue.reserve(len(prepared.chunks))
        self._parts.vectors.add(
            first,
            vectors,
            [chunk.page_content for chunk in prepared.chunks],
            [chunk.metadata for chunk in prepared.chunks],
            private=metadata[SOURCE_SCOPE] != "public",
        )
        own = [
            {key: value for key, value in chunk.metadata.items() if metadata.get(key) != value}
            for chunk in prepared.chunks
        ]
        return NewDocument(
            metadata=metadata,
            text=prepared.document.page_content,
            outline=stored_sections(prepared.outline),
            page_map=str(prepared.document.metadata.get(PAGE_MAP) or ""),
            statements=statement_records(prepared.document, prepared.outline),
            fingerprint=prepared.fingerprint,
            input_key=prepared.input_key,
            vectors_sha256=hash_vectors(vectors),
            first_row=first,
            chunk_ids=[str(chunk.id) for chunk in prepared.chunks],
            chunk_metadata=own,
            embedding_keys=prepared.keys,
        )

    def _embedded(self, group: Sequence[_Prepared], report: AddReport) -> NDArray[np.float32]:
        """Return one vector a chunk: taken again where the index has it, embedded otherwise."""
        known: dict[tuple[str, bytes], int] = {}
        for session in sorted({prepared.session for prepared in group}):
            keys = [key for prepared in group if prepared.session == session for key in prepared.keys]
            found = self._catalogue.embedded(keys, session)
            known |= {(session, key): row for key, row in found.items()}
        wanted = [
            ((prepared.session, key), text)
            for prepared in group
            for key, text in zip(prepared.keys, prepared.texts, strict=True)
        ]
        missing = {key: text for key, text in wanted if key not in known}
        made = self._parts.embed(list(missing.values()) or [""])
        report.embedded += len(missing)
        out = np.zeros((len(wanted), made.shape[1]), dtype=np.float32)
        position = {key: i for i, key in enumerate(missing)}
        for i, (key, _) in enumerate(wanted):
            out[i] = made[position[key]] if key in position else self._parts.vectors.file.read([known[key]])[0]
        return out


def _owner(metadata: Mapping[str, object]) -> tuple[str, str]:
    return str(metadata.get(SOURCE_SCOPE)), str(metadata.get(SESSION_ID) or "")


def section_words(metadata: Mapping[str, object]) -> str:
    """Return what a chunk's section is called: the Item's title and the two innermost titles of the path.

    Outer titles are those of many sections, and a wrong one would count for all that follows.
    """
    inner = str(metadata.get(SECTION_PATH, "")).split(" > ")[-2:]
    named = [str(metadata[key]) for key in (ITEM, ITEM_TITLE) if metadata.get(key)]
    return " > ".join(dict.fromkeys([*named, *inner]))


def keyword_records(parts: Parts) -> Iterator[KeywordRecord]:
    """Yield what the keyword index holds, from the stored texts, a document at a time."""
    catalogue = parts.catalogue
    current, text, lang = -1, "", ""
    for row, doc, own in catalogue.every_chunk():
        if doc != current:
            current, text = doc, catalogue.texts([doc])[doc]
            lang = str(catalogue.metadata_of([doc])[doc].get(LANG))
        body = "\n\n".join(span.slice(text) for span in parse_spans(str(own[SPANS])))
        chunk = Document(page_content=body, metadata=own)
        prepared = prepared_text(chunk, parts.tokenization)
        yield KeywordRecord(row, doc, lang, prepared, section_words(own))
