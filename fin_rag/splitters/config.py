"""Token budgets of chunks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fin_rag.errors import InputError
from fin_rag.tokens import Tokenization


@dataclass(frozen=True, slots=True)
class ChunkingConfig:
    """Set the budget of every chunk, in tokens of the model's own tokenizer.

    ``max_tokens`` bounds the whole prepared text: model prefix, context header, body and special
    tokens. ``overlap_tokens`` is the target for text that a chunk shares with the one before; whole
    paragraphs or sentences are shared, so the real size, which each chunk records, is at most that.
    There are no defaults: which budget wins depends on the documents and has to be measured.

    Raises:
        InputError: if ``max_tokens`` is not positive or ``overlap_tokens`` is not in
            ``[0, max_tokens)``.

    Example:
        >>> ChunkingConfig(max_tokens=384, overlap_tokens=48)
        ChunkingConfig(max_tokens=384, overlap_tokens=48)
    """

    max_tokens: int
    overlap_tokens: int

    def __post_init__(self) -> None:
        for name in ("max_tokens", "overlap_tokens"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool):
                raise InputError(f"{name!r} of ChunkingConfig must be a whole number of tokens. Got {value!r}.")
        if self.max_tokens < 1:
            raise InputError(f"'max_tokens' of ChunkingConfig must be at least 1. Got {self.max_tokens}.")
        if not 0 <= self.overlap_tokens < self.max_tokens:
            raise InputError(
                f"'overlap_tokens' of ChunkingConfig must be at least 0 and less than max_tokens "
                f"({self.max_tokens}). Got {self.overlap_tokens}. Lower it."
            )

    @classmethod
    def from_settings(cls, settings: Mapping[str, object]) -> ChunkingConfig:
        """Build the configuration from a mapping such as a parsed settings file.

        Raises:
            InputError: if a key is missing or unknown, or a value is not a whole number.

        Example:
            >>> ChunkingConfig.from_settings({"max_tokens": 256, "overlap_tokens": 32}).max_tokens
            256
        """
        wanted = {"max_tokens", "overlap_tokens"}
        if set(settings) != wanted:
            raise InputError(f"Chunking settings must hold exactly {sorted(wanted)}. Got {sorted(map(str, settings))}.")
        values = {key: settings[key] for key in wanted}
        bad = {k: v for k, v in values.items() if not isinstance(v, int) or isinstance(v, bool)}
        if bad:
            raise InputError(f"Chunking settings must be whole numbers of tokens. Got {bad!r}.")
        return cls(**{key: value for key, value in values.items() if isinstance(value, int)})

    def check_against(self, tokenization: Tokenization) -> None:
        """Refuse a budget that the model cannot read.

        Raises:
            InputError: if ``max_tokens`` is above the model's declared limit.
        """
        limit = tokenization.max_input_tokens
        if limit is not None and self.max_tokens > limit:
            raise InputError(
                f"'max_tokens' ({self.max_tokens}) is above the {limit} tokens that {tokenization.name!r} "
                "reads; the rest would be cut off. Lower the budget or take another model."
            )
