"""The runtime layer: from graphs to callables. `function`, modes, linkers, shared variables."""

from typing import TYPE_CHECKING

from lamella.lazy_faces import lazy_names

if TYPE_CHECKING:
    from lamella.runtime.c_linker import CLinker as CLinker
    from lamella.runtime.c_linker import OpWiseCLinker as OpWiseCLinker
    from lamella.runtime.compilation import function as function
    from lamella.runtime.compile_profile import CompileProfile as CompileProfile
    from lamella.runtime.compiled_function import CompiledGraph as CompiledGraph
    from lamella.runtime.compiled_function import Function as Function
    from lamella.runtime.debug_mode import DebugMode as DebugMode
    from lamella.runtime.inputs import In as In
    from lamella.runtime.inputs import Out as Out
    from lamella.runtime.linking import Executable as Executable
    from lamella.runtime.linking import Linker as Linker
    from lamella.runtime.linking import PerformLinker as PerformLinker
    from lamella.runtime.linking import PerNodeLinker as PerNodeLinker
    from lamella.runtime.memory import MemoryUse as MemoryUse
    from lamella.runtime.memory import memory_use as memory_use
    from lamella.runtime.mode import FAST_COMPILE as FAST_COMPILE
    from lamella.runtime.mode import FAST_RUN as FAST_RUN
    from lamella.runtime.mode import Mode as Mode
    from lamella.runtime.mode_registry import get_mode as get_mode
    from lamella.runtime.mode_registry import predefined_modes as predefined_modes
    from lamella.runtime.mode_registry import register_mode as register_mode
    from lamella.runtime.monitor_mode import Monitor as Monitor
    from lamella.runtime.monitor_mode import MonitorMode as MonitorMode
    from lamella.runtime.monitor_mode import detect_nan as detect_nan
    from lamella.runtime.nan_guard import NanGuardMode as NanGuardMode
    from lamella.runtime.profile import FunctionProfile as FunctionProfile
    from lamella.runtime.profile import NodeProfile as NodeProfile
    from lamella.runtime.profile import OpProfile as OpProfile
    from lamella.runtime.shared_values import shared as shared
    from lamella.runtime.vm_linker import VMCallback as VMCallback
    from lamella.runtime.vm_linker import VMLinker as VMLinker
    from lamella.runtime.wrap_linker import NodeThunk as NodeThunk
    from lamella.runtime.wrap_linker import WrapLinker as WrapLinker
    from lamella.runtime.wrap_linker import WrapLinkerMany as WrapLinkerMany
    from lamella.runtime.wrap_linker import Wrapper as Wrapper
else:
    __getattr__, __dir__ = lazy_names(__name__)
