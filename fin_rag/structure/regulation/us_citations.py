"""Cross-references of statutes whose provisions have codes: CFR sections, FINRA rules, Basel paragraphs, FCA rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from fin_rag.loaders.act_title import NUMBERED, clean_act
from fin_rag.schema import Span
from fin_rag.structure.regulation import us_words as words
from fin_rag.structure.regulation.acts import US_ACT, Acts
from fin_rag.structure.regulation.address import prefixes
from fin_rag.structure.regulation.build import Built
from fin_rag.structure.regulation.coded_lists import CodedLists
from fin_rag.structure.regulation.model import Provision, Reference
from fin_rag.structure.regulation.resolve import Resolver
from fin_rag.structure.regulation.systems import BASEL, CFR, FCA, FINRA


class _Reader(CodedLists):
    """Read citations one after the other; each ``_read_…`` returns references and where to go on."""

    def read(self, match: re.Match[str], limit: int) -> tuple[list[Reference], int]:
        """Read what a trigger announces."""
        reader = {
            "section": self._section, "code": self._code, "act": self._act, "foreign": self._foreign,
            "rule": self._rule, "supplement": self._supplement, "words": self._words,
            "paragraph": self._paragraph, "unit": self._unit, "this": self._this, "coded": self._coded,
            "usc": self._usc, "appendix": self._appendix, "article": self._article,
        }[match.lastgroup or "act"]  # fmt: skip
        return reader(match.start(), limit)

    # --- readers ------------------------------------------------------------------------------

    def _section(self, at: int, limit: int) -> tuple[list[Reference], int]:
        match = words.SECTION.match(self._view, at, limit)
        if not match:
            return [], at + 1
        targets, end = self._list(match.end(), limit, [f"sec:{match['number']}"], words.NEXT_SECTION, "sec")
        own = words.OF_OWN.match(self._view, end, limit)
        end = own.end() if own else end
        return self._internal(at, end, [self._resolver.known(target) for target in targets]), end

    def _code(self, at: int, limit: int) -> tuple[list[Reference], int]:
        match = words.CODE.match(self._view, at, limit)
        if not match:
            return [], at + 1
        number = words.NEXT_SECTION.match(self._view, match.end(), limit)
        own = bool(self._acts.own.cfr_title) and match["title"] == self._acts.own.cfr_title
        if number is None:
            part = words.PART_NUMBER.match(self._view, match.end(), limit)
            if part is None:
                return [], match.end()
            if own:
                return self._internal(at, part.end(), [f"part:{part.group()}"]), part.end()
            return self._external(at, part.end(), f"{match['title']} CFR {part.group()}"), part.end()
        targets, end = self._list(number.end(), limit, [f"sec:{number['number']}"], words.NEXT_SECTION, "sec")
        if own:
            return self._internal(at, end, [self._resolver.known(target) for target in targets]), end
        part_number = number["number"].partition(".")[0]
        return self._external(at, end, f"{match['title']} CFR {part_number}", targets), end

    def _act(self, at: int, limit: int) -> tuple[list[Reference], int]:
        match = US_ACT.match(self._view, at, limit) or NUMBERED.match(self._view, at, limit)
        if not match:
            return [], at + 1
        rule = re.compile(r"[ ]Rules?[ ]").match(self._view, match.end(), limit)
        if rule:
            return self._foreign(at, limit)
        if words.NAMED_ACT.match(match.group()) and not self._is_cited(at, match.end()):
            return [], match.end()
        return self._external(at, match.end(), clean_act(match.group())), match.end()

    def _usc(self, at: int, limit: int) -> tuple[list[Reference], int]:
        """Read ``chapter 15 of title 44, United States Code``."""
        chapter = words.USC.match(self._view, at, limit)
        title = words.USC.match(self._view, chapter.end(), limit) if chapter and chapter["chapter"] else chapter
        if not chapter or not title or not title["title"]:
            return [], at + 5
        inner = [f"chapter:{chapter['chapter']}"] if chapter["chapter"] else []
        return self._external(at, title.end(), f"title {title['title']}, United States Code", inner), title.end()

    def _article(self, at: int, limit: int) -> tuple[list[Reference], int]:
        """Read ``article 16(7) of MiFID``: codes have no articles, so the act is always another one."""
        match = words.ARTICLE.match(self._view, at, limit)
        if not match:
            return [], at + 7
        named = NUMBERED.match(self._view, match.end(), limit) or words.FOREIGN_TEXT.match(
            self._view, match.end(), limit
        )
        if not named:
            return [], match.end()
        labels = re.findall(r"\w+", match["levels"])
        cited = f"art:{match['number']}" + "".join(
            f"/{kind}:{label}" for kind, label in zip(("par", "pt", "sub"), labels, strict=False)
        )
        return self._external(at, named.end(), clean_act(named.group()), [cited]), named.end()

    def _is_cited(self, start: int, end: int) -> bool:
        """Tell the name of an act from words that begin with it: *the Act,* but not *Privacy Act requests*."""
        before = self._view[max(0, start - 4) : start].lower()
        return before.endswith("the ") and not re.match(r"[ ]?[\w'’”]", self._view[end : end + 2])

    def _foreign(self, at: int, limit: int) -> tuple[list[Reference], int]:
        match = words.FOREIGN_RULE.match(self._view, at, limit)
        if not match:
            return [], at + 3
        _, end = self._levels(match.end(), limit)
        return self._external(at, end, f"{match['act']} Rule {match['number']}"), end

    def _rule(self, at: int, limit: int) -> tuple[list[Reference], int]:
        start = self._view.find(" ", at, limit) + 1 if self._view.startswith("FINRA", at) else at
        number = self._view.find(" ", start, limit) + 1
        match = words.RULE_NUMBER.match(self._view, number, limit)
        if not match:
            return [], number
        targets, end = self._list(match.end(), limit, [f"rule:{match['number']}"], words.RULE_NUMBER, "rule")
        if self._system != FINRA:
            return self._external(start, end, f"FINRA Rule {match['number']}", targets), end
        return self._internal(start, end, [self._resolver.known(target) for target in targets]), end

    def _supplement(self, at: int, limit: int) -> tuple[list[Reference], int]:
        match = words.SUPPLEMENT.match(self._view, at, limit)
        source = self._resolver.source(at)
        if not match or source is None:
            return [], at + 5
        base = f"{prefixes(source.address)[0]}/{match['number']}"
        targets, end = self._list(match.end(), limit, [base], None, "")
        return self._internal(at, end, targets), end

    def _words(self, at: int, limit: int) -> tuple[list[Reference], int]:
        """Read ``section 10(b) of the Act``: another act's, unless the number is one of this code."""
        match = words.WORDS.match(self._view, at, limit)
        if not match:
            return [], at + 7
        coded = words.NEXT_SECTION.fullmatch(match["number"])
        targets, end = self._list(
            match.end(),
            limit,
            [f"sec:{match['number']}"],
            words.NEXT_SECTION if coded else words.SIMPLE,
            "sec",
        )
        own = words.OF_OWN.match(self._view, end, limit)
        if coded or own:
            end = own.end() if own else end
            return self._internal(at, end, [self._resolver.known(target) for target in targets]), end
        of = words.OF.match(self._view, end, limit)
        name = _statute_name(self._view, of.end(), limit) if of else None
        if name is None:
            return [], end
        return self._external(at, name[1], name[0], targets), name[1]

    def _paragraph(self, at: int, limit: int) -> tuple[list[Reference], int]:
        match = words.PARAGRAPH.match(self._view, at, limit)
        source = self._resolver.source(at)
        if not match or source is None:
            return [], at + 9
        if match["basel"]:
            return self._coded_paragraph(at, limit, match, source)
        if not words.LEVEL.match(self._view, match.end(), limit):
            return [], match.end()
        base = self._own_base(source)
        targets, end = self._list(match.end(), limit, [base], None, "")
        supplement = words.OF_SUPPLEMENT.match(self._view, end, limit)
        if supplement:
            return self._internal(at, supplement.end(), targets), supplement.end()
        own = words.OF_OWN.match(self._view, end, limit)
        if own:
            return self._internal(at, own.end(), [self._resolver.known(target) for target in targets]), own.end()
        of = words.OF.match(self._view, end, limit)
        other = self._base_at(of.end(), limit) if of else None
        if other is not None:
            moved = [other[0] + target[len(base) :] for target in targets]
            return self._internal(at, other[1], [self._resolver.known(target) for target in moved]), other[1]
        name = _statute_name(self._view, of.end(), limit) if of else None
        if name is not None:
            return self._external(at, name[1], name[0]), name[1]
        return self._internal(at, end, [self._resolver.known(target) for target in targets]), end

    @staticmethod
    def _own_base(source: Provision) -> str:
        """Return what the paragraphs that a provision cites without more are in: its section, or supplement."""
        steps = source.address.split("/")
        return "/".join(steps[:2]) if len(steps) > 1 and steps[1].startswith(".") else steps[0]

    def _base_at(self, at: int, limit: int) -> tuple[str, int] | None:
        """Return the section or rule that a paragraph is said to be of."""
        section = words.SECTION.match(self._view, at, limit)
        if section:
            return f"sec:{section['number']}", section.end()
        rule = re.compile(r"(?:FINRA[ ])?Rule[ ](?P<number>\d{4}[A-Z]?)").match(self._view, at, limit)
        return (f"rule:{rule['number']}", rule.end()) if rule and self._system == FINRA else None

    def _coded_paragraph(
        self, at: int, limit: int, match: re.Match[str], source: Provision
    ) -> tuple[list[Reference], int]:
        code = next((step.partition(":")[2] for step in source.path if step.startswith("standard:")), "")
        if self._system != BASEL or not code:
            return [], match.end()
        base = f"para:{code}{match['basel']}"
        targets, end = self._list(match.end(), limit, [base], words.DECIMAL, f"para:{code}", glue="")
        return self._internal(at, end, [self._resolver.known(target) for target in targets]), end

    def _unit(self, at: int, limit: int) -> tuple[list[Reference], int]:
        match = words.UNIT.match(self._view, at, limit)
        if not match or self._system != CFR:
            return [], at + 4
        own = words.OF_OWN.match(self._view, match.end(), limit)
        is_part = match["kind"].lower() == "part"
        if is_part and not own:
            return [], match.end()
        end = own.end() if own else match.end()
        return self._internal(at, end, [f"{match['kind'].lower()}:{match['number']}"]), end

    def _appendix(self, at: int, limit: int) -> tuple[list[Reference], int]:
        match = words.APPENDIX.match(self._view, at, limit)
        if not match or self._system != CFR:
            return [], at + 8
        end, address = match.end(), f"appendix:{match['number']}"
        own = words.OF_OWN.match(self._view, end, limit)
        part = words.OF_PART.match(self._view, end, limit)
        if own:
            end = own.end()
        elif part:
            end = part.end()
            if self._resolver.find(f"part:{part['part']}") is None:
                return self._internal(at, end, [f"part:{part['part']}"]), end
        elif self._resolver.find(address) is None:
            return [], end
        return self._internal(at, end, [address]), end

    def _this(self, at: int, limit: int) -> tuple[list[Reference], int]:
        match = words.THIS.match(self._view, at, limit)
        source = self._resolver.source(at)
        if not match or source is None:
            return [], at + 4
        kind = match["kind"].lower()
        if kind in ("section", "rule"):
            target = prefixes(source.address)[0] if (kind == "rule") == (self._system == FINRA) else ""
        else:
            target = next((step for step in reversed(source.path) if step.startswith(f"{kind}:")), "")
        return self._internal(at, match.end(), [target]), match.end()

    def _coded(self, at: int, limit: int) -> tuple[list[Reference], int]:
        if self._system == BASEL:
            return self._basel(at, limit)
        if self._system == FCA:
            return self._fca(at, limit)
        return [], at + 2

    def _basel(self, at: int, limit: int) -> tuple[list[Reference], int]:
        match = words.BASEL.match(self._view, at, limit)
        if not match:
            return [], at + 2
        chapter = f"{match['code']}{match['chapter']}"
        own = chapter in self._chapters
        if not match["paragraph"]:
            found = (
                self._internal(at, match.end(), [f"chapter:{chapter}"])
                if own
                else self._external(at, match.end(), chapter)
            )
            return found, match.end()
        targets, end = self._list(match.end(), limit, [f"para:{match.group()}"], None, "")
        to = words.TO.match(self._view, end, limit)
        last = words.BASEL.match(self._view, to.end(), limit) if to else None
        if last is not None and last["paragraph"] and f"{last['code']}{last['chapter']}" == chapter:
            targets += self._range((targets[-1], []), (f"para:{last.group()}", []))
            end = last.end()
        return (self._internal(at, end, targets) if own else self._external(at, end, chapter, targets)), end

    def _fca(self, at: int, limit: int) -> tuple[list[Reference], int]:
        match = words.FCA.match(self._view, at, limit)
        if not match:
            return [], at + 2
        chapter = f"{match['code']} {match['chapter']}"
        base = self._fca_base(match)
        targets, end = self._list(match.end(), limit, [base], None, "")
        to = words.TO.match(self._view, end, limit)
        last = words.FCA.match(self._view, to.end(), limit) if to else None
        if last is not None:
            targets = self._resolver.between(base, self._fca_base(last)) or [*targets, self._fca_base(last)]
            end = last.end()
        if chapter in self._chapters:
            return self._internal(at, end, [self._resolver.known(target) for target in targets]), end
        return self._external(at, end, chapter, targets), end

    def _fca_base(self, match: re.Match[str]) -> str:
        number = f"{match['code']} {match['number']}"
        if match["annex"]:
            return f"annex:{number} Annex {match['annex']}{match['annex_status'] or ''}"
        depth = match["number"].count(".")
        if depth < 2:
            return f"{('chapter', 'section')[depth]}:{number}"
        status = (match["status"] or "").strip()
        return f"rule:{number}{status}" if status else self._rules.get(number, f"rule:{number}")


def _statute_name(view: str, at: int, limit: int) -> tuple[str, int] | None:
    match = US_ACT.match(view, at, limit) or words.STATUTE.match(view, at, limit)
    return (match.group(), match.end()) if match else None


def coded_citations(built: Built, resolver: Resolver, acts: Acts, silent: Sequence[Span]) -> Iterator[Reference]:
    """Yield the references of a statute whose provisions have codes."""
    reader = _Reader(built, resolver, acts)
    view, start = built.view, 0
    for span in [*silent, Span(len(view), len(view))]:
        at = start
        while at < span.start and (match := words.TRIGGER.search(view, at, span.start)):
            found, end = reader.read(match, span.start)
            yield from found
            at = max(end, match.start() + 1)
        start = max(start, span.end)
