"""Ops about running: choices of which only one branch is computed, checks, printing, graphs within graphs, recomputation."""

from lamella.ir.control import vectorization as vectorization
from lamella.ir.control.check_and_raise import Assert as Assert
from lamella.ir.control.check_and_raise import CheckAndRaise as CheckAndRaise
from lamella.ir.control.check_and_raise import assert_op as assert_op
from lamella.ir.control.check_and_raise import check_and_raise as check_and_raise
from lamella.ir.control.checkpoint import Checkpoint as Checkpoint
from lamella.ir.control.checkpoint import Recompute as Recompute
from lamella.ir.control.checkpoint import checkpoint as checkpoint
from lamella.ir.control.ifelse import IfElse as IfElse
from lamella.ir.control.ifelse import ifelse as ifelse
from lamella.ir.control.op_from_graph import OpFromGraph as OpFromGraph
from lamella.ir.control.print_op import Print as Print
from lamella.ir.control.print_op import print_attributes as print_attributes
