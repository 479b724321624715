"""Lamella: a symbolic tensor compiler in strict layers on an immutable, typed intermediate representation.

This module defines nothing: it hands on the public names of the layers.

    import lamella as lm
    import lamella.tensor as lt
"""

from lamella.config import Config as Config
from lamella.config import config as config
from lamella.ir import NO_VALUE as NO_VALUE
from lamella.ir import Apply as Apply
from lamella.ir import Constant as Constant
from lamella.ir import DisconnectedType as DisconnectedType
from lamella.ir import Feature as Feature
from lamella.ir import FunctionGraph as FunctionGraph
from lamella.ir import Lop as Lop
from lamella.ir import NullType as NullType
from lamella.ir import Op as Op
from lamella.ir import OutputStorage as OutputStorage
from lamella.ir import Rop as Rop
from lamella.ir import ScalarOp as ScalarOp
from lamella.ir import ScalarType as ScalarType
from lamella.ir import SharedVariable as SharedVariable
from lamella.ir import TensorType as TensorType
from lamella.ir import TensorVariable as TensorVariable
from lamella.ir import Type as Type
from lamella.ir import Variable as Variable
from lamella.ir import ancestors as ancestors
from lamella.ir import applys_between as applys_between
from lamella.ir import clone_replace as clone_replace
from lamella.ir import consider_constant as consider_constant
from lamella.ir import disconnected_grad as disconnected_grad
from lamella.ir import evaluate as evaluate
from lamella.ir import explicit_graph_inputs as explicit_graph_inputs
from lamella.ir import get_var_by_name as get_var_by_name
from lamella.ir import grad as grad
from lamella.ir import grad_clip as grad_clip
from lamella.ir import grad_not_implemented as grad_not_implemented
from lamella.ir import grad_scale as grad_scale
from lamella.ir import grad_undefined as grad_undefined
from lamella.ir import graph_inputs as graph_inputs
from lamella.ir import graph_replace as graph_replace
from lamella.ir import hessian as hessian
from lamella.ir import hessian_vector_product as hessian_vector_product
from lamella.ir import interned_nodes as interned_nodes
from lamella.ir import io_toposort as io_toposort
from lamella.ir import jacobian as jacobian
from lamella.ir import orphans_between as orphans_between
from lamella.ir import subgraph_grad as subgraph_grad
from lamella.ir import toposort as toposort
from lamella.ir import truncated_graph_inputs as truncated_graph_inputs
from lamella.ir import undefined_grad as undefined_grad
from lamella.ir import variable_depends_on as variable_depends_on
from lamella.ir import vars_between as vars_between
from lamella.ir import walk as walk
from lamella.ir import zero_grad as zero_grad
from lamella.runtime import FAST_COMPILE as FAST_COMPILE
from lamella.runtime import FAST_RUN as FAST_RUN
from lamella.runtime import CLinker as CLinker
from lamella.runtime import Function as Function
from lamella.runtime import In as In
from lamella.runtime import Mode as Mode
from lamella.runtime import Out as Out
from lamella.runtime import PerformLinker as PerformLinker
from lamella.runtime import function as function
from lamella.runtime import get_mode as get_mode
from lamella.runtime import register_mode as register_mode
from lamella.runtime import shared as shared
