"""Printing: trees, mathematical notation and the stable textual form of a graph."""

from lamella.ir.printing.dprint import IdType as IdType
from lamella.ir.printing.dprint import char_from_number as char_from_number
from lamella.ir.printing.dprint import dprint as dprint
from lamella.ir.printing.notation import Notation as Notation
from lamella.ir.printing.notation import Operand as Operand
from lamella.ir.printing.notation import Precedence as Precedence
from lamella.ir.printing.notation import Writer as Writer
from lamella.ir.printing.notation import notation as notation
from lamella.ir.printing.pprint import pp as pp
from lamella.ir.printing.pprint import pprint as pprint
from lamella.ir.printing.subjects import GraphLike as GraphLike
from lamella.ir.printing.subjects import HasFunctionGraph as HasFunctionGraph
from lamella.ir.printing.to_text import to_text as to_text
