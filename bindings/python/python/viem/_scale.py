"""Whole numbers in place of floats: multiplied by powers of two, and rounded only where that does not suffice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import DataError
from ._graph import Numbers

# The digits of a float. Where numbers are rounded, any sum of their products has at most so many.
_DIGITS = 53

# Two digits more are safe in any case; see `SAFE_COST` of the engine.
_SPARE = 2


@dataclass(frozen=True)
class Scaled:
    """Two matrices of whole numbers, multiplied by powers of two whose product is 2 to the `power`."""

    a: Numbers
    b: Numbers
    power: int
    error: float
    """The greatest difference that rounding makes to a sum of products, as the caller has it; 0 if nothing was rounded."""

    def unscaled(self, cost: int) -> float:
        """A sum of products, as the caller has it."""
        return float(np.ldexp(float(cost), -self.power))


def scaled(a: Numbers, b: Numbers) -> Scaled:
    """The matrices as whole numbers. Those that are whole and small enough stay as they are."""
    exact = (_exponent("A", a), _exponent("B", b))
    digits = (_digits(a), _digits(b))
    room = _DIGITS - _digits_of_sums(a, b, digits)
    has_floats = a.dtype.kind == "f" or b.dtype.kind == "f"
    if not has_floats or (max(exact) <= 0 and room + _SPARE >= 0):
        return Scaled(a, b, 0, 0.0)
    power = sum(exact)
    if power > room + _SPARE:
        power = room
    # As many digits for either matrix, unless one of them has no more.
    of_a = max(min((power + digits[1] - digits[0]) // 2, exact[0]), power - exact[1])
    powers = (min(of_a, _DIGITS - digits[0]), min(power - of_a, _DIGITS - digits[1]))
    floats = (a.astype(float), b.astype(float))
    whole = [np.rint(np.ldexp(matrix, power)) for matrix, power in zip(floats, powers)]
    back = [np.ldexp(matrix, -power) for matrix, power in zip(whole, powers)]
    errors = [_greatest(matrix - other) for matrix, other in zip(floats, back)]
    error = errors[0] * float(np.abs(floats[1]).sum()) + errors[1] * float(np.abs(back[0]).sum())
    # The sum above is rounded itself.
    return Scaled(whole[0].astype(np.int64), whole[1].astype(np.int64), sum(powers), error * (1 + 1e-9))


def _digits_of_sums(a: Numbers, b: Numbers, digits: tuple[int, int]) -> int:
    """The greatest number of digits of a sum of products of entries of both matrices, each used once."""
    small = [np.abs(np.ldexp(matrix.astype(float), -power)) for matrix, power in zip((a, b), digits)]
    most = min(small[0].sum() * _greatest(small[1]), small[1].sum() * _greatest(small[0]))
    return int(np.frexp(most)[1]) + sum(digits)


def _digits(matrix: Numbers) -> int:
    """The digits of the greatest entry before the point; negative if there are zeros after it."""
    return int(np.frexp(_greatest(matrix))[1])


def _greatest(matrix: NDArray[Any]) -> float:
    return float(np.abs(matrix.astype(float)).max(initial=0.0))


def _exponent(name: str, matrix: Numbers) -> int:
    """The least power of two by which all entries become whole numbers; it is negative if they are multiples of one."""
    if matrix.dtype.kind != "f":
        return 0
    is_finite = np.isfinite(matrix)
    if not is_finite.all():
        index = int(np.argmin(is_finite))
        raise DataError(f"entry {index} of `{name}` is {matrix.flat[index]}", index=index)
    mantissas, exponents = np.frexp(matrix[matrix != 0].astype(float))
    digits = np.ldexp(mantissas, _DIGITS).astype(np.int64)
    trailing = np.frexp((digits & -digits).astype(float))[1] - 1
    return int((_DIGITS - exponents - trailing).max(initial=-1074 - _DIGITS))
