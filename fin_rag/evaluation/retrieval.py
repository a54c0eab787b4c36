"""``evaluate_retrieval``: run a retriever over a golden set and measure it at equal results and equal context."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from fin_rag.errors import InputError
from fin_rag.evaluation.corpus import Corpus
from fin_rag.evaluation.golden import GoldenSet
from fin_rag.evaluation.hits import Hit, hits_of
from fin_rag.evaluation.measures import judge, measure
from fin_rag.evaluation.questions import Question
from fin_rag.evaluation.resolve import GoldQuestion, ResolvedSet, resolve
from fin_rag.evaluation.results import Cutoff, QuestionResult, RetrievalReport
from fin_rag.index.store import FilingIndex
from fin_rag.schema import DOC_ID
from fin_rag.tokens import Tokenization, load_tokenization, memoised_count

Retriever: TypeAlias = BaseRetriever | Callable[[str], Sequence[Document]]
ClusterBy: TypeAlias = Literal["document", "issuer", "question"]


def evaluate_retrieval(
    golden: GoldenSet | ResolvedSet,
    retriever: Retriever,
    corpus: Corpus | FilingIndex | None = None,
    *,
    name: str = "retriever",
    ks: Sequence[int] = (1, 3, 5, 10),
    characters: Sequence[int] = (1300, 2000, 4000, 8000),
    tokens: Sequence[int] = (500, 1000, 2000, 4000),
    depth: int = 40,
    threshold: float = 0.5,
    long_table: int = 1200,
    cluster_by: ClusterBy = "document",
    within_documents: bool = False,
    pack_budgets: bool = False,
    tokenization: Tokenization | None = None,
) -> RetrievalReport:
    """Measure a retriever on the answerable questions of a golden set; see ``fin_rag.evaluation.measures``.

    The ranked list of ``depth`` results is read up to each number of results in ``ks`` and, so that nobody wins by
    returning longer texts, up to each **budget**: the longest beginning of the list that fits into so many
    ``characters`` or ``tokens`` of prompt text (context header included). A result that alone exceeds the budget is
    cut off with all behind it.

    Args:
        golden: the questions; places are resolved against ``corpus`` unless that was done before.
        retriever: a LangChain retriever, or a function from a question to Documents, best first. Results need
            ``spans`` or ``start_index``. ``k``, ``as_of`` and ``filter`` are handed over where it takes them.
        corpus: the documents; by default those of the retriever's own index.
        name: what the report calls the retriever.
        ks: numbers of results.
        characters: budgets in characters.
        tokens: budgets in tokens of ``tokenization``.
        depth: how many results to ask for.
        threshold: the share of a passage's characters that has to be returned.
        long_table: characters above which a table may be found by its answer row and column names.
        cluster_by: what the intervals resample as a whole.
        within_documents: search only the documents that each question is about, as if they were known.
        pack_budgets: let a retriever that can pack (``retrieve(question, max_chars=…, max_tokens=…)``) pack each
            budget itself, as it would for a prompt; what exceeds the budget is cut off all the same.
        tokenization: counts tokens; the default model's if none is given.

    Raises:
        InputError: if a place cannot be resolved, a result names no place, or an argument is out of range.

    Example:
        >>> from langchain_core.documents import Document
        >>> from fin_rag.evaluation import Corpus, GoldenSet
        >>> letter = Document(page_content="Net debt fell. Sales rose.", metadata={"doc_id": "letter"})
        >>> passages = [{"document": "letter", "quote": "Sales rose."}]
        >>> golden = GoldenSet.from_rows([{"question_id": "q", "question": "Sales?", "passages": passages}])
        >>> hit = Document(page_content="Sales rose.", metadata={"doc_id": "letter", "spans": "15-26"})
        >>> report = evaluate_retrieval(golden, lambda question: [hit], Corpus.from_documents([letter]), ks=(1,))
        >>> report.mean("recall", "@1").mean
        1.0
    """
    if not 0 < threshold <= 1:
        raise InputError(f"'threshold' of evaluate_retrieval must be above 0 and at most 1. Got {threshold!r}.")
    if depth < max([1, *ks]):
        raise InputError(f"'depth' of evaluate_retrieval must be at least the largest of ks ({max(ks)}). Got {depth}.")
    documents = _corpus(corpus, retriever)
    resolved = golden if isinstance(golden, ResolvedSet) else resolve(golden, documents, long_table=long_table)
    if not resolved.questions:
        raise InputError(f"{resolved.golden.name} has no finished question with an answer; nothing can be measured.")
    cutoffs = [Cutoff("results", k) for k in sorted(set(ks))]
    cutoffs += [Cutoff("characters", limit) for limit in sorted(set(characters))]
    cutoffs += [Cutoff("tokens", limit) for limit in sorted(set(tokens))]
    count = memoised_count((tokenization or load_tokenization()).count_tokens) if tokens else None
    ask = _asker(retriever, depth, documents, within_documents=within_documents)
    pack = _packer(retriever) if pack_budgets else None
    results = []
    for gold in resolved.questions:
        hits = hits_of(ask(gold.question)[:depth], documents, count)
        packed = {
            cutoff.name: hits_of(pack(gold.question, cutoff), documents, count)
            for cutoff in cutoffs
            if pack is not None and cutoff.unit != "results"
        }
        cluster = _cluster(gold, documents, cluster_by)
        results.append(_question(gold, hits, packed, cutoffs, threshold, cluster))
    settings = {
        "threshold": threshold, "depth": depth, "long_table": long_table, "cluster_by": cluster_by,
        "within_documents": within_documents, "pack_budgets": pack is not None,
    }  # fmt: skip
    return RetrievalReport(
        name=name,
        golden_name=resolved.golden.name,
        golden_hash=resolved.golden.content_hash,
        cutoffs=tuple(cutoffs),
        results=tuple(results),
        settings=settings,
        notes=(*resolved.notes, *_notes(resolved, retriever, results, cutoffs, depth)),
    )


def _corpus(corpus: Corpus | FilingIndex | None, retriever: Retriever) -> Corpus:
    if isinstance(corpus, Corpus):
        return corpus
    index = corpus or getattr(retriever, "index", None)
    if not isinstance(index, FilingIndex):
        raise InputError(
            "evaluate_retrieval needs the 'corpus' that gold passages stand in: a Corpus or a FilingIndex."
        )
    return Corpus.from_index(index)


def _asker(
    retriever: Retriever, depth: int, corpus: Corpus, *, within_documents: bool
) -> Callable[[Question], list[Document]]:
    """Return a function that asks the retriever, with what of ``k``, ``as_of`` and ``filter`` it takes."""
    if not isinstance(retriever, BaseRetriever):
        if within_documents:
            raise InputError("'within_documents' needs a LangChain retriever that takes a 'filter'.")
        return lambda question: list(retriever(question.question))
    takes_k, takes_day = _takes(retriever, "k"), _takes(retriever, "as_of", by_name=True)
    if within_documents and not _takes(retriever, "filter"):
        raise InputError(
            f"'within_documents' needs a retriever that takes a 'filter'; {type(retriever).__name__} does not."
        )

    def ask(question: Question) -> list[Document]:
        settings: dict[str, Any] = {}
        if takes_k:
            settings["k"] = depth
        if question.as_of is not None and takes_day:
            settings["as_of"] = question.as_of
        if within_documents:
            ids = [corpus.find_id(name) or name for name in question.gold_documents]
            settings["filter"] = {DOC_ID: {"$in": ids}}
        return retriever.invoke(question.question, **settings)

    return ask


def _takes(retriever: Retriever, name: str, *, by_name: bool = False) -> bool:
    """Tell whether a retriever takes an argument; unless ``by_name``, also among any others."""
    if not isinstance(retriever, BaseRetriever):
        return False
    taken = inspect.signature(retriever._get_relevant_documents).parameters  # LangChain's hook
    return name in taken or (not by_name and any(p.kind is p.VAR_KEYWORD for p in taken.values()))


def _packer(retriever: Retriever) -> Callable[[Question, Cutoff], Sequence[Document]]:
    """Return a function that has the retriever itself pack a budget."""
    retrieve = getattr(retriever, "retrieve", None)
    taken = inspect.signature(retrieve).parameters if callable(retrieve) else {}
    if retrieve is None or not {"max_chars", "max_tokens"} <= taken.keys():
        raise InputError(
            "'pack_budgets' needs a retriever with retrieve(question, max_chars=…, max_tokens=…); "
            f"{type(retriever).__name__} has none."
        )
    pack: Callable[..., Sequence[Document]] = retrieve

    def packed(question: Question, cutoff: Cutoff) -> Sequence[Document]:
        budget = {"max_chars" if cutoff.unit == "characters" else "max_tokens": cutoff.limit}
        as_of = {"as_of": question.as_of} if question.as_of is not None and "as_of" in taken else {}
        return pack(question.question, **budget, **as_of)

    return packed


def _question(
    gold: GoldQuestion,
    hits: tuple[Hit, ...],
    packed: Mapping[str, tuple[Hit, ...]],
    cutoffs: Sequence[Cutoff],
    threshold: float,
    cluster: str,
) -> QuestionResult:
    judged = judge(gold, hits, threshold)
    scores = {}
    for cutoff in cutoffs:
        read = packed.get(cutoff.name, hits)
        places = cutoff.limit if cutoff.unit == "results" else None
        of_read = judged if read is hits else judge(gold, read, threshold)
        scores[cutoff.name] = measure(of_read, cutoff.reach(read), places=places)
    return QuestionResult(gold, cluster, hits, judged, scores, packed)


def _cluster(gold: GoldQuestion, corpus: Corpus, cluster_by: ClusterBy) -> str:
    if cluster_by == "question":
        return gold.question.question_id
    ids = [corpus.find_id(name) or name for name in gold.question.gold_documents]
    if cluster_by == "document":
        return " + ".join(sorted(ids))
    known = set(corpus.doc_ids)
    return " + ".join(sorted({str(corpus.metadata(i).get("issuer") or i) if i in known else i for i in ids}))


def _notes(
    resolved: ResolvedSet,
    retriever: Retriever,
    results: Sequence[QuestionResult],
    cutoffs: Sequence[Cutoff],
    depth: int,
) -> list[str]:
    golden = resolved.golden
    notes = []
    drafts = sum(q.status == "draft" for q in golden)
    unanswerable = sum(not q.answerable and q.status == "final" for q in golden)
    if drafts:
        notes.append(f"{drafts} draft question(s) were not measured; finish them and set 'status' to 'final'")
    if unanswerable:
        notes.append(f"{unanswerable} unanswerable question(s) have no passage to find; evaluate_answers measures them")
    dated = sum(gold.question.as_of is not None for gold in resolved.questions)
    if dated and not _takes(retriever, "as_of", by_name=True):
        notes.append(f"{dated} question(s) have an 'as_of' that the retriever does not take: it may see later filings")
    for cutoff in cutoffs:
        unpacked = [r for r in results if cutoff.name not in r.packed]
        short = sum(len(r.hits) == depth and cutoff.reach(r.hits) == depth for r in unpacked)
        if short and cutoff.unit != "results":
            notes.append(f"{cutoff.name}: {short} ranking(s) ended at depth {depth} before the budget was full")
    return notes
