"""How a figure follows from others."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from fin_rag.answers.evidence import Printed

POINTS_NOT_PERCENT: Final = "a difference in percentage points, not in percent"


@dataclass(frozen=True, slots=True)
class Derivation:
    """Hold how a claim follows: the operation, its inputs, and the value that it gives.

    ``agrees`` is ``""`` where sign and unit fit, else the verdict for what does not.
    """

    operation: str
    inputs: tuple[Printed, ...]
    value: Decimal
    agrees: str = ""
    reason: str = ""
