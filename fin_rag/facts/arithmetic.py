"""Safe arithmetic in ``Decimal``: what a model writes is parsed and counted, never executed."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal, DecimalException, localcontext
from typing import Final

from fin_rag.errors import InputError
from fin_rag.text.numbers import parse_number

_LONGEST: Final = 1_000
_DEEPEST: Final = 60
_DIGITS: Final = 40
_LARGEST_POWER: Final = 1_000
_CONTEXT: Final = Context(prec=_DIGITS, Emax=10_000, Emin=-10_000)
# Figures as they are printed: "$1,234.5", "12.5%", "3 million"; a plain number is left to the parser.
_PRINTED: Final = re.compile(
    r"(?<![\w.])[$€£]?\s?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?:\s?%)?|(?<![\w.])[$€£]\s?\d+(?:\.\d+)?(?:\s?%)?|(?<![\w.])\d+(?:\.\d+)?\s?%(?!\s*[\w(])"
)


def calculate(expression: str, values: Mapping[str, Decimal] | None = None) -> Decimal:
    """Compute an expression exactly, to 40 digits.

    It may hold numbers (also as printed: ``$1,234.5``, ``12.5%``), ``+ - * / **``, brackets, names of ``values``, and
    the functions ``abs``, ``min``, ``max``, ``sum``, ``mean``, ``round``, ``sqrt``, ``percent_change(old, new)`` (in
    per cent) and ``cagr(first, last, years)`` (in per cent).

    Raises:
        InputError: if it is anything else, divides by zero, or grows beyond all bounds.

    Example:
        >>> calculate("($1,356.2 - 1,234.5) / 1,234.5 * 100").quantize(Decimal("0.01"))
        Decimal('9.86')
        >>> calculate("cagr(100, 121, 2)")
        Decimal('10.0')
        >>> calculate("12.5% * 80")
        Decimal('10.000')
    """
    if not expression.strip() or len(expression) > _LONGEST:
        raise InputError(f"An expression needs 1 to {_LONGEST} characters. Got {len(expression)}.")
    text = _PRINTED.sub(_plain, _outside_calls(expression))
    text = text.replace("×", "*").replace("÷", "/").replace("−", "-").replace("^", "**").strip()
    tree = _parse(text, expression)
    with localcontext(_CONTEXT):
        try:
            value = _value(tree.body, values or {}, text, 0)
        except DecimalException as error:
            raise InputError(f"{expression!r} cannot be computed: {_why(error)}.") from error
    if not value.is_finite():
        raise InputError(f"{expression!r} cannot be computed: it grows beyond all bounds.")
    return value


def evaluate(
    formula: str, resolve: Callable[[str], Decimal], functions: Mapping[str, Callable[[str], Decimal]]
) -> Decimal:
    """Compute a formula whose names are looked up, and whose functions take one name.

    Raises:
        InputError: if it cannot be computed. What ``resolve`` raises passes through.

    Example:
        >>> evaluate("a / (a + b)", {"a": Decimal(1), "b": Decimal(3)}.__getitem__, {})
        Decimal('0.25')
    """
    tree = _parse(formula, formula)
    with localcontext(_CONTEXT):
        try:
            return _formula(tree.body, resolve, functions)
        except DecimalException as error:
            raise InputError(f"{formula!r} cannot be computed: {_why(error)}.") from error


def _outside_calls(expression: str) -> str:
    """Set the commas between arguments apart, so that ``max(1,200)`` has two arguments and not one."""
    depth, called, out = 0, [], []
    for at, char in enumerate(expression):
        if char == "(":
            called.append(at > 0 and (expression[at - 1].isalnum() or expression[at - 1] == "_"))
            depth += 1
        elif char == ")" and called:
            called.pop()
        out.append(" , " if char == "," and called and called[-1] else char)
    return "".join(out)


def _plain(match: re.Match[str]) -> str:
    number = parse_number(match[0].strip(), decimal=".")
    if number is None:
        return match[0]
    return f"({number.ratio if number.percent else number.value:f})"


def _parse(text: str, given: str) -> ast.Expression:
    try:
        return ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{given!r} is no arithmetic expression. Use numbers, + - * / ** and brackets.") from error


def _why(error: DecimalException) -> str:
    return "it divides by zero" if "ivi" in type(error).__name__ else "it grows beyond all bounds"


def _value(node: ast.AST, values: Mapping[str, Decimal], text: str, depth: int) -> Decimal:
    if depth > _DEEPEST:
        raise InputError("The expression has too many brackets inside each other.")
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return _literal(ast.get_source_segment(text, node) or str(node.value))
    if isinstance(node, ast.Name) and node.id in values:
        return values[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        inner = _value(node.operand, values, text, depth + 1)
        return -inner if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp):
        left, right = (_value(one, values, text, depth + 1) for one in (node.left, node.right))
        return _binary(node.op, left, right)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in _FUNCTIONS
        and not node.keywords
    ):
        return _FUNCTIONS[node.func.id]([_value(one, values, text, depth + 1) for one in node.args])
    known = sorted(_FUNCTIONS) + sorted(values)
    what = ast.unparse(node) if isinstance(node, ast.expr) else type(node).__name__
    raise InputError(f"{what!r} is not allowed in an expression. Known names: {', '.join(known)}.")


def _literal(text: str) -> Decimal:
    """Read a number as it is written; a float would round it."""
    try:
        number = Decimal(text.replace("_", ""))
    except DecimalException:
        raise InputError(f"{text!r} is no plain number.") from None
    return +number  # within the bounds of the context


def _binary(operator: ast.operator, left: Decimal, right: Decimal) -> Decimal:
    if isinstance(operator, ast.Add):
        return left + right
    if isinstance(operator, ast.Sub):
        return left - right
    if isinstance(operator, ast.Mult):
        return left * right
    if isinstance(operator, ast.Div):
        return left / right
    if isinstance(operator, ast.Pow) and abs(right) <= _LARGEST_POWER:
        return left**right
    raise InputError("Only + - * / and ** (up to 1000) are allowed in an expression.")


def _formula(
    node: ast.AST, resolve: Callable[[str], Decimal], functions: Mapping[str, Callable[[str], Decimal]]
) -> Decimal:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return Decimal(str(node.value))
    if isinstance(node, ast.Name):
        return resolve(node.id)
    if isinstance(node, ast.BinOp):
        return _binary(node.op, _formula(node.left, resolve, functions), _formula(node.right, resolve, functions))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
        argument = node.args[0]
        if isinstance(argument, ast.Name) and node.func.id in functions:
            return functions[node.func.id](argument.id)
    raise InputError(f"{ast.unparse(node) if isinstance(node, ast.expr) else node!r} is not allowed in a formula.")


# --- functions ------------------------------------------------------------------------------------


def _exactly(count: int, name: str, given: Sequence[Decimal]) -> None:
    if len(given) != count:
        raise InputError(f"{name} takes {count} value{'s' if count > 1 else ''}. Got {len(given)}.")


def _some(name: str, given: Sequence[Decimal]) -> None:
    if not given:
        raise InputError(f"{name} takes at least one value.")


def _abs(given: Sequence[Decimal]) -> Decimal:
    _exactly(1, "abs", given)
    return abs(given[0])


def _min(given: Sequence[Decimal]) -> Decimal:
    _some("min", given)
    return min(given)


def _max(given: Sequence[Decimal]) -> Decimal:
    _some("max", given)
    return max(given)


def _sum(given: Sequence[Decimal]) -> Decimal:
    _some("sum", given)
    return sum(given, Decimal(0))


def _mean(given: Sequence[Decimal]) -> Decimal:
    _some("mean", given)
    return sum(given, Decimal(0)) / len(given)


def _round(given: Sequence[Decimal]) -> Decimal:
    if len(given) == 1:
        return given[0].quantize(Decimal(1))
    _exactly(2, "round", given)
    places = int(given[1])
    if abs(places) > _DIGITS // 2:
        raise InputError(f"round takes up to {_DIGITS // 2} places. Got {places}.")
    return given[0].quantize(Decimal(1).scaleb(-places))


def _sqrt(given: Sequence[Decimal]) -> Decimal:
    _exactly(1, "sqrt", given)
    return given[0].sqrt()


def _percent_change(given: Sequence[Decimal]) -> Decimal:
    _exactly(2, "percent_change", given)
    return (given[1] - given[0]) / abs(given[0]) * 100


def _cagr(given: Sequence[Decimal]) -> Decimal:
    _exactly(3, "cagr", given)
    first, last, years = given
    if first <= 0 or last < 0 or years <= 0:
        raise InputError("cagr needs a first value above zero, a last one of zero or more, and years above zero.")
    growth = (last / first) ** (1 / years)
    return (growth.quantize(Decimal(1).scaleb(-_DIGITS // 2)) - 1).normalize() * 100


_FUNCTIONS: Final[Mapping[str, Callable[[Sequence[Decimal]], Decimal]]] = {
    "abs": _abs, "min": _min, "max": _max, "sum": _sum, "mean": _mean, "round": _round, "sqrt": _sqrt,
    "percent_change": _percent_change, "cagr": _cagr,
}  # fmt: skip
