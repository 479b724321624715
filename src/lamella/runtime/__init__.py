"""The runtime layer: from graphs to callables. `function`, modes, linkers, shared variables."""

from lamella.runtime.c_linker import CLinker as CLinker
from lamella.runtime.compilation import function as function
from lamella.runtime.compiled_function import CompiledGraph as CompiledGraph
from lamella.runtime.compiled_function import Function as Function
from lamella.runtime.inputs import In as In
from lamella.runtime.inputs import Out as Out
from lamella.runtime.linking import Executable as Executable
from lamella.runtime.linking import Linker as Linker
from lamella.runtime.linking import PerformLinker as PerformLinker
from lamella.runtime.mode import FAST_COMPILE as FAST_COMPILE
from lamella.runtime.mode import FAST_RUN as FAST_RUN
from lamella.runtime.mode import Mode as Mode
from lamella.runtime.mode import get_mode as get_mode
from lamella.runtime.mode import predefined_modes as predefined_modes
from lamella.runtime.mode import register_mode as register_mode
from lamella.runtime.shared_values import shared as shared
