"""How Ops become C, in files named after what they lower; and the table of it, which they have filled."""

from lamella.codegen.c.lowering import c_lowering as c_lowering
from lamella.codegen.c.lowerings import advanced_indexing as advanced_indexing
from lamella.codegen.c.lowerings import basic_indexing as basic_indexing
from lamella.codegen.c.lowerings import control as control
from lamella.codegen.c.lowerings import copying as copying
from lamella.codegen.c.lowerings import creation as creation
from lamella.codegen.c.lowerings import cumulative as cumulative
from lamella.codegen.c.lowerings import diagonals as diagonals
from lamella.codegen.c.lowerings import dimshuffle as dimshuffle
from lamella.codegen.c.lowerings import elementwise as elementwise
from lamella.codegen.c.lowerings import extreme_places as extreme_places
from lamella.codegen.c.lowerings import indexed_elementwise as indexed_elementwise
from lamella.codegen.c.lowerings import joining as joining
from lamella.codegen.c.lowerings import matrix_products as matrix_products
from lamella.codegen.c.lowerings import nonzero as nonzero
from lamella.codegen.c.lowerings import numbers as numbers
from lamella.codegen.c.lowerings import ranges as ranges
from lamella.codegen.c.lowerings import reduced_elementwise as reduced_elementwise
from lamella.codegen.c.lowerings import reduction as reduction
from lamella.codegen.c.lowerings import reshape as reshape
from lamella.codegen.c.lowerings import shape as shape
from lamella.codegen.c.lowerings import softmax as softmax
from lamella.codegen.c.lowerings import sorting as sorting
