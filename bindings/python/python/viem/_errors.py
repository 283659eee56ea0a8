"""Exceptions, which say where the fault is."""

from __future__ import annotations

from typing import Optional


class Error(Exception):
    """The base class of all errors of the library; each class below is also a class that Python has for such errors.

    Attributes
    ----------
    message : str
        One line.
    file : str or None
        The file that the fault is in.
    line, column : int or None
        The place in the file, counted from 1; columns in bytes.
    index : int or None
        The entry of the array that the message names, else the vertex, process, PE or block; counted from 0.

    Examples
    --------
    >>> import numpy as np, viem
    >>> try:
    ...     viem.partition(np.array([[0, 0.5], [0.5, 0]]), 2)
    ... except viem.Error as error:
    ...     print(error.index, error)
    1 entry 1 of `matrix` is 0.5, which is not a whole number of 64 bits
    """

    message: str
    file: Optional[str]
    line: Optional[int]
    column: Optional[int]
    index: Optional[int]

    def __init__(
        self,
        message: str,
        file: Optional[str] = None,
        line: Optional[int] = None,
        column: Optional[int] = None,
        index: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        self.index = index

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[type[Error], tuple[object, ...]]:
        return type(self), (self.message, self.file, self.line, self.column, self.index)


class UsageError(Error, ValueError):
    """An argument or a setting is wrong or out of range."""


class DataError(Error, ValueError):
    """A graph, matrix, mapping or file is not what it should be."""


class InputError(Error, OSError):
    """A file is missing or cannot be read."""


class OutputError(Error, OSError):
    """A file cannot be created or written."""


class ResourceError(Error, MemoryError):
    """There is not enough memory, or no thread can be started."""


class InternalError(Error, RuntimeError):
    """A mistake of the library; please report it. Other calls still work."""
