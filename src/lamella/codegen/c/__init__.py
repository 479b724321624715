"""The C target: from a scheduled graph to a loaded C library."""

from lamella.codegen.c import lowerings as lowerings
from lamella.codegen.c import scalar_expressions as scalar_expressions
from lamella.codegen.c.cache import CacheEntry as CacheEntry
from lamella.codegen.c.cache import CompiledCache as CompiledCache
from lamella.codegen.c.cache import check_cache as check_cache
from lamella.codegen.c.cache import clear_cache as clear_cache
from lamella.codegen.c.cache import list_cache as list_cache
from lamella.codegen.c.driver import Compiler as Compiler
from lamella.codegen.c.driver import compile_shared_object as compile_shared_object
from lamella.codegen.c.driver import find_compiler as find_compiler
from lamella.codegen.c.driver import optimising_flags as optimising_flags
from lamella.codegen.c.loading import Entry as Entry
from lamella.codegen.c.lowering import c_lowering as c_lowering
from lamella.codegen.c.module import CompiledModule as CompiledModule
from lamella.codegen.c.module import lower_to_c as lower_to_c
from lamella.codegen.c.program import CProgram as CProgram
from lamella.codegen.c.program import write_program as write_program
from lamella.codegen.c.scalar_body import ScalarBody as ScalarBody
from lamella.codegen.c.scalar_body import ScalarLoop as ScalarLoop
from lamella.codegen.c.scalar_body import c_expression as c_expression
from lamella.codegen.c.step import Array as Array
from lamella.codegen.c.step import Step as Step
