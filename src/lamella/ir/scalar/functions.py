"""The scalar Ops, by name."""

from lamella.ir.scalar.arithmetic import add as add
from lamella.ir.scalar.arithmetic import mul as mul
from lamella.ir.scalar.arithmetic import neg as neg
from lamella.ir.scalar.arithmetic import sub as sub
from lamella.ir.scalar.arithmetic import true_divide as true_divide
from lamella.ir.scalar.exponential import exp as exp
