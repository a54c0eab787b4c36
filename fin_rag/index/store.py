"""``FilingIndex``: vectors, keywords, texts and catalogue of a set of documents, in one folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from pydantic import ValidationError

from fin_rag.errors import FinRagError, InputError, NotFoundError
from fin_rag.index import mending
from fin_rag.index.backup import backup as make_backup
from fin_rag.index.backup import restore as restore_backup
from fin_rag.index.catalogue import Allowed, Catalogue, StoredChunk
from fin_rag.index.embeddings import load_embeddings
from fin_rag.index.filters import Filter, as_of_filter, parse_filter, scope_filter
from fin_rag.index.ingest import AddReport, Progress, Sources, gather
from fin_rag.index.keyword_files import KeywordFiles
from fin_rag.index.keywords import KeywordIndex, RankBm25Keywords, TantivyKeywords
from fin_rag.index.parts import PartFolders, Parts
from fin_rag.index.provisions import Citation, Provisions
from fin_rag.index.statements import FiledStatement, read_statements
from fin_rag.index.vectors import Scored
from fin_rag.index.view import DocumentView, read_view
from fin_rag.index.writer import Writer, keyword_records
from fin_rag.schema import (
    CONTEXT_HEADER,
    DOC_ID,
    DOC_TYPE,
    SPANS,
    MetadataValue,
    PageMap,
    clean_metadata,
    parse_spans,
)
from fin_rag.splitters.config import ChunkingConfig
from fin_rag.tokens import Tokenization

if TYPE_CHECKING:
    import datetime

    import pandas as pd
    from numpy.typing import NDArray

    from fin_rag.retrieval.retriever import FinancialRetriever


@dataclass(frozen=True, slots=True)
class StoredSource:
    """Hold one filed document as evidence is cut from it; ``sections`` are its outline as plain data."""

    doc: int
    text: str
    metadata: Mapping[str, MetadataValue]
    pages: PageMap
    sections: list[dict[str, Any]]
    statements: tuple[FiledStatement, ...]


class FilingIndex:
    r"""Keep documents in one folder and find evidence in them.

    Open it with :meth:`open`; reading needs no lock, and one process at a time may write.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> index = FilingIndex.open(folder)
        >>> report = index.add(Document(page_content="# Letter\n\nNet sales rose 5 % to $1,234 million."))
        >>> report.chunks
        1
        >>> index.retriever(k=1).invoke("How did net sales develop?")[0].metadata["section_path"]
        'Letter'
        >>> index.close()
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._catalogue = parts.catalogue
        self._writer = Writer(parts)
        self._provisions = Provisions(parts.catalogue)

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
            config: the budget of chunks; by default the index's own, for a new one 384 tokens, no overlap.
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
            raise NotFoundError(
                f"There is no index in {str(root)!r}. Make one with: fin-rag ingest PATH --index {root}"
            )
        try:
            root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"The index folder {str(root)!r} cannot be made: {error.strerror}.") from error
        model = load_embeddings(embeddings) if embeddings is not None else None
        catalogue = Catalogue(path, create=create)
        files = PartFolders(root, catalogue)
        engine: KeywordIndex = TantivyKeywords(KeywordFiles(files.keywords))
        if keywords == "rank-bm25":
            engine = RankBm25Keywords()
        try:
            parts = Parts(root, catalogue, engine, files, embeddings=model, tokenization=tokenization, config=config)
        except FinRagError:
            catalogue.close()
            raise
        if keywords == "rank-bm25":
            engine.add(keyword_records(parts))
        index = cls(parts)
        mending.repair(parts, index._writer)
        return index

    def close(self) -> None:
        """Close the files; the object is of no use afterwards."""
        self._parts.close()

    @property
    def folder(self) -> Path:
        """Return where the index lies."""
        return self._parts.folder

    @property
    def config(self) -> ChunkingConfig:
        """Return the budget of its chunks."""
        return self._parts.config

    @property
    def tokenization(self) -> Tokenization:
        """Return the tokenization that counts its budgets."""
        return self._parts.tokenization

    @property
    def embeddings(self) -> Embeddings:
        """Return the embedding model."""
        return self._parts.embeddings

    # --- what is in it ------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._catalogue.counts()[0]

    @property
    def chunk_count(self) -> int:
        """Return the number of chunks."""
        return self._catalogue.counts()[1]

    def documents(
        self,
        filter: Filter | None = None,  # noqa: A002  # LangChain's name
        *,
        session_id: str | None = None,
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
        return self.view(doc_id, session_id=session_id).text

    def view(self, doc_id: str, *, session_id: str | None = None) -> DocumentView:
        """Return a document with its text, sections, pages and lines.

        Raises:
            NotFoundError: if there is no such document, or it is private to another session.
        """
        visible = self._catalogue.document_metadata(parse_filter({DOC_ID: doc_id}) & scope_filter(session_id))
        found = read_view(self._catalogue, doc_id) if visible else None
        if found is None:
            raise NotFoundError(f"There is no document {doc_id!r} in the index. 'documents()' lists them.")
        return found

    def number_of(self, doc_id: str) -> int:
        """Return the number that a document has until it is replaced or removed.

        Raises:
            NotFoundError: if there is no such document.
        """
        found = self._catalogue.number(doc_id)
        if found is None:
            raise NotFoundError(f"There is no document {doc_id!r} in the index. 'documents()' lists them.")
        return found

    def lines(self, doc_id: str, *, session_id: str | None = None) -> pd.DataFrame:
        """Return the lines of a document as a data frame; see ``DocumentView.line_frame``."""
        return self.view(doc_id, session_id=session_id).line_frame()

    def toc(self, doc_id: str, *, session_id: str | None = None) -> pd.DataFrame:
        """Return the table of contents of a document as a data frame; see ``DocumentView.toc_frame``."""
        return self.view(doc_id, session_id=session_id).toc_frame()

    def rows_by_id(self, chunk_ids: Iterable[str]) -> dict[str, int]:
        """Return the row of each chunk id that is in the index; others are absent."""
        return self._catalogue.rows_by_id(chunk_ids)

    def rows_in(self, doc_number: int) -> list[int]:
        """Return the rows of a document's chunks, in its own order; ``DocumentView.number`` names the document."""
        return self._catalogue.rows_in(doc_number)

    def vectors_of(self, rows: Sequence[int]) -> NDArray[np.float32]:
        """Return the stored unit vectors of chunks, in the order of ``rows``."""
        return self._parts.vectors.file.read(rows)

    def embed_question(self, question: str) -> NDArray[np.float32]:
        """Return the unit vector of a question."""
        return self._parts.embed_question(question)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text, with the index's own model."""
        return self._parts.embed(texts)

    def prepared(self, document: Document) -> str:
        """Return the text of a chunk as it is embedded and indexed: prefix, context header and body."""
        header = str(document.metadata.get(CONTEXT_HEADER, ""))
        return self._parts.tokenization.prepare(document.page_content, header=header)

    # --- statutes -----------------------------------------------------------------------------

    def provision(
        self, address: str, *, act: str | None = None, doc_id: str | None = None, session_id: str | None = None
    ) -> Document:
        """Return one provision of a statute by its address, as a Document without editors' notes.

        Args:
            address: such as ``art:12/par:3/pt:b`` or ``sec:240.10b-5/a``.
            act: the act's name or number, ``Ley 9/2031``; not needed where one act alone has the address.
            doc_id: the document, where the index holds several texts of one act.
            session_id: lets the private documents of this session in.

        Raises:
            NotFoundError: if there is no such act or provision.
            InputError: if several acts have one.
        """
        return self._provisions.provision(address, act=act, doc_id=doc_id, session_id=session_id)

    def references_of(
        self, address: str, *, act: str | None = None, doc_id: str | None = None, session_id: str | None = None
    ) -> list[Citation]:
        """Return the cross-references that stand in a provision, those to other acts of the index resolved.

        Arguments and errors are those of :meth:`provision`.
        """
        return self._provisions.references_of(address, act=act, doc_id=doc_id, session_id=session_id)

    def referenced_by(
        self, address: str, *, act: str | None = None, doc_id: str | None = None, session_id: str | None = None
    ) -> list[Citation]:
        """Return the cross-references, of any act of the index, to a provision, a part of it or the whole of it.

        Arguments and errors are those of :meth:`provision`.
        """
        return self._provisions.referenced_by(address, act=act, doc_id=doc_id, session_id=session_id)

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
        with self._writer.locked():
            self._writer.add(pending, given, report, progress)
        return report

    def remove(self, doc_id: str | Iterable[str]) -> list[str]:
        """Take documents out of the index and return the ids that were in it."""
        wanted = [doc_id] if isinstance(doc_id, str) else list(doc_id)
        with self._writer.locked():
            return self._writer.remove(wanted)

    def remove_session(self, session_id: str) -> list[str]:
        """Take every private document of a session out and erase what is left of them; return their ids.

        Nothing of them stays in any file: vectors and texts are overwritten, the keyword index is made again
        without them.

        Raises:
            InputError: if no session is named.
        """
        if not session_id:
            raise InputError("'session_id' must name a session. Public documents are removed by remove().")
        with self._writer.locked(), self._writer.changing():
            return mending.erase_session(self._parts, self._writer, session_id)

    def rebuild(self) -> int:
        """Make keywords, Chroma's files and damaged vectors again from the stored texts; return the chunks.

        Readers go on meanwhile.
        """
        return mending.rebuild(self._parts, self._writer)

    def verify(self) -> list[str]:
        """Compare counts, hashes, offsets, model and versions of all parts; return what is wrong and what to do."""
        return mending.verify(self._parts)

    def backup(self, folder: str | Path) -> Path:
        """Copy the index into a new folder while others use it; the copy is an index as well.

        Raises:
            InputError: if the folder exists.
            IntegrityError: if a writer does not pause for a minute, or the disk refuses.
        """
        return make_backup(self._parts, self._writer, Path(folder))

    @classmethod
    def restore(cls, backup: str | Path, folder: str | Path, **settings: Any) -> FilingIndex:  # noqa: ANN401
        """Copy a backup to ``folder``, each file compared with its hash, and open it with ``settings`` of :meth:`open`.

        Raises:
            NotFoundError: if there is no backup.
            InputError: if the folder is not empty.
            IntegrityError: if the backup is damaged or has another format.
        """
        restore_backup(Path(backup), Path(folder))
        return cls.open(folder, create=False, **settings)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let this thread see one state of the index until the end, whatever is written meanwhile.

        Example:
            ``with index.snapshot(): rows = index.keyword_search(question, 10, index.resolve())``
        """
        with self._parts.snapshot():
            yield

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

    def narrow(self, allowed: Allowed, documents: Iterable[int]) -> Allowed:
        """Return what is allowed and belongs to ``documents`` (numbers): a filter only ever narrows."""
        wanted = sorted(set(documents) & set(allowed.documents))
        spans = self._catalogue.row_ranges(wanted)
        rows = allowed.rows
        parts = [rows[np.searchsorted(rows, first) : np.searchsorted(rows, first + count)] for first, count in spans]
        kept = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
        return Allowed(kept, tuple(wanted), allowed.everything and len(wanted) == len(allowed.documents))

    def numbered_documents(self, *, session_id: str | None = None) -> list[tuple[int, dict[str, object]]]:
        """Return number and metadata of the documents that a session may see."""
        return self._catalogue.numbered_metadata(scope_filter(session_id))

    def state(self) -> int:
        """Return a number that rises whenever documents come or go."""
        return self._catalogue.state()

    def sources(self, documents: Iterable[int]) -> dict[int, StoredSource]:
        """Return text, metadata, pages, sections and statements of documents, by number."""
        wanted = sorted(set(documents))
        texts, metadata = self._catalogue.texts(wanted), self._catalogue.metadata_of(wanted)
        pages, outlines = self._catalogue.page_maps(wanted), self._catalogue.outlines(wanted)
        statements = self._catalogue.statements(wanted)
        return {
            doc: StoredSource(
                doc, texts[doc], metadata[doc], PageMap.parse(pages[doc]), outlines[doc],
                tuple(read_statements(doc, statements[doc])),
            )
            for doc in wanted if doc in texts
        }  # fmt: skip

    def document_type(self, document: int) -> str:
        """Return the ``doc_type`` of a document, by number; nothing where it is not there."""
        return str(self._catalogue.metadata_of([document]).get(document, {}).get(DOC_TYPE, ""))

    def stored_chunks(self, rows: Iterable[int]) -> dict[int, StoredChunk]:
        """Return the chunks filed under ``rows`` as they are filed."""
        return self._catalogue.chunks(rows)

    def chunks_of(self, document: int) -> list[StoredChunk]:
        """Return the chunks of a document, in order."""
        return self._catalogue.chunks_of(document)

    def dense_search(self, question: str, k: int, allowed: Allowed) -> Scored:
        """Return the ``k`` allowed rows most similar in meaning, with their cosine similarity."""
        if not len(allowed.rows):
            return []
        return self._parts.vectors.search(self._parts.embed_question(question), k, allowed)

    def nearest(self, vector: NDArray[np.float32], k: int, allowed: Allowed) -> Scored:
        """Return the ``k`` allowed rows nearest to a unit vector, such as one of ``embed_question``."""
        return self._parts.vectors.search(vector, k, allowed) if len(allowed.rows) else []

    def keyword_search(
        self, question: str, k: int, allowed: Allowed, *, terms: Mapping[str, float] | None = None
    ) -> Scored:
        """Return at most ``k`` allowed rows that share words with the question, with their BM25 score.

        ``terms`` are further words to look for, each with its weight.
        """
        return self._parts.keywords.search(question, k, allowed, terms=terms)

    def title_search(
        self, question: str, k: int, allowed: Allowed, *, terms: Mapping[str, float] | None = None
    ) -> Scored:
        """Return at most ``k`` allowed rows whose section path shares words with the question."""
        return self._parts.keywords.search_titles(question, k, allowed, terms=terms)

    def occurs(self, word: str, allowed: Allowed) -> bool:
        """Tell whether a word stands in any allowed chunk."""
        return bool(self._parts.keywords.search(word, 1, allowed))

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
        """Return a LangChain retriever over this index; see ``FinancialRetriever`` for its fields.

        Raises:
            InputError: if a field is unknown or has a wrong value.
        """
        from fin_rag.retrieval.retriever import FinancialRetriever

        try:
            return FinancialRetriever(index=self, **settings)
        except ValidationError as error:
            faults = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
            raise InputError(f"The retriever cannot be made: {faults}.") from error
