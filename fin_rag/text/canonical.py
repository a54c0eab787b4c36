"""Decode bytes into canonical text, hash it, and map cleaned text back to it.

Cleaned text serves matching only (a reader types ``Ley 9`` where the source has a no-break space, or
``office`` where it has a ligature). What is cited is always a slice of the canonical text, so every
cleaning keeps an :class:`OffsetMap` back.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

from fin_rag.errors import InputError
from fin_rag.schema import Span

# Longest marks first: the UTF-32 mark starts with the UTF-16 one.
_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class Decoded:
    """Hold decoded text, the encoding that was used, and what was lossy about it."""

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


def decode(data: bytes, *, declared: str = "") -> Decoded:
    r"""Decode bytes: byte order mark, then UTF-8, then ``declared``, then Windows-1252.

    Valid UTF-8 with some non-ASCII in it is hardly ever anything else, so it is tried before the
    declared encoding, which web pages often state wrongly. Where a text is UTF-8 but for a few
    damaged bytes, those become U+FFFD and the rest is kept. Everything lossy is said in ``warnings``.

    Example:
        >>> decode("año".encode("cp1252")).text
        'año'
        >>> decode(b"\xff\xfea\x00").encoding
        'utf-16-le'
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _decode_with(data[len(mark) :], encoding)
    wide = _wide_encoding(data)
    if wide:
        decoded = _decode_with(data, wide)
        note = f"no byte order mark; read as {wide}"
        return Decoded(decoded.text, wide, (note, *decoded.warnings))
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        return _decode_narrow(data, declared)


def _decode_with(data: bytes, encoding: str) -> Decoded:
    try:
        return Decoded(data.decode(encoding), encoding)
    except UnicodeDecodeError:
        text = data.decode(encoding, errors="replace")
        return Decoded(text, encoding, (f"bytes that are no {encoding} became U+FFFD",))


def _wide_encoding(data: bytes) -> str:
    """Recognise UTF-16 without a mark: Western text has a zero in every other byte."""
    sample = data[:_SAMPLE_BYTES]
    if len(sample) < 8 or b"\x00" not in sample:
        return ""
    even, odd = sample[0::2], sample[1::2]
    if odd.count(0) > 0.7 * len(odd) and even.count(0) < 0.05 * len(even):
        return "utf-16-le"
    if even.count(0) > 0.7 * len(even) and odd.count(0) < 0.05 * len(odd):
        return "utf-16-be"
    return ""


def _decode_narrow(data: bytes, declared: str) -> Decoded:
    """Decode what is not clean UTF-8."""
    patched = data.decode("utf-8", errors="replace")
    bad = patched.count("�")
    good = sum(map(len, re.findall(r"[^\x00-\x7f�]+", patched)))
    if good > bad:
        return Decoded(patched, "utf-8", (f"{bad} damaged UTF-8 sequences became U+FFFD",))
    if declared and declared.lower().replace("_", "-") not in ("utf-8", "utf8"):
        try:
            return Decoded(data.decode(declared), declared)
        except (LookupError, UnicodeDecodeError):
            pass
    try:
        return Decoded(data.decode("cp1252"), "cp1252", ("not valid UTF-8; read as Windows-1252",))
    except UnicodeDecodeError:
        return Decoded(data.decode("latin-1"), "latin-1", ("not valid UTF-8; read as Latin-1",))


def text_sha256(text: str) -> str:
    """Return the SHA-256 of the text's UTF-8 form, in hexadecimal.

    Example:
        >>> text_sha256("")[:12]
        'e3b0c44298fc'
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class OffsetMap:
    r"""Map spans of a cleaned text to the text it was made from.

    ``clean`` and ``source`` hold the start offsets (code points) of aligned pieces, in order, each closed by
    the length of its text. A piece of equal length on both sides is a copy and maps character by
    character; any other piece is a replacement and maps as a whole.

    Example:
        >>> made = clean_text("ﬁve of\u00a0six")
        >>> made.text, made.offsets.to_source(Span(0, 4))
        ('five of six', Span(start=0, end=3))
    """

    clean: tuple[int, ...]
    source: tuple[int, ...]

    def to_source(self, span: Span) -> Span:
        """Return the source span of a span of the cleaned text.

        Raises:
            InputError: if the span reaches beyond the cleaned text.
        """
        if span.end > self.clean[-1]:
            raise InputError(
                f"The span {span.start}-{span.end} reaches beyond the cleaned text of "
                f"{self.clean[-1]} code points. Use spans of the text that this map belongs to."
            )
        start = self._at(span.start, self.clean, self.source, end=False)
        end = self._at(span.end, self.clean, self.source, end=True) if span.end > span.start else start
        return Span(start, max(end, start))

    def to_clean(self, span: Span) -> Span:
        """Return the span of the cleaned text that holds what is left of a source span.

        Raises:
            InputError: if the span reaches beyond the source text.
        """
        if span.end > self.source[-1]:
            raise InputError(
                f"The span {span.start}-{span.end} reaches beyond the source text of "
                f"{self.source[-1]} code points. Use spans of the text that was cleaned."
            )
        start = self._at(span.start, self.source, self.clean, end=False)
        end = self._at(span.end, self.source, self.clean, end=True) if span.end > span.start else start
        return Span(start, max(end, start))

    @staticmethod
    def _at(offset: int, origin: tuple[int, ...], target: tuple[int, ...], *, end: bool) -> int:
        # An end offset belongs to the piece that holds the character before it.
        piece = bisect_right(origin, offset - 1 if end else offset) - 1
        if piece >= len(origin) - 1:
            return target[-1]
        length = origin[piece + 1] - origin[piece]
        if length == target[piece + 1] - target[piece]:
            return target[piece] + offset - origin[piece]
        return target[piece + 1] if end else target[piece]


@dataclass(frozen=True, slots=True)
class CleanText:
    """Hold a cleaned text and its map back."""

    text: str
    offsets: OffsetMap


def replace_all(text: str, pattern: re.Pattern[str], replacements: dict[str, str]) -> CleanText:
    """Replace every match by ``replacements[match]`` (nothing where absent) and keep the map.

    Example:
        >>> made = replace_all("a--b", re.compile("-+"), {"--": "-"})
        >>> made.text, made.offsets.to_source(Span(1, 2))
        ('a-b', Span(start=1, end=3))
    """
    parts: list[str] = []
    clean, source = [0], [0]
    at_clean = at_source = 0

    def close(part: str, source_length: int) -> None:
        nonlocal at_clean, at_source
        parts.append(part)
        at_clean += len(part)
        at_source += source_length
        if clean[-1] == at_clean and source[-1] == at_source:
            return
        clean.append(at_clean)
        source.append(at_source)

    for match in pattern.finditer(text):
        close(text[at_source : match.start()], match.start() - at_source)
        found = match.group()
        close(replacements.get(found, ""), len(found))
    close(text[at_source:], len(text) - at_source)
    return CleanText("".join(parts), OffsetMap(tuple(clean), tuple(source)))


_LIGATURES: Final = {
    "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st",
}  # fmt: skip
# Blanks that print as one blank, and characters that print as nothing.
BLANKS: Final = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
INVISIBLE: Final = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_CLEANED: Final = re.compile(f"[{''.join(_LIGATURES)}{BLANKS}{INVISIBLE}]")
_CLEAN_FORMS: Final = {**_LIGATURES, **dict.fromkeys(BLANKS, " ")}


def clean_text(text: str) -> CleanText:
    r"""Return text for matching: ligatures spelled out, odd blanks as a blank, invisible ones dropped.

    Example:
        >>> clean_text("Artículo\u00a05, inver\u00adsión").text
        'Artículo 5, inversión'
    """
    return replace_all(text, _CLEANED, _CLEAN_FORMS)
