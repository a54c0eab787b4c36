"""Statutes made up at random, in the layout of every system, with what a reader should find in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from hypothesis import strategies as st

WORDS: Final = ("custody", "fees", "records", "agents", "capital", "notice", "margin", "liquidity", "audit", "registry")
PALABRAS: Final = ("custodia", "tarifas", "registros", "agentes", "capital", "avisos", "margen", "liquidez", "cuentas")


@dataclass(frozen=True)
class Paragraph:
    """Hold one paragraph: its points (none, or two and more) and the place it cites, if any."""

    points: int = 0
    cites: tuple[int, int] | None = None


@dataclass(frozen=True)
class Article:
    """Hold one article with its paragraphs."""

    paragraphs: tuple[Paragraph, ...]


@dataclass(frozen=True)
class Act:
    """Hold a statute: its articles, and how many of them stand in the first container."""

    articles: tuple[Article, ...]
    first_container: int
    seed: int = 0


@dataclass
class Written:
    """Hold the text of an act in one layout, the addresses in order, and references as (source, target)."""

    text: str = ""
    addresses: list[str] = field(default_factory=list)
    references: list[tuple[str, str]] = field(default_factory=list)
    paths: dict[str, tuple[str, ...]] = field(default_factory=dict)
    blocks: list[str] = field(default_factory=list)


@st.composite
def acts(draw: st.DrawFn) -> Act:
    """Draw an act whose references all have targets."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=6))
    places = [(article, paragraph) for article, size in enumerate(sizes) for paragraph in range(size)]
    articles = []
    for size in sizes:
        paragraphs = [
            Paragraph(draw(st.sampled_from((0, 0, 2, 3))), draw(st.one_of(st.none(), st.sampled_from(places))))
            for _ in range(size)
        ]
        articles.append(Article(tuple(paragraphs)))
    return Act(tuple(articles), draw(st.integers(0, len(sizes))), draw(st.integers(0, 9)))


def _word(act: Act, words: tuple[str, ...], at: int) -> str:
    return words[(act.seed + at) % len(words)]


def _write(
    act: Act,
    *,
    containers: tuple[tuple[str, str], tuple[str, str]] | None,
    head: Callable[[int, str], tuple[str, str]],
    paragraph: Callable[[str, int], tuple[str, str]],
    point: Callable[[str, int], tuple[str, str]],
    cite: Callable[[int, int], tuple[str, str]],
    sentences: tuple[str, str, str],
    words: tuple[str, ...],
    gap: str = "\n\n",
) -> Written:
    """Write an act; each function returns an address and what is printed."""
    made = Written()
    plain, lead, see = sentences
    path: tuple[str, ...] = ()
    for number, article in enumerate(act.articles):
        if containers and number in (0, act.first_container):
            address, line = containers[0 if number < act.first_container or act.first_container == 0 else 1]
            if number or act.first_container:
                made.blocks.append(line)
                made.addresses.append(address)
                path = (address,)
        top, line = head(number, _word(act, words, number).capitalize())
        made.addresses.append(top)
        made.paths[top] = path
        body: list[str] = []
        for index, part in enumerate(article.paragraphs):
            own, label = paragraph(top, index)
            made.addresses.append(own)
            text = plain.format(_word(act, words, 3 * number + index))
            if part.cites is not None:
                target, printed = cite(*part.cites)
                text += " " + see.format(printed)
                made.references.append((own, target))
            body.append(f"{label}{text if not part.points else text + ' ' + lead}")
            for at in range(part.points):
                inner, mark = point(own, at)
                made.addresses.append(inner)
                end = ";" if at < part.points - 1 else "."
                body.append(f"{mark}{_word(act, words, 5 * number + index + at)}{end}")
        if line.endswith(" "):
            body[0] = line + body[0]
            made.blocks.append(gap.join(body))
        else:
            made.blocks.append(gap.join([line, *body]))
    made.text = gap.join(made.blocks)
    return made


_SPANISH: Final = ("La entidad llevará {}.", "Se exige:", "Se aplicará {}.")
_ENGLISH: Final = ("The firm shall keep {}.", "It covers:", "It follows {}.")


def spanish(act: Act) -> Written:
    """Write a Spanish law as Markdown."""
    return _write(
        act,
        containers=(("title:I", "### TÍTULO I. Normas"), ("title:II", "### TÍTULO II. Control")),
        head=lambda n, title: (f"art:{n + 1}", f"###### Artículo {n + 1}. {title}."),
        paragraph=lambda top, p: (f"{top}/par:{p + 1}", f"{p + 1}\\. "),
        point=lambda own, at: (f"{own}/pt:{'abc'[at]}", f"{'abc'[at]}) "),
        cite=lambda n, p: (f"art:{n + 1}/par:{p + 1}", f"el apartado {p + 1} del artículo {n + 1}"),
        sentences=_SPANISH,
        words=PALABRAS,
    )


def spanish_text(act: Act) -> Written:
    """Write a Spanish law as plain text, a line a paragraph."""
    return _write(
        act,
        containers=(("chapter:I", "CAPÍTULO I\nNormas"), ("chapter:II", "CAPÍTULO II\nControl")),
        head=lambda n, title: (f"art:{n + 1}", f"Artículo {n + 1}. {title}."),
        paragraph=lambda top, p: (f"{top}/par:{p + 1}", f"{p + 1}. "),
        point=lambda own, at: (f"{own}/pt:{'abc'[at]}", f"{'abc'[at]}) "),
        cite=lambda n, p: (f"art:{n + 1}/par:{p + 1}", f"el artículo {n + 1}.{p + 1}"),
        sentences=_SPANISH,
        words=PALABRAS,
        gap="\n",
    )


def circular(act: Act) -> Written:
    """Write a circular with norms."""
    return _write(
        act,
        containers=None,
        head=lambda n, title: (f"norma:{n + 1}", f"###### Norma {n + 1}.ª {title}."),
        paragraph=lambda top, p: (f"{top}/par:{p + 1}", f"{p + 1}. "),
        point=lambda own, at: (f"{own}/pt:{'abc'[at]}", f"{'abc'[at]}) "),
        cite=lambda n, p: (f"norma:{n + 1}/par:{p + 1}", f"el punto {p + 1} de la norma {n + 1}.ª"),
        sentences=_SPANISH,
        words=PALABRAS,
    )


def union(act: Act) -> Written:
    """Write an EU act as plain text."""
    return _write(
        act,
        containers=(("chapter:I", "CHAPTER I\n\nGENERAL"), ("chapter:II", "CHAPTER II\n\nSPECIAL")),
        head=lambda n, title: (f"art:{n + 1}", f"Article {n + 1}\n\n{title}"),
        paragraph=lambda top, p: (f"{top}/par:{p + 1}", f"{p + 1}.   "),
        point=lambda own, at: (f"{own}/pt:{'abc'[at]}", f"({'abc'[at]}) "),
        cite=lambda n, p: (f"art:{n + 1}/par:{p + 1}", f"Article {n + 1}({p + 1})"),
        sentences=_ENGLISH,
        words=WORDS,
    )


def cfr(act: Act) -> Written:
    """Write sections of the Code of Federal Regulations."""
    return _write(
        act,
        containers=(("subpart:A", "Subpart A—General"), ("subpart:B", "Subpart B—Special")),
        head=lambda n, title: (f"sec:7.{n + 1}", f"§ 7.{n + 1} {title}."),
        paragraph=lambda top, p: (f"{top}/{'abcd'[p]}", f"({'abcd'[p]}) "),
        point=lambda own, at: (f"{own}/{at + 1}", f"({at + 1}) "),
        cite=lambda n, p: (f"sec:7.{n + 1}/{'abcd'[p]}", f"§ 7.{n + 1}({'abcd'[p]})"),
        sentences=_ENGLISH,
        words=WORDS,
    )


def finra(act: Act) -> Written:
    """Write FINRA rules."""
    return _write(
        act,
        containers=None,
        head=lambda n, title: (f"rule:{9100 + n}", f"{9100 + n}. {title}"),
        paragraph=lambda top, p: (f"{top}/{'abcd'[p]}", f"({'abcd'[p]}) "),
        point=lambda own, at: (f"{own}/{at + 1}", f"({at + 1}) "),
        cite=lambda n, p: (f"rule:{9100 + n}/{'abcd'[p]}", f"Rule {9100 + n}({'abcd'[p]})"),
        sentences=_ENGLISH,
        words=WORDS,
        gap="\n",
    )


def basel(act: Act) -> Written:
    """Write a chapter of the Basel framework."""
    made = _write(
        act,
        containers=None,
        head=lambda n, title: (f"para:XYZ10.{n + 1}", f"10.{n + 1} {title} is measured as follows:"),
        paragraph=lambda top, p: (f"{top}/{p + 1}", f"({p + 1}) "),
        point=lambda own, at: (f"{own}/{'abc'[at]}", f"({'abc'[at]}) "),
        cite=lambda n, p: (f"para:XYZ10.{n + 1}/{p + 1}", f"XYZ10.{n + 1}({p + 1})"),
        sentences=_ENGLISH,
        words=WORDS,
        gap="\n",
    )
    made.text = f"XYZ10\n{made.text}"
    made.addresses = ["standard:XYZ", "chapter:XYZ10", *made.addresses]
    return made


def fca(act: Act) -> Written:
    """Write a section of the FCA Handbook."""
    made = _write(
        act,
        containers=None,
        head=lambda n, title: (f"rule:ABCD 1.1.{n + 1}R", f"1.1.{n + 1}\nR\n{title} is subject to this:"),
        paragraph=lambda top, p: (f"{top}/{p + 1}", f"({p + 1}) "),
        point=lambda own, at: (f"{own}/{'abc'[at]}", f"({'abc'[at]}) "),
        cite=lambda n, p: (f"rule:ABCD 1.1.{n + 1}R/{p + 1}", f"ABCD 1.1.{n + 1}R({p + 1})"),
        sentences=_ENGLISH,
        words=WORDS,
        gap="\n",
    )
    made.text = f"ABCD 1 Scope\nABCD 1.1 General\n{made.text}"
    made.addresses = ["chapter:ABCD 1", "section:ABCD 1.1", *made.addresses]
    return made


LAYOUTS: Final = {
    "spanish": spanish, "spanish_text": spanish_text, "circular": circular, "union": union, "cfr": cfr,
    "finra": finra, "basel": basel, "fca": fca,
}  # fmt: skip
