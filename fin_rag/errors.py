"""Exceptions of fin_rag: one root, five branches, each also a builtin where one fits.

Every message says what was wrong, where, and what to do about it.
"""


class FinRagError(Exception):
    """Catch every error that fin_rag raises on purpose."""


class InputError(FinRagError, ValueError):
    """An argument was wrong before any work started."""


class NotFoundError(FinRagError, LookupError):
    """A named document, section or concept does not exist."""


class ParseError(FinRagError):
    """The bytes are at hand, but the object cannot be built from them."""


class IntegrityError(FinRagError):
    """Stored data disagree: hash, offsets, embedding model or format version."""


class MissingDependencyError(FinRagError, ImportError):
    """An optional package is needed; the message names the extra to install."""
