"""``Gate``: thresholds that a system has to hold, with an exit code and summaries for continuous integration."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias
from xml.etree.ElementTree import Element, SubElement, tostring

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from fin_rag.errors import InputError
from fin_rag.evaluation.answers import ANSWER_MEASURES, AnswerReport
from fin_rag.evaluation.diagnosis import Diagnosis
from fin_rag.evaluation.golden import fault_sentences
from fin_rag.evaluation.golden_files import read_text
from fin_rag.evaluation.intervals import Interval
from fin_rag.evaluation.measures import MEASURES
from fin_rag.evaluation.results import RetrievalReport
from fin_rag.evaluation.tables import Table

Outcome: TypeAlias = Literal["passed", "failed", "not measured"]

FAILED_EXIT: Final = 3
_LEAST: Final = 1e-9


class Rule(BaseModel):
    """Hold one threshold.

    ``measure`` is one of answers, or one of retrieval together with a ``cutoff`` such as ``"@5"`` or
    ``"@2000 characters"``. ``fallback`` is taken where the measure was not scored, and named in the result. A ``veto``
    fails the gate also when it could not be measured.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    measure: str = Field(min_length=1)
    cutoff: str = ""
    at_least: float | None = None
    at_most: float | None = None
    fallback: str = ""
    veto: bool = False

    @model_validator(mode="after")
    def _sound(self) -> Rule:
        if (self.at_least is None) == (self.at_most is None):
            raise ValueError("needs one of 'at_least' and 'at_most'")
        known = MEASURES if self.cutoff else ANSWER_MEASURES
        for name in filter(None, (self.measure, self.fallback)):
            if name not in known:
                where = f"retrieval (with 'cutoff' {self.cutoff!r})" if self.cutoff else "answers"
                raise ValueError(f"there is no measure {name!r} of {where}; known: {', '.join(known)}")
        return self

    @property
    def bound(self) -> str:
        """Return the threshold in words."""
        return f"at least {self.at_least:g}" if self.at_least is not None else f"at most {self.at_most:g}"

    def holds(self, mean: float) -> bool:
        """Tell whether a mean is within the threshold."""
        if self.at_least is not None:
            return mean >= self.at_least - _LEAST
        return self.at_most is None or mean <= self.at_most + _LEAST


@dataclass(frozen=True, slots=True)
class RuleResult:
    """Hold what became of one rule; ``measured`` names the measure that was used."""

    rule: Rule
    outcome: Outcome
    measured: str
    value: Interval | None

    @property
    def sentence(self) -> str:
        """Say the outcome in words."""
        if self.value is None or self.value.mean is None:
            return f"{self.rule.measure} was not measured; it has to be {self.rule.bound}"
        stood_in = f" (in place of {self.rule.measure})" if self.measured != self.rule.measure else ""
        unscored = f", {self.value.unscored} not scored" if self.value.unscored else ""
        at = f" {self.rule.cutoff}" if self.rule.cutoff else ""
        return (
            f"{self.measured}{at}{stood_in} is {self.value.mean:.3f} over {self.value.n}{unscored}; "
            f"it has to be {self.rule.bound}"
        )


@dataclass(frozen=True, slots=True)
class GateResult:
    """Hold the outcome of every rule, and where failed questions were lost."""

    rules: tuple[RuleResult, ...]
    diagnosis: Diagnosis | None = None

    @property
    def failed(self) -> tuple[RuleResult, ...]:
        """Return the rules that fail the gate."""
        return tuple(r for r in self.rules if r.outcome == "failed" or (r.rule.veto and r.outcome == "not measured"))

    @property
    def passed(self) -> bool:
        """Tell whether the gate is passed."""
        return not self.failed

    @property
    def exit_code(self) -> int:
        """Return 0 if the gate is passed, else 3."""
        return 0 if self.passed else FAILED_EXIT

    def table(self) -> Table:
        """Return one row a rule."""
        rows = [
            (
                r.measured + (f" {r.rule.cutoff}" if r.rule.cutoff else ""),
                r.rule.bound,
                "-" if r.value is None else str(r.value),
                "0" if r.value is None else str(r.value.unscored),
                r.outcome + (" (veto)" if r.rule.veto and r in self.failed else ""),
            )
            for r in self.rules
        ]
        columns = ("measure", "threshold", "value [95 % interval]", "not scored", "outcome")
        return Table(f"gate: {'passed' if self.passed else 'FAILED'}", columns, tuple(rows))

    def _repr_html_(self) -> str:
        """Show the rules in a notebook."""
        return self.table()._repr_html_()

    def markdown(self) -> str:
        """Write a summary for a pull request: the rules, and where questions were lost."""
        parts = [self.table().markdown(), *(f"- {r.sentence}." for r in self.failed)]
        if self.diagnosis is not None:
            parts += ["", self.diagnosis.markdown()]
        return "\n".join(parts) + "\n"

    def junit(self) -> str:
        """Write JUnit XML: one test case a rule; a rule that was not measured is skipped."""
        skipped = [r for r in self.rules if r.outcome == "not measured" and r not in self.failed]
        suite = Element(
            "testsuite",
            name="fin-rag gate",
            tests=str(len(self.rules)),
            failures=str(len(self.failed)),
            errors="0",
            skipped=str(len(skipped)),
        )
        stages = "" if self.diagnosis is None else "\n" + self.diagnosis.text()
        for result in self.rules:
            name = f"{result.rule.measure} {result.rule.cutoff}".strip() + f" {result.rule.bound}"
            case = SubElement(suite, "testcase", classname="fin_rag.gate", name=name)
            if result in self.failed:
                SubElement(case, "failure", message=result.sentence).text = _xml_safe(result.sentence + stages)
            elif result in skipped:
                SubElement(case, "skipped", message=result.sentence)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(suite, encoding="unicode") + "\n"

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return {
            "passed": self.passed,
            "rules": [
                {
                    "measure": r.rule.measure, "cutoff": r.rule.cutoff, "measured": r.measured, "bound": r.rule.bound,
                    "veto": r.rule.veto, "outcome": r.outcome, "value": None if r.value is None else r.value.as_dict(),
                    "sentence": r.sentence,
                }
                for r in self.rules
            ],
            "diagnosis": None if self.diagnosis is None else self.diagnosis.as_dict(),
        }  # fmt: skip


class Gate:
    """Hold rules and judge reports by them.

    Example:
        >>> gate = Gate.load()
        >>> [rule.measure for rule in gate.rules if rule.veto]
        ['figure_verification', 'invention']
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        if not rules:
            raise InputError("A gate needs at least one rule.")
        self.rules = tuple(rules)

    @classmethod
    def load(cls, path: str | Path | None = None) -> Gate:
        """Read rules from a ``.json`` or ``.toml`` file with a list ``rules``; the default ones without a path.

        Raises:
            NotFoundError: if there is no such file.
            InputError: if it is not in that form; the message names rule and field.
        """
        if path is None:
            where, text = (
                "gate_defaults.json",
                files("fin_rag.evaluation").joinpath("gate_defaults.json").read_text("utf-8"),
            )
        else:
            where, text = str(path), read_text(Path(path))
        try:
            data = tomllib.loads(text) if where.endswith(".toml") else json.loads(text)
        except (tomllib.TOMLDecodeError, json.JSONDecodeError) as error:
            raise InputError(f"{where} cannot be read: {error}.") from error
        listed = data.get("rules") if isinstance(data, dict) else None
        if not isinstance(listed, list):
            raise InputError(f"{where} needs a list 'rules' of objects with 'measure' and 'at_least' or 'at_most'.")
        rules, faults = [], []
        for number, row in enumerate(listed, 1):
            try:
                rules.append(Rule.model_validate(row))
            except ValidationError as error:
                faults += [f"rule {number}: {fault}" for fault in fault_sentences(error, Rule)]
        if faults:
            raise InputError(f"{where}: " + "; ".join(faults))
        return cls(rules)

    def check(
        self,
        *,
        retrieval: RetrievalReport | None = None,
        answers: AnswerReport | None = None,
        diagnosis: Diagnosis | None = None,
    ) -> GateResult:
        """Judge reports by the rules; a measure without a report or a score is *not measured*.

        What was not measured neither passes nor vanishes: it is listed, and fails the gate if it is a veto.

        Raises:
            NotFoundError: if a rule names a cutoff that was not measured.
        """
        return GateResult(tuple(_check(rule, retrieval, answers) for rule in self.rules), diagnosis)


def _check(rule: Rule, retrieval: RetrievalReport | None, answers: AnswerReport | None) -> RuleResult:
    for name in filter(None, (rule.measure, rule.fallback)):
        value: Interval | None = None
        if rule.cutoff and retrieval is not None:
            value = retrieval.mean(name, rule.cutoff)
        elif not rule.cutoff and answers is not None:
            value = answers.mean(name)
        if value is not None and value.mean is not None:
            return RuleResult(rule, "passed" if rule.holds(value.mean) else "failed", name, value)
    return RuleResult(rule, "not measured", rule.measure, None)


def _xml_safe(text: str) -> str:
    """Drop the control characters that XML cannot hold."""
    return "".join(char for char in text if char in "\t\n" or char >= " ")
