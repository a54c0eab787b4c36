"""Reported facts and ratios as tools of an agent, with the filing that each figure comes from.

A scripted model stands in for yours. With langchain installed, ``create_agent`` runs the loop.
"""

import tempfile
from pathlib import Path

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage

from fin_rag import FinancialDocumentLoader
from fin_rag.facts import FactStore, fact_tools

DATA = Path(__file__).resolve().parent / "data"
CALL = {"name": "ratio_calculator", "args": {"issuer": "PLWC", "ratio": "gross margin", "period": "FY2024"}, "id": "1"}


class Scripted(GenericFakeChatModel):
    """Call one tool, then answer."""

    def bind_tools(self, tools: object, **_: object) -> "Scripted":  # noqa: ARG002
        """Take the tools as a real model would."""
        return self


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, FactStore.open(folder) as store:
        filing = FinancialDocumentLoader(DATA / "plwc-10k-2024.htm", filed="2024-08-22").load()[0]
        print(store.add_document(filing))
        tools = {tool.name: tool for tool in fact_tools(store, as_of="2024-12-31")}
        print(tools["xbrl_lookup"].invoke({"issuer": "PLWC", "concept": "revenue", "period": "FY2024"})[:160], "…")
        print(tools["ratio_calculator"].invoke(CALL["args"])[:160], "…")

        model = Scripted(messages=iter([AIMessage("", tool_calls=[CALL]), AIMessage("See the tool's answer.")]))
        try:
            from langchain.agents import create_agent
        except ImportError:
            print("langchain is not installed, so no agent was run: pip install langchain")
            return
        messages = create_agent(model, list(tools.values())).invoke({"messages": [HumanMessage("Gross margin?")]})
        print("\n".join(f"{one.type}: {str(one.content)[:100]}" for one in messages["messages"]))


if __name__ == "__main__":
    main()
