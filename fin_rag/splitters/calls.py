"""Split earnings calls by turns and exchanges."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Final

from fin_rag.errors import InputError
from fin_rag.schema import ISSUER, TITLE, Chunk, Markup, Outline, Section, Span
from fin_rag.splitters.chunks import chunk_text
from fin_rag.splitters.pack import nothing_joined
from fin_rag.splitters.regions import context_header
from fin_rag.splitters.splitter import StructureTextSplitter
from fin_rag.structure.calls import CallOutline, Turn, call_title, outline_call, united
from fin_rag.tokens import Tokenization

_logger = logging.getLogger(__name__)

_TURN_KIND: Final = "turn"


class EarningsCallTextSplitter(StructureTextSplitter):
    r"""Split earnings calls by turn; each chunk knows who speaks, in which part, in answer to whom.

    Long turns are cut inside the turn, and each piece carries the turn's metadata. Lists of participants,
    titles and notices are chunks of their own, page furniture is in none.

    Args:
        chunk_size: the most tokens of a chunk's whole prepared text.
        chunk_overlap: the target for text shared with the chunk before, in tokens; inside a turn only.
        include_operator: make chunks of the operator's turns too.
        min_turn_words: turns of fewer words make no chunk. They and the operator's turns stay in the outline, whose
            warnings count them; where nothing else would be left, short turns are kept.
        join_exchanges: let the chunk with the end of a question carry the answers, as further spans, as far as
            the budget allows. Questions of any length are then kept.
        tokenization: the model's tokens; the default model's if neither this nor ``length_function`` is given.
        length_function: a function that counts a text, as other LangChain splitters take it.
        add_context_header: put the context header in front of ``page_content``.

    Raises:
        InputError: if ``min_turn_words`` is negative, or the budget is not positive or not above the overlap.

    Example:
        >>> text = "Operator: First question, Lia Baum of Orrin Bank.\nLia Baum: Is growth durable?\n"
        >>> text += "Ned Stone (CFO): Yes."
        >>> splitter = EarningsCallTextSplitter(64, min_turn_words=1, length_function=lambda t: len(t.split()))
        >>> chunks = splitter.create_documents([text], [{"doc_type": "earnings_call"}])
        >>> [chunk.metadata["section_path"] for chunk in chunks]
        ['earnings_call > Q&A > Lia Baum (Orrin Bank)',
         'earnings_call > Q&A > Ned Stone (CFO), answering Lia Baum (Orrin Bank)']
    """

    kind: ClassVar[str] = "call"

    def __init__(
        self,
        chunk_size: int = 512,
        chunk_overlap: int = 0,
        *,
        include_operator: bool = False,
        min_turn_words: int = 10,
        join_exchanges: bool = False,
        tokenization: Tokenization | None = None,
        length_function: Callable[[str], int] | None = None,
        add_context_header: bool = False,
    ) -> None:
        super().__init__(
            chunk_size,
            chunk_overlap,
            tokenization=tokenization,
            length_function=length_function,
            add_context_header=add_context_header,
        )
        if min_turn_words < 0:
            raise InputError(
                f"'min_turn_words' of {type(self).__name__} must be a number of words, 0 or more. "
                f"Got {min_turn_words!r}. Pass 0 to keep every turn."
            )
        self.include_operator = include_operator
        self.min_turn_words = min_turn_words
        self.join_exchanges = join_exchanges

    @property
    def settings(self) -> str:
        """Name everything besides the text that shapes the chunks; part of every chunk's id."""
        return f"{super().settings}|{self.include_operator}|{self.min_turn_words}|{self.join_exchanges}"

    def _outline(self, text: str, metadata: Mapping[str, object], markup: Markup) -> CallOutline:
        outline = outline_call(text, metadata=metadata, markup=markup)
        left_out = self.left_out(outline, text)
        if not left_out:
            return outline
        operators = sum(turn.speaker_type == "operator" for turn in left_out)
        counted = (
            f"{operators} turns of operators and {len(left_out) - operators} of fewer than {self.min_turn_words} words"
        )
        return replace(outline, warnings=(*outline.warnings, f"{counted} are in the outline but in no chunk"))

    def left_out(self, outline: CallOutline, text: str) -> list[Turn]:
        """Return the turns of an outline that make no chunk under this splitter's options."""
        answered = {t.exchange for t in outline.turns if t.exchange_part == "answer"} if self.join_exchanges else set()
        operators: list[Turn] = []
        short: list[Turn] = []
        for turn in outline.turns:
            if turn.speaker_type == "operator" and not self.include_operator:
                operators.append(turn)
            elif turn.exchange_part == "question" and turn.exchange in answered:
                continue
            elif len(turn.text(text).split()) < self.min_turn_words:
                short.append(turn)
        if len(operators) + len(short) == len(outline.turns):
            short = []
        return sorted((*operators, *short), key=lambda turn: turn.index)

    def _chunks(self, text: str, outline: Outline, metadata: Mapping[str, object]) -> list[Chunk]:
        """Cut a call along its turns; what is left out counts as furniture."""
        if not isinstance(outline, CallOutline):  # sections given from outside
            return super()._chunks(text, outline, metadata)
        gone = {turn.index: turn.span for turn in self.left_out(outline, text)}
        kept = replace(
            outline,
            sections=tuple(s for s in outline if s.metadata.get("turn_index") not in gone),
            furniture=united((*outline.furniture, *gone.values())),
        )
        answers = _Answers(self, text, outline, metadata) if self.join_exchanges else None
        chunks = chunk_text(
            text,
            kept,
            _shortly_titled(metadata),
            config=self.config,
            tokenization=self.tokenization,
            joined=answers.joined if answers else nothing_joined,
        )
        _logger.info("%d chunks of %d turns; %d turns left out", len(chunks), len(outline.turns), len(gone))
        return [
            replace(chunk, kind=_TURN_KIND) if "turn_index" in chunk.section.metadata else chunk for chunk in chunks
        ]


def _shortly_titled(metadata: Mapping[str, object]) -> Mapping[str, object]:
    """Return metadata whose title names the call shortly, as context headers do: ``Q3 2024 call``."""
    title = call_title(metadata)
    return {**metadata, TITLE: title} if title and metadata.get(ISSUER) else metadata


class _Answers:
    """Find what answers a question, as far as it fits beside it."""

    def __init__(
        self, splitter: EarningsCallTextSplitter, text: str, outline: CallOutline, metadata: Mapping[str, object]
    ) -> None:
        self._text = text
        self._metadata = _shortly_titled(metadata)
        self._tokenization = splitter.tokenization
        self._budget = splitter.config.max_tokens
        self._sections = {s.metadata["turn_index"]: s for s in outline if "turn_index" in s.metadata}
        self._questions = {
            turn.texts[-1].end: (turn, _answers_to(turn, outline.turns))
            for turn in outline.turns
            if turn.exchange_part == "question"
        }

    def joined(self, body: Span) -> Sequence[Span]:
        """Return the spans of the answers to the question that ends with ``body``, within the budget."""
        found = self._questions.get(body.end)
        if found is None:
            return ()
        turn, answers = found
        header = self._header(self._sections[turn.index])
        kept: list[Span] = []
        for span in answers:
            part = self._fitting((body, *kept), span, header)
            if part is not None:
                kept.append(part)
            if part != span:
                break
        return kept

    def _header(self, section: Section) -> str:
        return context_header(self._metadata, section.path, tokenization=self._tokenization, max_tokens=self._budget)

    def _fits(self, spans: Sequence[Span], header: str) -> bool:
        body = "\n\n".join(span.slice(self._text) for span in spans)
        return self._tokenization.count(body, header=header) <= self._budget

    def _fitting(self, before: Sequence[Span], span: Span, header: str) -> Span | None:
        """Return ``span``, or as many of its first lines as fit behind what is there already."""
        if self._fits((*before, span), header):
            return span
        ends = [at for at in _line_ends(self._text, span) if at < span.end]
        low, high = 0, len(ends)
        while low < high:
            middle = (low + high + 1) // 2
            if self._fits((*before, Span(span.start, ends[middle - 1])), header):
                low = middle
            else:
                high = middle - 1
        return Span(span.start, ends[low - 1]) if low else None


def _answers_to(question: Turn, turns: Sequence[Turn]) -> list[Span]:
    """Return the spans of the answers between a question and the next one, each with its speaker line."""
    spans: list[Span] = []
    for at in range(question.index + 1, len(turns)):
        turn = turns[at]
        if turn.exchange not in (question.exchange, 0) or turn.exchange_part == "question":
            break
        if turn.exchange_part == "answer":
            first = turn.texts[0]
            opens = turn.header.end <= first.start
            spans += [Span(turn.header.start if opens else first.start, first.end), *turn.texts[1:]]
    return spans


def _line_ends(text: str, span: Span) -> list[int]:
    """Return the ends of the lines of a span that are not blank."""
    ends, at = [], span.start
    for line in span.slice(text).splitlines(keepends=True):
        stripped = line.rstrip()
        if stripped:
            ends.append(at + len(stripped))
        at += len(line)
    # A speaker line alone answers nothing.
    return ends[1:] if len(ends) > 1 else []
