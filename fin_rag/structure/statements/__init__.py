"""Primary financial statements: balance sheet, income, comprehensive income, cash flow, equity."""

from fin_rag.structure.statements.find import find_statements
from fin_rag.structure.statements.model import (
    PERIOD_ENDS,
    PRIMARY_TYPES,
    STATEMENT_TYPE,
    STATEMENT_TYPES,
    Statement,
    StatementColumn,
    StatementRow,
)

__all__ = [
    "PERIOD_ENDS",
    "PRIMARY_TYPES",
    "STATEMENT_TYPE",
    "STATEMENT_TYPES",
    "Statement",
    "StatementColumn",
    "StatementRow",
    "find_statements",
]
