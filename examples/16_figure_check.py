"""Figure check: every figure of an answer is held against its evidence; what does not hold never leaves the chain."""

from langchain_core.documents import Document

from fin_rag.answers import FigureGuard, verify_figures

EVIDENCE = [
    Document(
        page_content="(in millions)\n| | 2031 | 2030 |\n|---|---|---|\n| Net sales | 1,240.5 | 1,100.0 |",
        metadata={"issuer": "Orrin Tools plc", "title": "Annual report 2031"},
    )
]
ANSWERS = (
    "Net sales were $1,240.5 million in 2031.",
    "Net sales rose 12.8% to $1.24 billion in 2031.",
    "Net sales were $1,240.5 million in 2030.",
    "Las ventas netas fueron de 1.240,5 millones en 2031.",
)


def main() -> None:
    for answer in ANSWERS:
        report = verify_figures(answer, EVIDENCE)
        verdicts = ", ".join(f"{one.text}: {one.verdict}" for one in report.figures)
        print(f"{'holds' if report.ok else 'FAILS'}  {answer}\n       {verdicts}")
    guard = FigureGuard(unavailable="NO_DISPONIBLE ({reason})")
    print(guard.invoke({"answer": ANSWERS[2], "context": EVIDENCE})["answer"])


if __name__ == "__main__":
    main()
