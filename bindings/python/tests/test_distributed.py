"""What the package has of the structures of C."""

import re
from pathlib import Path

import numpy as np
import pytest

from viem import _distributed

BINDINGS = Path(__file__).parents[2]
KINDS = {"int64_t": "i8", "int32_t": "i4", "double": "f8", "const void *": "u8"}


def structures(header):
    """The structures of a header, each with the fields in its own words."""
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    fields = re.compile(r"\s*((?:const )?\w+ \*?)(\w+);")
    return {name: fields.findall(inner) for inner, name in re.findall(r"typedef struct \{(.*?)\} (\w+);", text, re.S)}


def as_dtype(name, all_of_them):
    """The layout of a structure in C."""

    def kind_of(kind):
        return as_dtype(kind, all_of_them) if kind in all_of_them else KINDS[kind]

    kinds = [(field, kind_of(kind.strip())) for kind, field in all_of_them[name]]
    return np.dtype(kinds, align=True)


@pytest.mark.parametrize(
    ("header", "name", "mirror"),
    [
        ("c/include/viem.h", "viem_report", _distributed._REPORT),
        ("mpi/include/viem_dist.h", "viem_dist_graph", _distributed._GRAPH),
    ],
)
def test_structures_are_those_of_the_header(header, name, mirror):
    layout = as_dtype(name, structures(BINDINGS / header))
    assert mirror.itemsize == layout.itemsize

    def fields(dtype):
        return [
            (field, offset, fields(inner) if inner.names else inner)
            for field, (inner, offset, *_) in dtype.fields.items()
        ]

    assert fields(mirror) == fields(layout)
