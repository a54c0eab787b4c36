"""Structure of statutes: hierarchy, addresses, references."""

from __future__ import annotations

from collections.abc import Mapping

from fin_rag.schema import Markup
from fin_rag.structure.regulation.acts import act_key, act_names
from fin_rag.structure.regulation.address import address_key, is_within, parse_address, prefixes, spoken
from fin_rag.structure.regulation.model import EditorNote, Provision, Reference, Statute
from fin_rag.structure.regulation.outline import outline_of, outline_regulation, reference_keys
from fin_rag.structure.regulation.statute import read_statute

__all__ = [
    "EditorNote",
    "Provision",
    "Reference",
    "Statute",
    "act_key",
    "act_names",
    "address_key",
    "is_within",
    "outline_of",
    "outline_regulation",
    "parse_address",
    "prefixes",
    "provisions",
    "read_statute",
    "reference_keys",
    "references",
    "spoken",
]


def provisions(
    text: str, *, metadata: Mapping[str, object] | None = None, markup: Markup | None = None
) -> tuple[Provision, ...]:
    r"""Return the provisions of a statute in document order, outer before inner.

    Example:
        >>> [p.address for p in provisions("Article 4\n\nFees\n\n1. Fees are due:\n\n(a) monthly;\n\n(b) yearly.")]
        ['art:4', 'art:4/par:1', 'art:4/par:1/pt:a', 'art:4/par:1/pt:b']
    """
    return read_statute(text, metadata=metadata, markup=markup).provisions


def references(
    text: str, *, metadata: Mapping[str, object] | None = None, markup: Markup | None = None
) -> tuple[Reference, ...]:
    r"""Return the cross-references of a statute in document order.

    Example:
        >>> text = "Article 4\n\nFees\n\nFees follow Article 6 of Directive 2009/65/EC.\n\nArticle 6\n\nScope\n\nAll."
        >>> [(ref.scope, ref.act, ref.targets) for ref in references(text)][-1]
        ('external', 'Directive 2009/65/EC', ())
    """
    return read_statute(text, metadata=metadata, markup=markup).references
