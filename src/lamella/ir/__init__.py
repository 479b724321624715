"""The intermediate representation: immutable graphs of typed operations and what they mean.

Types, Variables, Apply nodes, Ops and FunctionGraphs; the concrete Types and Ops with their NumPy
meaning; differentiation; printing; and the reference interpreter that every backend is compared with.
"""

from lamella.ir.graph import NO_VALUE as NO_VALUE
from lamella.ir.graph import Apply as Apply
from lamella.ir.graph import Client as Client
from lamella.ir.graph import Constant as Constant
from lamella.ir.graph import DisconnectedType as DisconnectedType
from lamella.ir.graph import Feature as Feature
from lamella.ir.graph import FunctionGraph as FunctionGraph
from lamella.ir.graph import NullType as NullType
from lamella.ir.graph import Op as Op
from lamella.ir.graph import Origin as Origin
from lamella.ir.graph import OutputStorage as OutputStorage
from lamella.ir.graph import SharedVariable as SharedVariable
from lamella.ir.graph import StorageCell as StorageCell
from lamella.ir.graph import Type as Type
from lamella.ir.graph import Variable as Variable
from lamella.ir.graph import ancestors as ancestors
from lamella.ir.graph import annotate_error as annotate_error
from lamella.ir.graph import applys_between as applys_between
from lamella.ir.graph import clone_replace as clone_replace
from lamella.ir.graph import describe_node as describe_node
from lamella.ir.graph import evaluate as evaluate
from lamella.ir.graph import explicit_graph_inputs as explicit_graph_inputs
from lamella.ir.graph import get_var_by_name as get_var_by_name
from lamella.ir.graph import graph_inputs as graph_inputs
from lamella.ir.graph import graph_replace as graph_replace
from lamella.ir.graph import interned_nodes as interned_nodes
from lamella.ir.graph import interpret as interpret
from lamella.ir.graph import io_toposort as io_toposort
from lamella.ir.graph import orphans_between as orphans_between
from lamella.ir.graph import perform_node as perform_node
from lamella.ir.graph import rebuild_node as rebuild_node
from lamella.ir.graph import substitute as substitute
from lamella.ir.graph import toposort as toposort
from lamella.ir.graph import truncated_graph_inputs as truncated_graph_inputs
from lamella.ir.graph import variable_depends_on as variable_depends_on
from lamella.ir.graph import vars_between as vars_between
from lamella.ir.graph import walk as walk
