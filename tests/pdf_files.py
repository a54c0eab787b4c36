"""Build small PDF files from literal lines, for tests that need one page after another."""

from __future__ import annotations

from collections.abc import Sequence

Line = tuple[float, float, str, float, str]
"""Left edge, baseline, font (``plain`` or ``bold``), size in points, text."""

_FONTS = {"plain": "F1", "bold": "F2"}


def line(y: float, text: str, *, x: float = 50, font: str = "plain", size: float = 10) -> Line:
    return (x, y, font, size, text)


def pdf(pages: Sequence[Sequence[Line]], *, title: str = "") -> bytes:
    """Write a PDF with Helvetica text at the given places; characters must be in Windows-1252."""
    objects: list[bytes] = []
    kids = " ".join(f"{5 + 2 * n} 0 R" for n in range(len(pages)))
    objects.append(b"<< /Type /Catalog /Pages 2 0 R >>")
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    objects += [
        f"<< /Type /Font /Subtype /Type1 /BaseFont /{base} /Encoding /WinAnsiEncoding >>".encode()
        for base in ("Helvetica", "Helvetica-Bold")
    ]
    for number, page in enumerate(pages):
        content = b"".join(_show(*shown) for shown in page)
        objects.append(
            (
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents "
                f"{6 + 2 * number} 0 R /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>"
            ).encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    objects.append(f"<< /Title ({title}) >>".encode("cp1252"))
    out = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\n"
    return out + trailer.encode() + b"startxref\n%d\n%%%%EOF\n" % start


def _show(x: float, y: float, font: str, size: float, text: str) -> bytes:
    escaped = text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
    return b"BT /%s %g Tf %g %g Td (%s) Tj ET\n" % (_FONTS[font].encode(), size, x, y, escaped)
