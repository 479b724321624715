"""The C target: from a scheduled graph to a loaded C library."""

from typing import TYPE_CHECKING

from lamella.lazy_faces import lazy_names

if TYPE_CHECKING:
    from lamella.codegen.c.cache import CacheEntry as CacheEntry
    from lamella.codegen.c.cache import CompiledCache as CompiledCache
    from lamella.codegen.c.cache import check_cache as check_cache
    from lamella.codegen.c.cache import clear_cache as clear_cache
    from lamella.codegen.c.cache import list_cache as list_cache
    from lamella.codegen.c.demand import only_choices_are_lazy as only_choices_are_lazy
    from lamella.codegen.c.diagnosis import Finding as Finding
    from lamella.codegen.c.diagnosis import FindingState as FindingState
    from lamella.codegen.c.diagnosis import diagnose as diagnose
    from lamella.codegen.c.driver import Compiler as Compiler
    from lamella.codegen.c.driver import compile_shared_object as compile_shared_object
    from lamella.codegen.c.driver import find_compiler as find_compiler
    from lamella.codegen.c.driver import optimising_flags as optimising_flags
    from lamella.codegen.c.entry import ArgumentRule as ArgumentRule
    from lamella.codegen.c.entry import Entry as Entry
    from lamella.codegen.c.export.example import example_values as example_values
    from lamella.codegen.c.export.interface import ExportedInput as ExportedInput
    from lamella.codegen.c.export.interface import ExportInterface as ExportInterface
    from lamella.codegen.c.export.interface import SharedState as SharedState
    from lamella.codegen.c.export.interface import distinct_identifiers as distinct_identifiers
    from lamella.codegen.c.export.library import write_c_library as write_c_library
    from lamella.codegen.c.graph_records import recall as recall
    from lamella.codegen.c.interfaces.c_data_type import CDataType as CDataType
    from lamella.codegen.c.interfaces.c_op import COp as COp
    from lamella.codegen.c.interfaces.c_scalar_op import CScalarOp as CScalarOp
    from lamella.codegen.c.interfaces.c_sides import c_type as c_type
    from lamella.codegen.c.interfaces.c_sides import dtype_specs as dtype_specs
    from lamella.codegen.c.interfaces.cffi_array_op import CffiArrayOp as CffiArrayOp
    from lamella.codegen.c.interfaces.cffi_op import cffi_op as cffi_op
    from lamella.codegen.c.interfaces.cffi_scalar_op import CffiScalarOp as CffiScalarOp
    from lamella.codegen.c.interfaces.cffi_scalar_op import SlopeFunction as SlopeFunction
    from lamella.codegen.c.interfaces.core_ops import register_deep_copy_op_c_code as register_deep_copy_op_c_code
    from lamella.codegen.c.interfaces.core_ops import register_shape_c_code as register_shape_c_code
    from lamella.codegen.c.interfaces.core_ops import register_shape_i_c_code as register_shape_i_c_code
    from lamella.codegen.c.interfaces.core_ops import register_view_op_c_code as register_view_op_c_code
    from lamella.codegen.c.interfaces.enums import CEnumType as CEnumType
    from lamella.codegen.c.interfaces.enums import EnumList as EnumList
    from lamella.codegen.c.interfaces.enums import EnumType as EnumType
    from lamella.codegen.c.interfaces.external_c_op import ExternalCOp as ExternalCOp
    from lamella.codegen.c.interfaces.linker_object import CLinkerObject as CLinkerObject
    from lamella.codegen.c.interfaces.linker_object import CLinkerOp as CLinkerOp
    from lamella.codegen.c.interfaces.linker_object import CLinkerType as CLinkerType
    from lamella.codegen.c.interfaces.openmp_op import OpenMPOp as OpenMPOp
    from lamella.codegen.c.interfaces.params import Params as Params
    from lamella.codegen.c.interfaces.params import ParamsType as ParamsType
    from lamella.codegen.c.interfaces.params import Wrapper as Wrapper
    from lamella.codegen.c.lowerings import c_lowering as c_lowering
    from lamella.codegen.c.machine import machine_state as machine_state
    from lamella.codegen.c.module import CompiledModule as CompiledModule
    from lamella.codegen.c.module import lower_to_c as lower_to_c
    from lamella.codegen.c.module import unit_of as unit_of
    from lamella.codegen.c.ownership import own_ops as own_ops
    from lamella.codegen.c.program import CProgram as CProgram
    from lamella.codegen.c.program import write_program as write_program
    from lamella.codegen.c.scalar_body import ScalarBody as ScalarBody
    from lamella.codegen.c.scalar_body import ScalarLoop as ScalarLoop
    from lamella.codegen.c.scalar_expressions import c_expression as c_expression
    from lamella.codegen.c.step import Array as Array
    from lamella.codegen.c.step import Step as Step
else:
    __getattr__, __dir__ = lazy_names(__name__)
