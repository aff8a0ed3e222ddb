"""Canonical form of quantities, as in the API server: ``1`` for ``1000m``."""

import re
from decimal import ROUND_CEILING, Context, Decimal

_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:([KMGTPE]i)|([numkMGTPE]?)|[eE]([+-]?\d+))")
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_SUFFIXES = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_SMALLEST = Decimal("1e-9")
_KIBI = 1024
_EXACT = Context(prec=60)


def canonical(value: object) -> object:
    """Return a quantity with the largest suffix that needs no fraction; other values are returned unchanged.

    Binary and decimal suffixes are not converted into each other (``1536Mi``, ``1500M``). Values below 1024 have no
    binary suffix.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    match = _QUANTITY.fullmatch(str(value).strip())
    if not match:
        return value
    digits, binary, decimal, exponent = match.groups()
    factor = Decimal(_KIBI) ** _BINARY.index(binary) if binary else Decimal(10) ** int(exponent or _DECIMAL[decimal])
    number = _EXACT.multiply(Decimal(digits), factor)
    number = number.quantize(_SMALLEST, rounding=ROUND_CEILING if number > 0 else "ROUND_FLOOR", context=_EXACT)
    if binary and abs(number) >= _KIBI:
        return _in_powers_of_two(int(number.to_integral_value(ROUND_CEILING)))
    return _in_powers_of_ten(number, "e" if exponent else "")


def _in_powers_of_two(number: int) -> str:
    steps = 0
    while number % _KIBI == 0 and steps < len(_BINARY) - 1:
        number, steps = number // _KIBI, steps + 1
    return f"{number}{_BINARY[steps]}"


def _in_powers_of_ten(number: Decimal, letter: str) -> str:
    if not number:
        return "0"
    mantissa, exponent = int(number.scaleb(9, _EXACT)), -9
    while mantissa % 1000 == 0 and exponent < max(_SUFFIXES):
        mantissa, exponent = mantissa // 1000, exponent + 3
    suffix = f"e{exponent}" if letter and exponent else _SUFFIXES[exponent]
    return f"{mantissa}{suffix}"
