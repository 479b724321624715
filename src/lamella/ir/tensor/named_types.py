"""Tensor Types by name: ``dmatrix`` is that of float64 matrices. Calling a Type makes a variable: ``dmatrix("x")``.

The first letter is the dtype: ``b w i l`` for int8, int16, int32, int64, ``f d`` for float32, float64, ``c z`` for complex64, complex128.
"""

from __future__ import annotations

from typing import Final

from lamella.ir.tensor.type import TensorType

__all__ = [
    "bcol",
    "bmatrix",
    "brow",
    "bscalar",
    "btensor3",
    "btensor4",
    "btensor5",
    "btensor6",
    "btensor7",
    "bvector",
    "ccol",
    "cmatrix",
    "crow",
    "cscalar",
    "ctensor3",
    "ctensor4",
    "ctensor5",
    "ctensor6",
    "ctensor7",
    "cvector",
    "dcol",
    "dmatrix",
    "drow",
    "dscalar",
    "dtensor3",
    "dtensor4",
    "dtensor5",
    "dtensor6",
    "dtensor7",
    "dvector",
    "fcol",
    "fmatrix",
    "frow",
    "fscalar",
    "ftensor3",
    "ftensor4",
    "ftensor5",
    "ftensor6",
    "ftensor7",
    "fvector",
    "icol",
    "imatrix",
    "irow",
    "iscalar",
    "itensor3",
    "itensor4",
    "itensor5",
    "itensor6",
    "itensor7",
    "ivector",
    "lcol",
    "lmatrix",
    "lrow",
    "lscalar",
    "ltensor3",
    "ltensor4",
    "ltensor5",
    "ltensor6",
    "ltensor7",
    "lvector",
    "wcol",
    "wmatrix",
    "wrow",
    "wscalar",
    "wtensor3",
    "wtensor4",
    "wtensor5",
    "wtensor6",
    "wtensor7",
    "wvector",
    "zcol",
    "zmatrix",
    "zrow",
    "zscalar",
    "ztensor3",
    "ztensor4",
    "ztensor5",
    "ztensor6",
    "ztensor7",
    "zvector",
]

bscalar: Final = TensorType("int8", ())
bvector: Final = TensorType("int8", (None,))
brow: Final = TensorType("int8", (1, None))
bcol: Final = TensorType("int8", (None, 1))
bmatrix: Final = TensorType("int8", (None, None))
btensor3: Final = TensorType("int8", (None, None, None))
btensor4: Final = TensorType("int8", (None, None, None, None))
btensor5: Final = TensorType("int8", (None, None, None, None, None))
btensor6: Final = TensorType("int8", (None, None, None, None, None, None))
btensor7: Final = TensorType("int8", (None, None, None, None, None, None, None))

wscalar: Final = TensorType("int16", ())
wvector: Final = TensorType("int16", (None,))
wrow: Final = TensorType("int16", (1, None))
wcol: Final = TensorType("int16", (None, 1))
wmatrix: Final = TensorType("int16", (None, None))
wtensor3: Final = TensorType("int16", (None, None, None))
wtensor4: Final = TensorType("int16", (None, None, None, None))
wtensor5: Final = TensorType("int16", (None, None, None, None, None))
wtensor6: Final = TensorType("int16", (None, None, None, None, None, None))
wtensor7: Final = TensorType("int16", (None, None, None, None, None, None, None))

iscalar: Final = TensorType("int32", ())
ivector: Final = TensorType("int32", (None,))
irow: Final = TensorType("int32", (1, None))
icol: Final = TensorType("int32", (None, 1))
imatrix: Final = TensorType("int32", (None, None))
itensor3: Final = TensorType("int32", (None, None, None))
itensor4: Final = TensorType("int32", (None, None, None, None))
itensor5: Final = TensorType("int32", (None, None, None, None, None))
itensor6: Final = TensorType("int32", (None, None, None, None, None, None))
itensor7: Final = TensorType("int32", (None, None, None, None, None, None, None))

lscalar: Final = TensorType("int64", ())
lvector: Final = TensorType("int64", (None,))
lrow: Final = TensorType("int64", (1, None))
lcol: Final = TensorType("int64", (None, 1))
lmatrix: Final = TensorType("int64", (None, None))
ltensor3: Final = TensorType("int64", (None, None, None))
ltensor4: Final = TensorType("int64", (None, None, None, None))
ltensor5: Final = TensorType("int64", (None, None, None, None, None))
ltensor6: Final = TensorType("int64", (None, None, None, None, None, None))
ltensor7: Final = TensorType("int64", (None, None, None, None, None, None, None))

fscalar: Final = TensorType("float32", ())
fvector: Final = TensorType("float32", (None,))
frow: Final = TensorType("float32", (1, None))
fcol: Final = TensorType("float32", (None, 1))
fmatrix: Final = TensorType("float32", (None, None))
ftensor3: Final = TensorType("float32", (None, None, None))
ftensor4: Final = TensorType("float32", (None, None, None, None))
ftensor5: Final = TensorType("float32", (None, None, None, None, None))
ftensor6: Final = TensorType("float32", (None, None, None, None, None, None))
ftensor7: Final = TensorType("float32", (None, None, None, None, None, None, None))

dscalar: Final = TensorType("float64", ())
dvector: Final = TensorType("float64", (None,))
drow: Final = TensorType("float64", (1, None))
dcol: Final = TensorType("float64", (None, 1))
dmatrix: Final = TensorType("float64", (None, None))
dtensor3: Final = TensorType("float64", (None, None, None))
dtensor4: Final = TensorType("float64", (None, None, None, None))
dtensor5: Final = TensorType("float64", (None, None, None, None, None))
dtensor6: Final = TensorType("float64", (None, None, None, None, None, None))
dtensor7: Final = TensorType("float64", (None, None, None, None, None, None, None))

cscalar: Final = TensorType("complex64", ())
cvector: Final = TensorType("complex64", (None,))
crow: Final = TensorType("complex64", (1, None))
ccol: Final = TensorType("complex64", (None, 1))
cmatrix: Final = TensorType("complex64", (None, None))
ctensor3: Final = TensorType("complex64", (None, None, None))
ctensor4: Final = TensorType("complex64", (None, None, None, None))
ctensor5: Final = TensorType("complex64", (None, None, None, None, None))
ctensor6: Final = TensorType("complex64", (None, None, None, None, None, None))
ctensor7: Final = TensorType("complex64", (None, None, None, None, None, None, None))

zscalar: Final = TensorType("complex128", ())
zvector: Final = TensorType("complex128", (None,))
zrow: Final = TensorType("complex128", (1, None))
zcol: Final = TensorType("complex128", (None, 1))
zmatrix: Final = TensorType("complex128", (None, None))
ztensor3: Final = TensorType("complex128", (None, None, None))
ztensor4: Final = TensorType("complex128", (None, None, None, None))
ztensor5: Final = TensorType("complex128", (None, None, None, None, None))
ztensor6: Final = TensorType("complex128", (None, None, None, None, None, None))
ztensor7: Final = TensorType("complex128", (None, None, None, None, None, None, None))
