"""Lamella: a symbolic tensor compiler in strict layers on an immutable, typed intermediate representation.

This module defines nothing: it hands on the public names of the layers.

    import lamella as lm
    import lamella.tensor as lt

Names of layers above ``ir`` stand in ``lamella.compiling``, which is loaded when one of them is first asked for: see
docs/decisions/0005-lazy-face.md.
"""

from typing import TYPE_CHECKING

from lamella.config import Config as Config
from lamella.config import config as config
from lamella.ir import NO_VALUE as NO_VALUE
from lamella.ir import Apply as Apply
from lamella.ir import Assert as Assert
from lamella.ir import Blockwise as Blockwise
from lamella.ir import CheckAndRaise as CheckAndRaise
from lamella.ir import Composite as Composite
from lamella.ir import Constant as Constant
from lamella.ir import DeepCopyOp as DeepCopyOp
from lamella.ir import DisconnectedType as DisconnectedType
from lamella.ir import Feature as Feature
from lamella.ir import FunctionGraph as FunctionGraph
from lamella.ir import Generic as Generic
from lamella.ir import IfElse as IfElse
from lamella.ir import Lop as Lop
from lamella.ir import NoneConst as NoneConst
from lamella.ir import NoneTypeT as NoneTypeT
from lamella.ir import Notation as Notation
from lamella.ir import NullType as NullType
from lamella.ir import Op as Op
from lamella.ir import Operand as Operand
from lamella.ir import OpFromGraph as OpFromGraph
from lamella.ir import Origin as Origin
from lamella.ir import OutputStorage as OutputStorage
from lamella.ir import Precedence as Precedence
from lamella.ir import Print as Print
from lamella.ir import Rop as Rop
from lamella.ir import ScalarOp as ScalarOp
from lamella.ir import ScalarType as ScalarType
from lamella.ir import ScalarVariable as ScalarVariable
from lamella.ir import SharedVariable as SharedVariable
from lamella.ir import SliceType as SliceType
from lamella.ir import TensorType as TensorType
from lamella.ir import TensorVariable as TensorVariable
from lamella.ir import Type as Type
from lamella.ir import Variable as Variable
from lamella.ir import ViewOp as ViewOp
from lamella.ir import accumulate_cotangents as accumulate_cotangents
from lamella.ir import ancestors as ancestors
from lamella.ir import annotate_error as annotate_error
from lamella.ir import applys_between as applys_between
from lamella.ir import as_op as as_op
from lamella.ir import assert_op as assert_op
from lamella.ir import check_and_raise as check_and_raise
from lamella.ir import checkpoint as checkpoint
from lamella.ir import clone_replace as clone_replace
from lamella.ir import consider_constant as consider_constant
from lamella.ir import deep_copy_op as deep_copy_op
from lamella.ir import disconnected_grad as disconnected_grad
from lamella.ir import dprint as dprint
from lamella.ir import equal_computations as equal_computations
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
from lamella.ir import ifelse as ifelse
from lamella.ir import interned_nodes as interned_nodes
from lamella.ir import interpret as interpret
from lamella.ir import io_toposort as io_toposort
from lamella.ir import jacobian as jacobian
from lamella.ir import none_type_t as none_type_t
from lamella.ir import notation as notation
from lamella.ir import orphans_between as orphans_between
from lamella.ir import pp as pp
from lamella.ir import pprint as pprint
from lamella.ir import rebuild_node as rebuild_node
from lamella.ir import subgraph_grad as subgraph_grad
from lamella.ir import substitute as substitute
from lamella.ir import to_text as to_text
from lamella.ir import toposort as toposort
from lamella.ir import truncated_graph_inputs as truncated_graph_inputs
from lamella.ir import undefined_grad as undefined_grad
from lamella.ir import variable_depends_on as variable_depends_on
from lamella.ir import vars_between as vars_between
from lamella.ir import vectorize_graph as vectorize_graph
from lamella.ir import vectorize_node as vectorize_node
from lamella.ir import view_op as view_op
from lamella.ir import walk as walk
from lamella.ir import wrap_py as wrap_py
from lamella.ir import zero_grad as zero_grad

if TYPE_CHECKING:
    from lamella.compiling import *  # noqa: F403 -- exactly the names that it hands on
else:

    def _load_all():
        from lamella.ir import collecting_rarely  # which is no name of this module

        with collecting_rarely():
            import lamella.compiling  # not at the top, so that it is loaded when first needed

        globals().update({name: value for name, value in vars(lamella.compiling).items() if not name.startswith("_")})

    def __getattr__(name):
        _load_all()
        try:
            return globals()[name]
        except KeyError:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None

    def __dir__():
        _load_all()
        return sorted(globals())
