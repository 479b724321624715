"""The code generators: from a ScheduledGraph to a compiled module, one folder per target."""

from typing import TYPE_CHECKING

from lamella.lazy_faces import lazy_names

if TYPE_CHECKING:
    from lamella.codegen.c import ArgumentRule as ArgumentRule
    from lamella.codegen.c import Array as Array
    from lamella.codegen.c import CacheEntry as CacheEntry
    from lamella.codegen.c import CDataType as CDataType
    from lamella.codegen.c import CEnumType as CEnumType
    from lamella.codegen.c import CffiArrayOp as CffiArrayOp
    from lamella.codegen.c import CffiScalarOp as CffiScalarOp
    from lamella.codegen.c import CLinkerObject as CLinkerObject
    from lamella.codegen.c import CLinkerOp as CLinkerOp
    from lamella.codegen.c import CLinkerType as CLinkerType
    from lamella.codegen.c import CompiledCache as CompiledCache
    from lamella.codegen.c import CompiledModule as CompiledModule
    from lamella.codegen.c import Compiler as Compiler
    from lamella.codegen.c import COp as COp
    from lamella.codegen.c import CProgram as CProgram
    from lamella.codegen.c import CScalarOp as CScalarOp
    from lamella.codegen.c import Entry as Entry
    from lamella.codegen.c import EnumList as EnumList
    from lamella.codegen.c import EnumType as EnumType
    from lamella.codegen.c import ExportedInput as ExportedInput
    from lamella.codegen.c import ExportInterface as ExportInterface
    from lamella.codegen.c import ExternalCOp as ExternalCOp
    from lamella.codegen.c import Finding as Finding
    from lamella.codegen.c import FindingState as FindingState
    from lamella.codegen.c import OpenMPOp as OpenMPOp
    from lamella.codegen.c import Params as Params
    from lamella.codegen.c import ParamsType as ParamsType
    from lamella.codegen.c import ScalarBody as ScalarBody
    from lamella.codegen.c import ScalarLoop as ScalarLoop
    from lamella.codegen.c import SharedState as SharedState
    from lamella.codegen.c import SlopeFunction as SlopeFunction
    from lamella.codegen.c import Step as Step
    from lamella.codegen.c import Wrapper as Wrapper
    from lamella.codegen.c import c_expression as c_expression
    from lamella.codegen.c import c_lowering as c_lowering
    from lamella.codegen.c import c_type as c_type
    from lamella.codegen.c import cffi_op as cffi_op
    from lamella.codegen.c import check_cache as check_cache
    from lamella.codegen.c import clear_cache as clear_cache
    from lamella.codegen.c import compile_shared_object as compile_shared_object
    from lamella.codegen.c import diagnose as diagnose
    from lamella.codegen.c import distinct_identifiers as distinct_identifiers
    from lamella.codegen.c import dtype_specs as dtype_specs
    from lamella.codegen.c import example_values as example_values
    from lamella.codegen.c import find_compiler as find_compiler
    from lamella.codegen.c import list_cache as list_cache
    from lamella.codegen.c import lower_to_c as lower_to_c
    from lamella.codegen.c import machine_state as machine_state
    from lamella.codegen.c import only_choices_are_lazy as only_choices_are_lazy
    from lamella.codegen.c import optimising_flags as optimising_flags
    from lamella.codegen.c import own_ops as own_ops
    from lamella.codegen.c import recall as recall
    from lamella.codegen.c import register_deep_copy_op_c_code as register_deep_copy_op_c_code
    from lamella.codegen.c import register_shape_c_code as register_shape_c_code
    from lamella.codegen.c import register_shape_i_c_code as register_shape_i_c_code
    from lamella.codegen.c import register_view_op_c_code as register_view_op_c_code
    from lamella.codegen.c import unit_of as unit_of
    from lamella.codegen.c import write_c_library as write_c_library
    from lamella.codegen.c import write_program as write_program
else:
    __getattr__, __dir__ = lazy_names(__name__)
