"""``FilingIndex``: vectors, keywords, texts and catalogue of a set of documents, in one folder."""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from filelock import FileLock, Timeout
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from fin_rag.errors import FinRagError, InputError, IntegrityError, NotFoundError
from fin_rag.index.catalogue import Allowed, Catalogue, NewDocument
from fin_rag.index.embeddings import (
    DEFAULT_MODEL,
    PROBE,
    embed_unit,
    embedding_name,
    load_embeddings,
    tokenization_of,
    unit,
)
from fin_rag.index.filters import Filter, as_of_filter, parse_filter, scope_filter
from fin_rag.index.ingest import (
    AddReport,
    Progress,
    Sources,
    gather,
    input_key,
    load_document,
    source_name,
)
from fin_rag.index.keywords import KeywordIndex, KeywordRecord, RankBm25Keywords, TantivyKeywords
from fin_rag.index.vectors import Scored, VectorStore
from fin_rag.schema import (
    CONTEXT_HEADER,
    DOC_ID,
    LANG,
    PAGE_MAP,
    SOURCE,
    SPANS,
    TEXT_SHA256,
    MetadataValue,
    SourceDocument,
    clean_metadata,
    parse_spans,
)
from fin_rag.splitters.config import ChunkingConfig
from fin_rag.splitters.kinds import splitter_for
from fin_rag.text.canonical import text_sha256
from fin_rag.tokens import Tokenization, load_tokenization

if TYPE_CHECKING:
    import datetime

    from numpy.typing import NDArray

    from fin_rag.retrieval.retriever import FinancialRetriever

_logger = logging.getLogger(__name__)

DEFAULT_CONFIG = ChunkingConfig(max_tokens=384, overlap_tokens=0)
# Documents are committed in groups of about this many chunks: each commit has a fixed cost.
_GROUP_CHUNKS = 1024
_WRITER_PATIENCE = 10.0  # seconds
_SAME_MODEL_COSINE = 0.999


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Hold a document that was split and waits for its vectors."""

    document: Document
    chunks: list[Document]
    outline: list[dict[str, object]]
    texts: list[str]
    keys: list[bytes]
    input_key: str
    fingerprint: str


class FilingIndex:
    """Keep documents in one folder and find evidence in them.

    Open it with :meth:`open`; reading needs no lock, and one process at a time may write.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> index = FilingIndex.open(folder)
        >>> report = index.add(Document(page_content="# Letter\\n\\nNet sales rose 5 % to $1,234 million."))
        >>> report.chunks
        1
        >>> index.retriever(k=1).invoke("How did net sales develop?")[0].metadata["section_path"]
        'Letter'
        >>> index.close()
    """

    def __init__(
        self,
        folder: Path,
        catalogue: Catalogue,
        *,
        embeddings: Embeddings | None,
        tokenization: Tokenization | None,
        config: ChunkingConfig,
        keywords: KeywordIndex,
    ) -> None:
        self.folder = folder
        self.config = config
        self._catalogue = catalogue
        self._embeddings = embeddings
        self._given_tokenization = tokenization
        self._keywords = keywords
        self._model_checked = False

    @classmethod
    def open(
        cls,
        folder: str | Path,
        *,
        embeddings: str | Embeddings | None = None,
        tokenization: Tokenization | None = None,
        config: ChunkingConfig | None = None,
        keywords: Literal["tantivy", "rank-bm25"] = "tantivy",
        create: bool = True,
    ) -> FilingIndex:
        """Open an index, or make a new one.

        Args:
            folder: where the index lies; everything it needs is inside.
            embeddings: a model's name (see ``load_embeddings``) or any LangChain ``Embeddings``; by default
                the one that the index was made with, for a new index ``"use-multilingual-v3"``.
            tokenization: counts tokens for the budget; by default the one that goes with the model.
            config: the budget of chunks; by default the index's own, for a new one 384 tokens without overlap.
            keywords: ``"tantivy"`` (persistent) or ``"rank-bm25"`` (in memory, filled when the index opens).
            create: make the folder if it does not exist.

        Raises:
            NotFoundError: if there is no index and ``create`` is false.
            InputError: if the folder cannot be made, or another budget is given than the index has.
            IntegrityError: if the index was made with another model or format.
        """
        root = Path(folder)
        path = root / "catalogue.sqlite"
        if not create and not path.is_file():
            raise NotFoundError(f"There is no index in {str(root)!r}. Make one with: fin-rag ingest PATH --index {root}")
        try:
            root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"The index folder {str(root)!r} cannot be made: {error.strerror}.") from error
        catalogue = Catalogue(path, create=create)
        model = load_embeddings(embeddings) if embeddings is not None else None
        try:
            chosen = _agreed_config(catalogue, config, str(root))
            model = _agreed_model(catalogue, model, str(root))
        except FinRagError:
            catalogue.close()
            raise
        engine: KeywordIndex = TantivyKeywords(root / "keywords") if keywords == "tantivy" else RankBm25Keywords()
        index = cls(
            root, catalogue, embeddings=model, tokenization=tokenization, config=chosen, keywords=engine
        )
        if keywords == "rank-bm25":
            engine.add(index._keyword_records())
        return index

    def close(self) -> None:
        """Close the files; the object is of no use afterwards."""
        if "_vectors" in self.__dict__:
            self._vectors.close()
        self._catalogue.close()

    # --- what is in it ------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._catalogue.counts()[0]

    @property
    def chunk_count(self) -> int:
        """Return the number of chunks."""
        return self._catalogue.counts()[1]

    def documents(
        self, filter: Filter | None = None, *, session_id: str | None = None  # noqa: A002  # LangChain's name
    ) -> list[dict[str, object]]:
        """Return the metadata of each document, with the number of its ``chunks``, sorted by ``doc_id``.

        Private documents are listed for their own session only.
        """
        wanted = parse_filter(filter) & scope_filter(session_id)
        return self._catalogue.document_metadata(wanted)

    def text(self, doc_id: str, *, session_id: str | None = None) -> str:
        """Return the canonical text of a document.

        Raises:
            NotFoundError: if there is no such document, or it is private to another session.
        """
        visible = self._catalogue.document_metadata(parse_filter({DOC_ID: doc_id}) & scope_filter(session_id))
        found = self._catalogue.document(doc_id) if visible else None
        if found is None:
            raise NotFoundError(f"There is no document {doc_id!r} in the index. 'documents()' lists them.")
        return self._catalogue.texts([found[0]])[found[0]]

    # --- writing ------------------------------------------------------------------------------

    def add(
        self,
        sources: Sources,
        *,
        progress: Callable[[Progress], None] | None = None,
        **metadata: Any,  # noqa: ANN401  # keys and values of the caller's own
    ) -> AddReport:
        """Take files, folders or LangChain Documents into the index.

        Unchanged documents cost a hash; changed ones replace their older form. A source that cannot be read
        is reported and changes nothing; each document is taken whole or not at all.

        Args:
            sources: a path, a folder, a Document, or several of them.
            progress: called after each source.
            metadata: keys for all of them, which win over what the documents say.

        Raises:
            NotFoundError: if a path does not exist.
            InputError: if a folder holds no document, or the metadata are no flat scalars.
            IntegrityError: if another process is writing, the model is another one than the index was
                made with, or the disk refuses; the index then is as it was after the last whole document.

        Example:
            ``index.add("filings/", source_scope="public")``
        """
        report = AddReport()
        given = clean_metadata(metadata)
        pending = gather(sources, report)
        with self._writing():
            self._purge()
            group: list[_Prepared] = []
            taken: dict[str, str] = {}
            for done, source in enumerate(pending, 1):
                prepared = self._prepare(source, given, taken, report)
                if prepared is not None:
                    group.append(prepared)
                if sum(len(p.chunks) for p in group) >= _GROUP_CHUNKS or done == len(pending):
                    self._write(group, report)
                    group = []
                if progress is not None:
                    progress(Progress(done, len(pending), source_name(source), report.chunks))
        return report

    def remove(self, doc_id: str | Iterable[str]) -> list[str]:
        """Take documents out of the index and return the ids that were in it."""
        wanted = [doc_id] if isinstance(doc_id, str) else list(doc_id)
        with self._writing():
            known = [one for one in wanted if self._catalogue.fingerprint(one) is not None]
            self._catalogue.commit([], remove=known)
            self._purge()
        return known

    def rebuild_keywords(self) -> int:
        """Build the keyword index anew from the stored texts and return the number of chunks."""
        with self._writing():
            self._keywords.clear()
            self._keywords.add(self._keyword_records())
        return self._keywords.count()

    def verify(self) -> list[str]:
        """Compare counts, hashes and offsets of all parts; return what is wrong, nothing if all holds."""
        faults: list[str] = []
        expected = self.chunk_count
        if expected:
            faults += self._vectors.check(expected)
        found = self._keywords.count()
        if found != expected:
            faults.append(
                f"The keyword index holds {found} chunks, the catalogue {expected}. Run rebuild_keywords()."
            )
        for metadata in self._catalogue.document_metadata(parse_filter(None)):
            stored = self._catalogue.document(str(metadata[DOC_ID]))
            if stored is not None:
                text = self._catalogue.texts([stored[0]])[stored[0]]
                if text_sha256(text) != metadata[TEXT_SHA256]:
                    faults.append(f"The text of {metadata[DOC_ID]!r} does not match its hash. Ingest it again.")
        return faults

    # --- searching ----------------------------------------------------------------------------

    def resolve(
        self,
        filter: Filter | None = None,  # noqa: A002  # LangChain's name
        *,
        as_of: int | str | datetime.date | None = None,
        session_id: str | None = None,
    ) -> Allowed:
        """Resolve a filter, once, into the rows that every search may return."""
        return self._catalogue.allowed(parse_filter(filter) & as_of_filter(as_of) & scope_filter(session_id))

    def dense_search(self, question: str, k: int, allowed: Allowed) -> Scored:
        """Return the ``k`` allowed rows most similar in meaning, with their cosine similarity."""
        if not len(allowed.rows):
            return []
        self._check_model()
        prepared = self.tokenization.prepare_query(question)
        vector = np.asarray(self.embeddings.embed_query(prepared), dtype=np.float32)
        return self._vectors.search(unit(vector), k, allowed)

    def keyword_search(self, question: str, k: int, allowed: Allowed) -> Scored:
        """Return at most ``k`` allowed rows that share words with the question, with their BM25 score."""
        return self._keywords.search(question, k, allowed)

    def fetch(self, rows: Iterable[int]) -> dict[int, Document]:
        """Return the chunks filed under ``rows`` as Documents; rows removed since a search are not there."""
        stored = self._catalogue.chunks(rows)
        documents = {chunk.doc for chunk in stored.values()}
        texts, metadata = self._catalogue.texts(documents), self._catalogue.metadata_of(documents)
        found = {}
        for row, chunk in stored.items():
            if chunk.doc not in texts:
                continue
            spans = parse_spans(str(chunk.metadata[SPANS]))
            found[row] = Document(
                id=chunk.chunk_id,
                page_content="\n\n".join(span.slice(texts[chunk.doc]) for span in spans),
                metadata={**metadata[chunk.doc], **chunk.metadata},
            )
        return found

    def retriever(self, **settings: Any) -> FinancialRetriever:  # noqa: ANN401  # fields of the retriever
        """Return a LangChain retriever over this index; see ``FinancialRetriever`` for its fields."""
        from fin_rag.retrieval.retriever import FinancialRetriever

        return FinancialRetriever(index=self, **settings)

    # --- model --------------------------------------------------------------------------------

    @property
    def embeddings(self) -> Embeddings:
        """Return the embedding model.

        Raises:
            IntegrityError: if the index was made with a model that has to be given.
        """
        if self._embeddings is None:
            name = self._catalogue.setting("embedding_name") or DEFAULT_MODEL
            try:
                self._embeddings = load_embeddings(name)
            except InputError as error:
                raise IntegrityError(
                    f"The index {str(self.folder)!r} was made with the embedding model {name!r}. "
                    "Give it as 'embeddings' when opening."
                ) from error
        return self._embeddings

    @cached_property
    def tokenization(self) -> Tokenization:
        """Return the tokenization that counts budgets and prepares texts."""
        if self._given_tokenization is not None:
            return self._given_tokenization
        stored = self._catalogue.setting("tokenization")
        if stored is None or self._embeddings is not None:
            return tokenization_of(self.embeddings)
        return load_tokenization(stored)

    @cached_property
    def _vectors(self) -> VectorStore:
        dimension = self._catalogue.setting("dimension")
        if dimension is None:
            raise IntegrityError(f"The index {str(self.folder)!r} is empty. Add documents first.")
        return VectorStore(self.folder, int(dimension))

    def _check_model(self) -> None:
        """Compare the model with the one that the index was made with, by a vector kept from then."""
        if self._model_checked:
            return
        vector = embed_unit(self.embeddings, [self.tokenization.prepare(PROBE)])[0]
        stored = self._catalogue.setting("probe")
        name = embedding_name(self.embeddings)
        if stored is not None:
            kept = np.asarray(json.loads(stored), dtype=np.float32)
            if kept.shape != vector.shape or float(kept @ vector) < _SAME_MODEL_COSINE:
                made_with = self._catalogue.setting("embedding_name")
                raise IntegrityError(
                    f"The index {str(self.folder)!r} was made with another embedding model: {made_with!r} with "
                    f"{len(kept)} dimensions. Got {name!r} with {len(vector)}. Open it with the same model, or "
                    "ingest into a new folder."
                )
        else:
            self._catalogue.set_setting("embedding_name", name)
            self._catalogue.set_setting("tokenization", self.tokenization.name)
            self._catalogue.set_setting("dimension", str(len(vector)))
            self._catalogue.set_setting("probe", json.dumps([float(x) for x in vector]))
        self._model_checked = True

    # --- steps of writing ---------------------------------------------------------------------

    @contextmanager
    def _writing(self) -> Iterator[None]:
        lock = FileLock(str(self.folder / "writer.lock"))
        try:
            lock.acquire(timeout=_WRITER_PATIENCE)
        except Timeout as error:
            raise IntegrityError(
                f"Another process is writing to {str(self.folder)!r}. Wait for it to end and try again."
            ) from error
        except OSError as error:
            raise IntegrityError(f"{str(self.folder)!r} cannot be written: {error.strerror}.") from error
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise IntegrityError(
                f"The index {str(self.folder)!r} could not be written: {error}. It is as it was after the last "
                "whole document; make room or check the permissions, and run the same again."
            ) from error
        finally:
            lock.release()

    def _prepare(
        self,
        source: Path | Document,
        metadata: Mapping[str, MetadataValue],
        taken: dict[str, str],
        report: AddReport,
    ) -> _Prepared | None:
        """Load and split one source; note in the report why there is nothing to write."""
        name = source_name(source)
        settings = f"{self.config}|{self.tokenization.name}"
        try:
            key = input_key(source, metadata, settings)
            known = self._catalogue.known_input(key)
            if known is not None:
                report.unchanged.append(known)
                return None
            document = load_document(source, metadata)
            splitter = splitter_for(
                document,
                chunk_size=self.config.max_tokens,
                chunk_overlap=self.config.overlap_tokens,
                tokenization=self.tokenization,
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
        taken[doc_id] = name
        if isinstance(whole, SourceDocument) and whole.markup.warnings:
            report.warnings[name] = list(whole.markup.warnings)
        texts = [
            self.tokenization.prepare(c.page_content, header=str(c.metadata[CONTEXT_HEADER])) for c in chunks
        ]
        sections = [
            {"section_id": s.section_id, "title": s.title, "path": list(s.path), "level": s.level,
             "start": s.span.start, "end": s.span.end}
            for s in outline
        ]  # fmt: skip
        identity = json.dumps([whole.metadata, settings, [c.id for c in chunks]], sort_keys=True, default=str)
        model = embedding_name(self.embeddings)
        return _Prepared(
            whole,
            chunks,
            sections,
            texts,
            [hashlib.sha256(f"{model}\x1f{text}".encode()).digest() for text in texts],
            key,
            hashlib.sha256(identity.encode()).hexdigest(),
        )

    def _write(self, group: Sequence[_Prepared], report: AddReport) -> None:
        """Embed and file a group of documents; the catalogue's commit makes them visible together."""
        if not group:
            return
        self._check_model()
        vectors = self._embedded([key for p in group for key in p.keys], [t for p in group for t in p.texts], report)
        new: list[NewDocument] = []
        at = 0
        for prepared in group:
            count = len(prepared.chunks)
            new.append(self._file(prepared, vectors[at : at + count]))
            at += count
        replaced = {str(n.metadata[DOC_ID]) for n in new if self._catalogue.fingerprint(str(n.metadata[DOC_ID]))}
        self._keywords.add(
            KeywordRecord(document.first_row + i, document.first_row, str(document.metadata.get(LANG)), text)
            for prepared, document in zip(group, new, strict=True)
            for i, text in enumerate(prepared.texts)
        )
        self._catalogue.commit(new)
        self._purge()
        for document in new:
            doc_id = str(document.metadata[DOC_ID])
            (report.replaced if doc_id in replaced else report.added).append(doc_id)
        report.chunks += at

    def _file(self, prepared: _Prepared, vectors: NDArray[np.float32]) -> NewDocument:
        """Put the vectors of one document where the catalogue will look for them."""
        metadata = clean_metadata({k: v for k, v in prepared.document.metadata.items() if k != PAGE_MAP})
        first = self._catalogue.reserve(len(prepared.chunks))
        self._vectors.add(
            first,
            vectors,
            [chunk.page_content for chunk in prepared.chunks],
            [chunk.metadata for chunk in prepared.chunks],
        )
        own = [
            {key: value for key, value in chunk.metadata.items() if key not in metadata or metadata[key] != value}
            for chunk in prepared.chunks
        ]
        return NewDocument(
            metadata=metadata,
            text=prepared.document.page_content,
            outline=prepared.outline,
            fingerprint=prepared.fingerprint,
            input_key=prepared.input_key,
            first_row=first,
            chunk_ids=[str(chunk.id) for chunk in prepared.chunks],
            chunk_metadata=own,
            embedding_keys=prepared.keys,
        )

    def _embedded(
        self, keys: Sequence[bytes], texts: Sequence[str], report: AddReport
    ) -> NDArray[np.float32]:
        """Return one vector a text: taken again where the index has it, embedded otherwise."""
        known = self._catalogue.embedded(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        made = embed_unit(self.embeddings, list(missing.values())) if missing else None
        position = {key: i for i, key in enumerate(missing)}
        report.embedded += len(missing)
        out = np.zeros((len(keys), int(self._catalogue.setting("dimension") or 0)), dtype=np.float32)
        for i, key in enumerate(keys):
            if made is not None and key in position:
                out[i] = made[position[key]]
            else:
                out[i] = self._vectors.file.read([known[key]])[0]
        return out

    def _purge(self) -> None:
        """Take out of the other parts what the catalogue does not hold (any more)."""
        stale = self._catalogue.stale_rows()
        for first, count in stale:
            if count and self._catalogue.setting("dimension") is not None:
                self._vectors.remove(first, count)
                self._keywords.remove(first, count)
        self._catalogue.forget_stale(stale)

    def _keyword_records(self) -> Iterator[KeywordRecord]:
        """Yield what the keyword index holds, from the stored texts, a document at a time."""
        current, text, metadata = -1, "", {}
        for row, doc, _, own in self._catalogue.every_chunk():
            if doc != current:
                current, text = doc, self._catalogue.texts([doc])[doc]
                metadata = self._catalogue.metadata_of([doc])[doc]
            body = "\n\n".join(span.slice(text) for span in parse_spans(str(own[SPANS])))
            prepared = self.tokenization.prepare(body, header=str(own[CONTEXT_HEADER]))
            yield KeywordRecord(row, doc, str(metadata.get(LANG)), prepared)


def _agreed_config(catalogue: Catalogue, given: ChunkingConfig | None, folder: str) -> ChunkingConfig:
    stored = catalogue.setting("config")
    if stored is None:
        chosen = given or DEFAULT_CONFIG
        catalogue.set_setting("config", json.dumps(asdict(chosen)))
        return chosen
    made_with = ChunkingConfig.from_settings(json.loads(stored))
    if given is not None and given != made_with:
        raise InputError(f"The index {folder!r} was made with {made_with}. Got {given}. Ingest into a new folder.")
    return made_with


def _agreed_model(catalogue: Catalogue, given: Embeddings | None, folder: str) -> Embeddings | None:
    """Refuse a model that is known to be another one; the vectors are compared at first use."""
    stored = catalogue.setting("embedding_name")
    if given is not None and stored is not None and embedding_name(given) != stored:
        raise IntegrityError(
            f"The index {folder!r} was made with the embedding model {stored!r}. Got {embedding_name(given)!r}. "
            "Open it with the same model, or ingest into a new folder."
        )
    return given
