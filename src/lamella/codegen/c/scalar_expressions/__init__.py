"""How scalar Ops become C expressions, in files named after what they compute; and the table of it, which they have filled."""

from lamella.codegen.c.scalar_body import c_expression as c_expression
from lamella.codegen.c.scalar_expressions import arithmetic as arithmetic
from lamella.codegen.c.scalar_expressions import comparison as comparison
from lamella.codegen.c.scalar_expressions import logic as logic
from lamella.codegen.c.scalar_expressions import maths as maths
from lamella.codegen.c.scalar_expressions import selection as selection
