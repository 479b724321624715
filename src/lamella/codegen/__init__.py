"""The code generators: from a ScheduledGraph to a compiled module, one folder per target."""

from lamella.codegen.c import Array as Array
from lamella.codegen.c import CacheEntry as CacheEntry
from lamella.codegen.c import CompiledCache as CompiledCache
from lamella.codegen.c import CompiledModule as CompiledModule
from lamella.codegen.c import Compiler as Compiler
from lamella.codegen.c import CProgram as CProgram
from lamella.codegen.c import Entry as Entry
from lamella.codegen.c import ScalarBody as ScalarBody
from lamella.codegen.c import ScalarLoop as ScalarLoop
from lamella.codegen.c import Step as Step
from lamella.codegen.c import c_expression as c_expression
from lamella.codegen.c import c_lowering as c_lowering
from lamella.codegen.c import check_cache as check_cache
from lamella.codegen.c import clear_cache as clear_cache
from lamella.codegen.c import compile_shared_object as compile_shared_object
from lamella.codegen.c import find_compiler as find_compiler
from lamella.codegen.c import list_cache as list_cache
from lamella.codegen.c import lower_to_c as lower_to_c
from lamella.codegen.c import optimising_flags as optimising_flags
from lamella.codegen.c import write_program as write_program
