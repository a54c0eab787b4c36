"""Primary financial statements: balance sheet, income, comprehensive income, cash flow, equity."""

from fin_rag.structure.statements.find import find_statements
from fin_rag.structure.statements.model import (
    PRIMARY_TYPES,
    STATEMENT_TYPES,
    Statement,
    StatementColumn,
    StatementRow,
)

__all__ = [
    "PRIMARY_TYPES",
    "STATEMENT_TYPES",
    "Statement",
    "StatementColumn",
    "StatementRow",
    "find_statements",
]
