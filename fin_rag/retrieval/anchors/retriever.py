"""``AnchorRetriever``: detectors find anchors, one arbiter decides over all of them, and everything is on record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig, run_in_executor
from pydantic import Field, PrivateAttr, field_validator

from fin_rag.errors import InputError
from fin_rag.index.catalogue import Allowed
from fin_rag.index.consistent import consistent
from fin_rag.query import Selection, select_documents
from fin_rag.retrieval.anchors.arbiter import Arbiter, Case, EvidenceArbiter, role_rank
from fin_rag.retrieval.anchors.compose import candidates
from fin_rag.retrieval.anchors.contents import table_of_contents
from fin_rag.retrieval.anchors.detect import Detection
from fin_rag.retrieval.anchors.model import COMPOSITIONS, DETECTORS, Candidate, Decision, Role
from fin_rag.retrieval.anchors.model_arbiter import ModelArbiter
from fin_rag.retrieval.anchors.plan import make_plan
from fin_rag.retrieval.anchors.pool import Pool, Reader, Titles
from fin_rag.retrieval.anchors.record import make_record
from fin_rag.retrieval.parent import passage_around
from fin_rag.retrieval.scope import Day, ScopedRetriever, both_filters, earlier_day, identified, with_result
from fin_rag.schema import CHUNK_ID, FOUND_BY, RANK, REASON, SCORE, format_spans

ROLE: Final = "role"
ANCHORS: Final = "anchors"


@dataclass(frozen=True, slots=True)
class Examination:
    """Hold the answer of an anchor retrieval: the evidence, and the audit record as a JSON document.

    ``found`` is false where nothing in scope answers the question; then there is no evidence.
    """

    documents: list[Document]
    record: dict[str, Any]

    @property
    def found(self) -> bool:
        """Tell whether anything answers the question."""
        return bool(self.record["decision"]["found"])


@dataclass(frozen=True, slots=True)
class _Prepared:
    question: str
    k: int
    scope: dict[str, Any]
    detection: Detection | None
    selection: Selection | None
    case: Case
    passages: list[Document]


class AnchorRetriever(ScopedRetriever):
    r"""Find evidence by lines and tables of contents, and let one arbiter decide with reasons.

    Detectors look at section titles (words and meaning), at lines (weighted words that stand together, shapes
    of values, patterns) and at chunks (meaning). Anchors are gathered with their context into candidates within
    their structural unit; compositions rank these; then one arbiter gives each a role: ``primary``, ``supporting``,
    ``tangential`` or ``discarded``. With ``llm`` that is one call of a chat model; without one the evidence
    decides, and says so. "Not found" is an answer: an empty list. ``examine`` returns the audit record as well.

    Results carry ``role``, ``reason``, ``score`` (1 is first in every composition), ``rank``, ``found_by`` and
    ``anchors`` (the spans of the lines that carried the hit).

    Attributes:
        llm: a LangChain chat model that decides; ``None`` for the evidence alone.
        arbiter: another arbiter in place of both.
        pool_size: chunks taken from each search.
        limit: candidates that the arbiter sees, at least.
        max_chars: code points of a candidate's context.
        derive: look only at documents of the issuers, periods and kinds that the question names; what that leaves
            out is on record. A question about a company that the index does not hold finds nothing.
        detectors: names of the detectors to run.
        compositions: names of the compositions with their weights.
        roles: roles that are returned, at most ``k`` results in all.
        keywords: further words to look for, with weights.
        patterns: named regular expressions to look for in lines.
        on_record: called with every audit record.

    Raises:
        InputError: if the scope is wrong, or a call names another session.

    Example:
        >>> import tempfile
        >>> from fin_rag import FilingIndex
        >>> index = FilingIndex.open(tempfile.mkdtemp())
        >>> letter = "# Letter\n\n## Sales\n\nNet sales were $5 million.\n\n## Audit\n\nOur auditor is Voss LLP."
        >>> _ = index.add(Document(page_content=letter, metadata={"filed": 20320301}))
        >>> found = AnchorRetriever(index=index).examine("Who is the auditor?", as_of="2032-12-31")
        >>> found.found, found.documents[0].metadata["section_path"]
        (True, 'Audit')
        >>> sorted(found.record)[:3]
        ['candidates', 'decision', 'detectors']
        >>> index.close()
    """

    llm: BaseChatModel | None = None
    arbiter: Any = None
    pool_size: int = Field(default=40, ge=1)
    limit: int = Field(default=12, ge=1)
    max_chars: int = Field(default=900, ge=1)
    derive: bool = True
    detectors: Sequence[str] = DETECTORS
    compositions: Mapping[str, float] = Field(default_factory=lambda: dict.fromkeys(COMPOSITIONS, 1.0))
    roles: Sequence[Role] = ("primary", "supporting", "tangential")
    keywords: Mapping[str, float] | None = None
    patterns: Mapping[str, str] | None = None
    on_record: Callable[[dict[str, Any]], object] | None = None

    _reader: Reader = PrivateAttr()

    @field_validator("detectors")
    @classmethod
    def _known_detectors(cls, value: Sequence[str]) -> Sequence[str]:
        return _known("detector", value, DETECTORS)

    @field_validator("compositions")
    @classmethod
    def _known_compositions(cls, value: Mapping[str, float]) -> Mapping[str, float]:
        _known("composition", list(value), COMPOSITIONS)
        if any(weight <= 0 for weight in value.values()):
            raise ValueError("the weights of compositions must be above 0")
        return value

    def model_post_init(self, context: Any, /) -> None:  # noqa: ANN401  # pydantic's signature
        """Keep what is read of the index between questions."""
        super().model_post_init(context)
        make_plan("", keywords=self.keywords, patterns=self.patterns)
        self._reader = Reader(self.index)

    def examine(
        self,
        question: str,
        *,
        k: int | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002  # LangChain's name
        as_of: Day | None = None,
        session_id: str | None = None,
        config: RunnableConfig | None = None,
    ) -> Examination:
        """Return the evidence for a question, and the audit record; ``config`` goes to the model."""
        prepared = self._prepare(question, k, filter, as_of, session_id)
        return self._finish(prepared, self._chosen_arbiter().decide(prepared.case, config))

    async def aexamine(
        self,
        question: str,
        *,
        k: int | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002  # LangChain's name
        as_of: Day | None = None,
        session_id: str | None = None,
        config: RunnableConfig | None = None,
    ) -> Examination:
        """Return the evidence for a question, and the audit record, without blocking the event loop."""
        prepared = await run_in_executor(None, self._prepare, question, k, filter, as_of, session_id)
        return self._finish(prepared, await self._chosen_arbiter().adecide(prepared.case, config))

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002  # LangChain's name
        as_of: Day | None = None,
        session_id: str | None = None,
    ) -> list[Document]:
        config = RunnableConfig(callbacks=run_manager.get_child())
        scope: dict[str, Any] = {"filter": filter, "as_of": as_of, "session_id": session_id}
        return self.examine(query, k=k, config=config, **scope).documents

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        **kwargs: Any,  # noqa: ANN401  # those of the method above
    ) -> list[Document]:
        config = RunnableConfig(callbacks=run_manager.get_child())
        return (await self.aexamine(query, config=config, **kwargs)).documents

    # --- the parts ----------------------------------------------------------------------------

    def _chosen_arbiter(self) -> Arbiter:
        if self.arbiter is not None:
            chosen: Arbiter = self.arbiter
            return chosen
        return ModelArbiter(self.llm) if self.llm is not None else EvidenceArbiter()

    @consistent
    def _prepare(
        self, question: str, k: int | None, given: Mapping[str, Any] | None, as_of: Day | None, session_id: str | None
    ) -> _Prepared:
        wanted, allowed = self.wanted(k), self.allowed(given, as_of, session_id)
        session = self.session_id or session_id
        scope = {
            "filter": both_filters(self.filter, given),
            "as_of": earlier_day(self.as_of, as_of),
            "session_id": session,
        }
        detection, selection = (
            self._detect(question, allowed, session) if question.strip() and len(allowed.rows) else (None, None)
        )
        limit = max(self.limit, 2 * wanted)
        weights = selection.weights if selection else {}
        found = candidates(detection, self.compositions, limit, self.max_chars, weights) if detection else []
        chunks = self.index.fetch(passage.row for one in found for passage in one.passages)
        passages = [self._passage(one, chunks) for one in found]
        texts = [passage.page_content for passage in passages]
        case = Case(question, table_of_contents(found), found, texts)
        return _Prepared(question, wanted, scope, detection, selection, case, passages)

    def _detect(
        self, question: str, allowed: Allowed, session_id: str | None
    ) -> tuple[Detection | None, Selection | None]:
        """Run the detectors within what is allowed and what the question itself is about."""
        library = self._reader.library(session_id)
        given: dict[str, Any] = {"keywords": self.keywords, "patterns": self.patterns}
        plan = make_plan(question, library, occurs=lambda word: self.index.occurs(word, allowed), **given)
        selection = select_documents(plan.query, library, allowed.documents) if self.derive else None
        within = self.index.narrow(allowed, selection.weights) if selection is not None else allowed
        if not len(within.rows):
            return None, selection
        weights = selection.weights if selection is not None else None
        pool = Pool(self._reader, question, plan.search, within, session_id, weights)
        pool.search(self.pool_size)
        return Detection(pool, plan, Titles(self._reader, pool.views()), self.detectors), selection

    def _passage(self, candidate: Candidate, chunks: Mapping[int, Document]) -> Document:
        children = [identified(chunks[p.row]) for p in candidate.passages if p.row in chunks]
        if not children:
            raise InputError("The index changed while a question was answered. Ask again.")
        passage = passage_around(candidate.view, candidate.unit, children, self.max_chars)
        return with_result(passage, **{CHUNK_ID: candidate.passages[0].chunk_id})

    def _finish(self, prepared: _Prepared, decision: Decision) -> Examination:
        reasons = {judgement.candidate_id: judgement for judgement in decision.judgements}
        kept: list[tuple[int, int, Document]] = []
        for position, (candidate, passage) in enumerate(zip(prepared.case.candidates, prepared.passages, strict=True)):
            judgement = reasons[candidate.candidate_id]
            if not decision.found or judgement.role not in self.roles:
                continue
            added = {
                SCORE: round(candidate.score, 6),
                FOUND_BY: candidate.found_by,
                REASON: f"{judgement.role}: {judgement.reason}",
                ROLE: judgement.role,
                ANCHORS: format_spans(candidate.anchors),
                "candidate_id": candidate.candidate_id,
            }
            kept.append((role_rank(judgement.role), position, with_result(passage, **added)))
        chosen = [document for _, _, document in sorted(kept, key=lambda entry: entry[:2])[: prepared.k]]
        documents = [with_result(document, **{RANK: rank}) for rank, document in enumerate(chosen, 1)]
        record = make_record(
            self.index,
            question=prepared.question,
            scope=prepared.scope,
            settings=self._settings(prepared.k),
            detection=prepared.detection,
            selection=prepared.selection,
            candidates=prepared.case.candidates,
            passages=prepared.passages,
            decision=decision,
            results=[document.metadata["candidate_id"] for document in documents],
        )
        if self.on_record is not None:
            self.on_record(record)
        return Examination(documents, record)

    def _settings(self, k: int) -> dict[str, Any]:
        arbiter = self._chosen_arbiter()
        evidence = arbiter.fallback if isinstance(arbiter, ModelArbiter) else arbiter
        limits = (
            {"least_coverage": evidence.least_coverage, "least_cosine": evidence.least_cosine}
            if isinstance(evidence, EvidenceArbiter)
            else None
        )
        return {
            "k": k,
            "pool_size": self.pool_size,
            "limit": self.limit,
            "max_chars": self.max_chars,
            "derive": self.derive,
            "detectors": list(self.detectors),
            "compositions": dict(self.compositions),
            "roles": list(self.roles),
            "keywords": dict(self.keywords) if self.keywords else None,
            "patterns": dict(self.patterns) if self.patterns else None,
            "evidence_arbiter": limits,
        }


def _known(what: str, names: Sequence[str], known: Sequence[str]) -> Sequence[str]:
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise ValueError(f"Unknown {what} {unknown!r}. Give at least one of: {', '.join(known)}")
    return tuple(names)
