"""Lines that may be speaker lines: every layout's form, and how much speaks for each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from fin_rag.structure.calls.affiliation import is_firm, is_role, joined_lines, split_affiliation
from fin_rag.structure.calls.directory import Directory
from fin_rag.structure.calls.labels import STAMP, Label, parse_label
from fin_rag.structure.calls.lines import CallLine, plain
from fin_rag.structure.calls.names import name_kind
from fin_rag.structure.calls.roster import is_speech
from fin_rag.structure.calls.titles import title_kind
from fin_rag.structure.calls.vocabulary import fold, words

_LONGEST_LABEL: Final = 130
_NUMBERED: Final = re.compile(r"\[\d{1,4}\]\s*$")
_STAMPED: Final = re.compile(rf"[#*>\s]*{STAMP.pattern}\s*(?:[-–—:]\s+)?")
_AFTER_COLON: Final = re.compile(r"[*_]*[ \t\u00a0]*")
_DASH_ALONE: Final = re.compile(r"(?:--|[-–—])")
_LETTER_ALONE: Final = re.compile(r"[QA]")
_EDGE_LETTER: Final = re.compile(r"(?:\s{2,}|\t)([QA])\s*$")
_MOST_LINES: Final = 4

CERTAIN, LIKELY, POSSIBLE, WEAK = 3, 2, 1, 0


@dataclass(frozen=True, slots=True)
class Header:
    """Mark a speaker line: ``start`` to ``end`` in the text, speech from line ``after`` on.

    ``inline`` tells that speech goes on in the header's last line. ``family`` groups forms that one layout
    mixes; ``strength`` runs from ``WEAK`` to ``CERTAIN``.
    """

    line: int
    after: int
    start: int
    end: int
    inline: bool
    family: str
    label: Label
    strength: int


@dataclass(slots=True)
class Reader:
    """Read candidates from the lines of one text; the roster and the furniture are known."""

    text: str
    lines: Sequence[CallLine]
    furniture: set[int]
    rules: set[int]
    directory: Directory
    firms: Sequence[str] = ()
    _known: frozenset[str] = field(default=frozenset(), init=False)

    def __post_init__(self) -> None:
        self._known = self.directory.folded

    def header_at(self, at: int) -> Header | None:
        """Return the speaker line that begins at a line, or ``None``."""
        line = self.lines[at]
        header = self._colon(at, line)
        if header is None and line.short and len(line.bare) <= 170 and line.bare:
            header = self._whole_line(at, line)
        return header

    # --- one line -------------------------------------------------------------------------------

    def _colon(self, at: int, line: CallLine) -> Header | None:
        colon = _outer_colon(line.raw)
        if colon < 0:
            return None
        shown = plain(line.raw[:colon].lstrip("#>+•·● \t"))
        shown = shown[2:].lstrip() if line.bullet and shown[:2] in ("- ", "* ") else shown
        label = parse_label(shown, known=self._known, firms=self.firms)
        if shown[:1] == "[" and shown[-1:] == "]" and (label is None or label.kind == "operator"):
            label = parse_label(shown[1:-1], known=self._known, firms=self.firms)
        if label is None:
            return None
        rest = _AFTER_COLON.match(line.raw, colon + 1)
        end = rest.end() if rest else colon + 1
        inline = line.start + end < line.end
        follows = line.raw[colon + 1 : colon + 2]
        strength = self._strength(label)
        if (
            follows
            and follows not in " *_\t\u00a0"
            and not (strength == CERTAIN and not follows.isdigit() and follows != "/")
        ):
            return None
        header = Header(at, at if inline else at + 1, line.start, line.start + end, inline, "colon", label, strength)
        return header if inline else self._with_more(header, needs_gap=False)

    def _whole_line(self, at: int, line: CallLine) -> Header | None:
        numbered = _NUMBERED.search(line.raw) is not None
        if not numbered and is_speech(line):
            return None
        ruled = at - 1 in self.rules and at + 1 in self.rules
        words_ = line.raw if "  " in line.raw and not line.level and "*" not in line.raw else line.bare
        label = parse_label(words_, known=self._known, firms=self.firms, firm_first=numbered or ruled)
        if label is None or label.kind == "letter" or _is_aside(label, line):
            return None
        family = "numbered" if numbered else "heading" if line.level else "bold" if _is_bold(line) else "line"
        strength = CERTAIN if numbered else self._strength(label)
        header = Header(at, at + 1, line.start, line.end, inline=False, family=family, label=label, strength=strength)
        return self._with_more(header, needs_gap=family == "line" and at - 1 in self.rules)

    def _strength(self, label: Label) -> int:
        kind = label.kind
        if kind in ("operator", "code") or (fold(label.role) in words("operators") and kind in ("person", "single")):
            return CERTAIN
        if kind in ("analyst", "company", "unknown", "editor"):
            return CERTAIN if " " in label.name or label.name[0] in "[(<" or label.tag or kind == "editor" else LIKELY
        if kind == "letter":
            return LIKELY
        if kind == "role":
            return LIKELY if fold(label.name) in words("role_labels") else WEAK
        if self.directory.find(label.name) is not None or (label.marked and kind == "person"):
            return CERTAIN
        if kind == "single":
            return LIKELY if label.marked else WEAK
        return LIKELY if is_role(label.role) else POSSIBLE

    # --- further lines ----------------------------------------------------------------------------

    def _with_more(self, header: Header, *, needs_gap: bool) -> Header:
        """Add the lines below a name that belong to it: a dash and a title, a role, a firm, a letter."""
        label, at = header.label, header.after
        if label.kind in ("operator", "letter", "role"):
            return header
        dashed = self._dashed(header)
        if dashed is not None:
            return dashed
        said: list[str] = []
        tag = label.tag
        top = self.lines[header.line]
        while at < min(len(self.lines), header.after + _MOST_LINES):
            line = self.lines[at]
            if at in self.furniture or (line.gap and not (top.level and line.level)) or title_kind(line.bare)[0]:
                break
            if _LETTER_ALONE.fullmatch(line.raw):
                tag = "analyst" if line.raw == "Q" else "company"
            elif not label.affiliation and self._belongs(
                label.name, line, top, paragraph=needs_gap and self._closes(at)
            ):
                letter = _EDGE_LETTER.search(line.raw)
                tag = ("analyst" if letter[1] == "Q" else "company") if letter else tag
                said.append(plain(line.raw[: letter.start()]) if letter else line.bare)
            else:
                break
            at += 1
        if at == header.after:
            return header
        whole = joined_lines(said)
        found = split_affiliation(whole, firms=self.firms)
        label = replace(
            label,
            role=label.role or found.role,
            firm=label.firm or found.firm,
            tag=tag,
            affiliation=label.affiliation or whole,
        )
        strength = max(header.strength, LIKELY if label.kind == "person" else WEAK, CERTAIN if tag else WEAK)
        return replace(header, after=at, end=self.lines[at - 1].end, label=label, strength=strength)

    def _dashed(self, header: Header) -> Header | None:
        """Read a name, a dash and a title that stand on lines of their own, as paragraphs of a page do."""
        at = header.after
        said: list[str] = []
        while at + 1 < len(self.lines) and _DASH_ALONE.fullmatch(self.lines[at].raw) and len(said) < 2:
            line = self.lines[at + 1]
            if not line.short or is_speech(line):
                break
            said.append(line.bare)
            at += 2
        if not said:
            return None
        whole = " -- ".join(said)
        found = split_affiliation(whole, firms=self.firms)
        label = replace(header.label, role=found.role, firm=found.firm, affiliation=whole)
        return replace(header, after=at, end=self.lines[at - 1].end, label=label, strength=max(header.strength, LIKELY))

    def _closes(self, at: int) -> bool:
        """Tell whether a paragraph that began at a speaker line ends within a few lines."""
        for further in range(at + 1, min(at + _MOST_LINES, len(self.lines))):
            if self.lines[further].gap or further in self.furniture:
                return True
        return False

    def _belongs(self, name: str, line: CallLine, top: CallLine, *, paragraph: bool) -> bool:
        """Tell whether a line below a name is its role or firm."""
        if not line.short or len(line.bare) > 160 or name_kind(line.bare) == "operator":
            return False
        if top.level and line.level:
            return (is_role(line.bare) or is_firm(line.bare)) and name_kind(line.bare) != "person"
        known = self.directory.find(name)
        said = fold(line.bare)
        if (
            known is not None
            and said
            and said in (fold(known.role), fold(known.firm), fold(f"{known.role}, {known.firm}"))
        ):
            return True
        if is_speech(line) or ":" in line.bare or not line.bare[:1].isupper():
            return False
        if line.italic and _is_bold(top):
            return True
        return is_role(line.bare) or is_firm(line.bare) or paragraph


def _is_aside(label: Label, line: CallLine) -> bool:
    """Tell whether a line by itself is a gap in what is said rather than in place of a name: "(inaudible)"."""
    plain_line = not (label.marked or label.affiliation or line.level or line.bold)
    return label.kind == "unknown" and label.name[:1] in "[(<" and plain_line


def _is_bold(line: CallLine) -> bool:
    return line.bold


def _outer_colon(raw: str) -> int:
    """Return the place of the first colon outside brackets that may end a label, or -1."""
    stamped = _STAMPED.match(raw)
    depth = 0
    for at in range(stamped.end() if stamped and stamped.end() < len(raw) else 0, min(len(raw), _LONGEST_LABEL)):
        char = raw[at]
        if char in "([":
            depth += 1
        elif char in ")]":
            depth = max(depth - 1, 0)
        elif char in ":：" and not depth:
            return at
        elif char in ".?!" and raw[at + 1 : at + 2] == " " and at > 4 and raw[at - 3 : at].strip().islower():
            return -1
    return -1


def repeated(headers: Mapping[int, Header]) -> dict[str, int]:
    """Count how often each label comes up."""
    counts: dict[str, int] = {}
    for header in headers.values():
        counts[header.label.key] = counts.get(header.label.key, 0) + 1
    return counts
