"""Making tensor variables: ``vector("x")``, ``tensor("x", dtype="int64", shape=(None, 3))``, ``x, y = dscalars("x y")``.

Where no dtype is given it is ``config.floatX``. A length that is None is known at run time only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

import numpy.typing as npt

import lamella.ir.tensor.named_types as named
from lamella.config import config
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorVariable

__all__ = [
    "bcols",
    "bmatrices",
    "brows",
    "bscalars",
    "btensor3s",
    "btensor4s",
    "btensor5s",
    "btensor6s",
    "btensor7s",
    "bvectors",
    "ccols",
    "cmatrices",
    "col",
    "cols",
    "crows",
    "cscalars",
    "ctensor3s",
    "ctensor4s",
    "ctensor5s",
    "ctensor6s",
    "ctensor7s",
    "cvectors",
    "dcols",
    "dmatrices",
    "drows",
    "dscalars",
    "dtensor3s",
    "dtensor4s",
    "dtensor5s",
    "dtensor6s",
    "dtensor7s",
    "dvectors",
    "fcols",
    "fmatrices",
    "frows",
    "fscalars",
    "ftensor3s",
    "ftensor4s",
    "ftensor5s",
    "ftensor6s",
    "ftensor7s",
    "fvectors",
    "icols",
    "imatrices",
    "irows",
    "iscalars",
    "itensor3s",
    "itensor4s",
    "itensor5s",
    "itensor6s",
    "itensor7s",
    "ivectors",
    "lcols",
    "lmatrices",
    "lrows",
    "lscalars",
    "ltensor3s",
    "ltensor4s",
    "ltensor5s",
    "ltensor6s",
    "ltensor7s",
    "lvectors",
    "matrices",
    "matrix",
    "row",
    "rows",
    "scalar",
    "scalars",
    "tensor",
    "tensor3",
    "tensor3s",
    "tensor4",
    "tensor4s",
    "tensor5",
    "tensor5s",
    "tensor6",
    "tensor6s",
    "tensor7",
    "tensor7s",
    "vector",
    "vectors",
    "wcols",
    "wmatrices",
    "wrows",
    "wscalars",
    "wtensor3s",
    "wtensor4s",
    "wtensor5s",
    "wtensor6s",
    "wtensor7s",
    "wvectors",
    "zcols",
    "zmatrices",
    "zrows",
    "zscalars",
    "ztensor3s",
    "ztensor4s",
    "ztensor5s",
    "ztensor6s",
    "ztensor7s",
    "zvectors",
]


def tensor(
    name: str | None = None, dtype: npt.DTypeLike | None = None, shape: Sequence[int | None] = ()
) -> TensorVariable:
    """Make a tensor variable.

    Parameters
    ----------
    name
        A name for people.
    dtype
        The dtype.
    shape
        For each axis its length, or None. An axis of length 1 broadcasts; one of unknown length never does.
    """
    return TensorType(config.floatX if dtype is None else dtype, shape)(name)


def scalar(name: str | None = None, dtype: npt.DTypeLike | None = None) -> TensorVariable:
    """Make a variable for a number."""
    return tensor(name, dtype, ())


def vector(
    name: str | None = None, dtype: npt.DTypeLike | None = None, shape: Sequence[int | None] = (None,)
) -> TensorVariable:
    """Make a variable for a vector; see `tensor`."""
    return _of_ndim(1, name, dtype, shape)


def row(
    name: str | None = None, dtype: npt.DTypeLike | None = None, shape: Sequence[int | None] = (1, None)
) -> TensorVariable:
    """Make a variable for a matrix with one row; see `tensor`."""
    return _of_ndim(2, name, dtype, shape)


def col(
    name: str | None = None, dtype: npt.DTypeLike | None = None, shape: Sequence[int | None] = (None, 1)
) -> TensorVariable:
    """Make a variable for a matrix with one column; see `tensor`."""
    return _of_ndim(2, name, dtype, shape)


def matrix(
    name: str | None = None, dtype: npt.DTypeLike | None = None, shape: Sequence[int | None] = (None, None)
) -> TensorVariable:
    """Make a variable for a matrix; see `tensor`."""
    return _of_ndim(2, name, dtype, shape)


def tensor3(
    name: str | None = None, dtype: npt.DTypeLike | None = None, shape: Sequence[int | None] = (None, None, None)
) -> TensorVariable:
    """Make a variable for an array of 3 dimensions; see `tensor`."""
    return _of_ndim(3, name, dtype, shape)


def tensor4(
    name: str | None = None, dtype: npt.DTypeLike | None = None, shape: Sequence[int | None] = (None, None, None, None)
) -> TensorVariable:
    """Make a variable for an array of 4 dimensions; see `tensor`."""
    return _of_ndim(4, name, dtype, shape)


def tensor5(
    name: str | None = None,
    dtype: npt.DTypeLike | None = None,
    shape: Sequence[int | None] = (None, None, None, None, None),
) -> TensorVariable:
    """Make a variable for an array of 5 dimensions; see `tensor`."""
    return _of_ndim(5, name, dtype, shape)


def tensor6(
    name: str | None = None,
    dtype: npt.DTypeLike | None = None,
    shape: Sequence[int | None] = (None, None, None, None, None, None),
) -> TensorVariable:
    """Make a variable for an array of 6 dimensions; see `tensor`."""
    return _of_ndim(6, name, dtype, shape)


def tensor7(
    name: str | None = None,
    dtype: npt.DTypeLike | None = None,
    shape: Sequence[int | None] = (None, None, None, None, None, None, None),
) -> TensorVariable:
    """Make a variable for an array of 7 dimensions; see `tensor`."""
    return _of_ndim(7, name, dtype, shape)


def _of_ndim(ndim: int, name: str | None, dtype: npt.DTypeLike | None, shape: Sequence[int | None]) -> TensorVariable:
    if len(shape) != ndim:
        raise ValueError(f"a shape of {ndim} lengths is wanted here, not {tuple(shape)}")
    return tensor(name, dtype, shape)


class _Several(Protocol):
    def __call__(self, *names: str | int) -> list[TensorVariable]: ...


def _several(make: Callable[[str | None], TensorVariable]) -> _Several:
    """Return a function that makes variables by names, ``"x", "y"`` or ``"x y"``, or a number of nameless ones."""

    def several(*names: str | int) -> list[TensorVariable]:
        made: list[TensorVariable] = []
        for name in names:
            wanted: Sequence[str | None] = name.split() if isinstance(name, str) else [None] * name
            made.extend([make(each) for each in wanted])
        return made

    return several


scalars: Final = _several(scalar)
vectors: Final = _several(vector)
rows: Final = _several(row)
cols: Final = _several(col)
matrices: Final = _several(matrix)
tensor3s: Final = _several(tensor3)
tensor4s: Final = _several(tensor4)
tensor5s: Final = _several(tensor5)
tensor6s: Final = _several(tensor6)
tensor7s: Final = _several(tensor7)

bscalars: Final = _several(named.bscalar)
bvectors: Final = _several(named.bvector)
brows: Final = _several(named.brow)
bcols: Final = _several(named.bcol)
bmatrices: Final = _several(named.bmatrix)
btensor3s: Final = _several(named.btensor3)
btensor4s: Final = _several(named.btensor4)
btensor5s: Final = _several(named.btensor5)
btensor6s: Final = _several(named.btensor6)
btensor7s: Final = _several(named.btensor7)

wscalars: Final = _several(named.wscalar)
wvectors: Final = _several(named.wvector)
wrows: Final = _several(named.wrow)
wcols: Final = _several(named.wcol)
wmatrices: Final = _several(named.wmatrix)
wtensor3s: Final = _several(named.wtensor3)
wtensor4s: Final = _several(named.wtensor4)
wtensor5s: Final = _several(named.wtensor5)
wtensor6s: Final = _several(named.wtensor6)
wtensor7s: Final = _several(named.wtensor7)

iscalars: Final = _several(named.iscalar)
ivectors: Final = _several(named.ivector)
irows: Final = _several(named.irow)
icols: Final = _several(named.icol)
imatrices: Final = _several(named.imatrix)
itensor3s: Final = _several(named.itensor3)
itensor4s: Final = _several(named.itensor4)
itensor5s: Final = _several(named.itensor5)
itensor6s: Final = _several(named.itensor6)
itensor7s: Final = _several(named.itensor7)

lscalars: Final = _several(named.lscalar)
lvectors: Final = _several(named.lvector)
lrows: Final = _several(named.lrow)
lcols: Final = _several(named.lcol)
lmatrices: Final = _several(named.lmatrix)
ltensor3s: Final = _several(named.ltensor3)
ltensor4s: Final = _several(named.ltensor4)
ltensor5s: Final = _several(named.ltensor5)
ltensor6s: Final = _several(named.ltensor6)
ltensor7s: Final = _several(named.ltensor7)

fscalars: Final = _several(named.fscalar)
fvectors: Final = _several(named.fvector)
frows: Final = _several(named.frow)
fcols: Final = _several(named.fcol)
fmatrices: Final = _several(named.fmatrix)
ftensor3s: Final = _several(named.ftensor3)
ftensor4s: Final = _several(named.ftensor4)
ftensor5s: Final = _several(named.ftensor5)
ftensor6s: Final = _several(named.ftensor6)
ftensor7s: Final = _several(named.ftensor7)

dscalars: Final = _several(named.dscalar)
dvectors: Final = _several(named.dvector)
drows: Final = _several(named.drow)
dcols: Final = _several(named.dcol)
dmatrices: Final = _several(named.dmatrix)
dtensor3s: Final = _several(named.dtensor3)
dtensor4s: Final = _several(named.dtensor4)
dtensor5s: Final = _several(named.dtensor5)
dtensor6s: Final = _several(named.dtensor6)
dtensor7s: Final = _several(named.dtensor7)

cscalars: Final = _several(named.cscalar)
cvectors: Final = _several(named.cvector)
crows: Final = _several(named.crow)
ccols: Final = _several(named.ccol)
cmatrices: Final = _several(named.cmatrix)
ctensor3s: Final = _several(named.ctensor3)
ctensor4s: Final = _several(named.ctensor4)
ctensor5s: Final = _several(named.ctensor5)
ctensor6s: Final = _several(named.ctensor6)
ctensor7s: Final = _several(named.ctensor7)

zscalars: Final = _several(named.zscalar)
zvectors: Final = _several(named.zvector)
zrows: Final = _several(named.zrow)
zcols: Final = _several(named.zcol)
zmatrices: Final = _several(named.zmatrix)
ztensor3s: Final = _several(named.ztensor3)
ztensor4s: Final = _several(named.ztensor4)
ztensor5s: Final = _several(named.ztensor5)
ztensor6s: Final = _several(named.ztensor6)
ztensor7s: Final = _several(named.ztensor7)
