"""Download of filings from EDGAR, through edgartools: the network is reached for here alone, and only when asked."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fin_rag.errors import InputError, MissingDependencyError, NotFoundError

_CONTACT: Final = re.compile(r"[^@\s]{1,64}@[^@\s]{1,200}\.[A-Za-z]{2,}")
_NAME: Final = re.compile(r"[A-Za-z0-9.\-]{1,15}")
_CLIENTS: Final = ("httpx", "httpx2")  # edgartools lets the errors of its HTTP client through
_MOST_YEARS: Final = 40


@dataclass(frozen=True, slots=True)
class Downloaded:
    """Hold what a download brought: files written now, and files that were there already."""

    written: tuple[Path, ...]
    kept: tuple[Path, ...]


def download_filings(
    ticker: str,
    folder: str | Path,
    *,
    user_agent: str,
    forms: Sequence[str] = ("10-K",),
    years: int = 1,
    progress: Callable[[Path], None] | None = None,
) -> Downloaded:
    """Download the latest filings of a company as full-submission texts, which say when they were filed.

    Args:
        ticker: ticker symbol or CIK.
        folder: where the files go, one a filing, named by ticker, form and accession number; those that are there
            already are not fetched again.
        user_agent: your name and e-mail address; the SEC asks for them and refuses requests without.
        forms: kinds of filings, such as ``10-K``.
        years: how many fiscal years back, counted by the filings of each form.
        progress: called with each file.

    Raises:
        InputError: if ticker, user agent or years are malformed, or the folder cannot be written.
        MissingDependencyError: if edgartools is not installed.
        NotFoundError: if EDGAR cannot be reached, or has no such company or filing.
    """
    _check(ticker, user_agent, years)
    root = Path(folder)
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"The folder {str(root)!r} cannot be made: {error.strerror}.") from error
    written: list[Path] = []
    kept: list[Path] = []
    try:
        for form, filing in _filings(ticker, user_agent, forms, years):
            path = root / f"{ticker.lower()}-{form.lower().replace('/', '')}-{filing.accession_number}.txt"
            if path.exists():
                kept.append(path)
            else:
                _write(path, str(filing.full_text_submission()))
                written.append(path)
            if progress is not None:
                progress(path)
    except _client_errors() as error:
        raise NotFoundError(
            f"EDGAR cannot be reached: {error}. Check the network, or download the filings with a browser and run "
            "fin-rag ingest on their folder."
        ) from error
    if not written and not kept:
        raise NotFoundError(f"EDGAR has no {' or '.join(forms)} of {ticker!r}. Check the ticker and the form.")
    return Downloaded(tuple(written), tuple(kept))


def _check(ticker: str, user_agent: str, years: int) -> None:
    if not _NAME.fullmatch(ticker):
        raise InputError(f"A ticker or CIK has letters, digits, dots and hyphens only. Got {ticker!r}.")
    if not _CONTACT.search(user_agent):
        raise InputError(
            f"The SEC asks who is asking: give a name and an e-mail address, such as 'Jane Doe jane@example.org'. "
            f"Got {user_agent!r}."
        )
    if not 1 <= years <= _MOST_YEARS:
        raise InputError(f"'years' must be from 1 to {_MOST_YEARS}. Got {years}.")


def _filings(ticker: str, user_agent: str, forms: Sequence[str], years: int) -> Iterator[tuple[str, Any]]:
    try:
        import edgar
    except ImportError as error:
        raise MissingDependencyError(
            "edgartools is not installed. Install it with: pip install 'fin-rag[edgar]'"
        ) from error
    edgar.set_identity(user_agent)
    company = edgar.Company(ticker)
    for form in forms:
        a_year = 4 if form.upper().startswith(("10-Q", "6-K")) else 1
        found = company.get_filings(form=form, amendments=False)
        for number, filing in enumerate(found):
            if number == years * a_year:
                break
            yield form, filing


def _write(path: Path, text: str) -> None:
    """Write a whole file or none."""
    part = path.with_suffix(".part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise InputError(f"{str(path)!r} cannot be written: {error.strerror}.") from error


def _client_errors() -> tuple[type[BaseException], ...]:
    """Return the errors of the HTTP clients that are loaded; called while an error is handled."""
    found = [getattr(sys.modules[name], "HTTPError", OSError) for name in _CLIENTS if name in sys.modules]
    return (OSError, *found)
