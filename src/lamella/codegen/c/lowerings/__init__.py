"""How Ops become C, in files named after what they lower."""

from lamella.codegen.c.lowerings import dimshuffle as dimshuffle
from lamella.codegen.c.lowerings import elementwise as elementwise
