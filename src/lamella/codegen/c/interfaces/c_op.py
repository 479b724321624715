"""`COp`: an Op with C code of one's own."""

from __future__ import annotations

import inspect
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, ClassVar, Final, ParamSpec, final

from typing_extensions import TypeVar, override

from lamella.codegen.c.entry import Entry
from lamella.codegen.c.interfaces.linker_object import CLinkerOp
from lamella.codegen.c.interfaces.params import ParamsType, op_params
from lamella.codegen.c.module import lower_to_c
from lamella.config import config
from lamella.errors import CompilerNotFoundError, MethodNotDefined
from lamella.ir import Apply, FunctionGraph, Op, OutputStorage, Type, Variable
from lamella.typing_layer import schedule

__all__ = ["COp"]

# self, node, inputs, output_storage
_PARAMETERS_OF_PERFORM: Final = 4

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True, default=Any)


class COp(Op[P, R_co], CLinkerOp):
    """An Op with C code: a subclass writes `make_node` and `c_code`, and best also `perform`.

    In a compiled function the code becomes a part of the function's own C. Where `c_code` raises `MethodNotDefined` or `NotImplementedError`, `perform`
    computes the node. Without a `perform`, the reference interpreter compiles the code of each node by itself.

    Attributes
    ----------
    params_type
        The Type of the params, for an Op that has some. Then `perform` may take a fourth argument ``params``.
    """

    __slots__ = ()

    params_type: ClassVar[Type[Any] | None] = None

    @override
    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Let `perform` have its params, where it takes them."""
        super().__init_subclass__(**kwargs)
        own = vars(cls).get("perform")
        if own is not None and len(inspect.signature(own).parameters) > _PARAMETERS_OF_PERFORM:
            cls.perform = _given_params(own)  # type: ignore[method-assign]  # the same method, with its last argument filled in

    def get_params(self, node: Apply[Any]) -> Any:
        """Return the params of an application: what its C code is given when a function is linked.

        By default, the members of a `ParamsType` are attributes of the Op.

        Raises
        ------
        MethodNotDefined
            The Op has a `params_type` that is no `ParamsType`, and does not override this method.
        """
        if isinstance(self.params_type, ParamsType):
            return self.params_type.get_params(self)
        raise MethodNotDefined(f"{type(self).__name__}.get_params")

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        """Compute the outputs with the C code, compiled for this node alone.

        Raises
        ------
        NotImplementedError
            There is no C code for this node either.
        """
        for cell, value in zip(output_storage, _compiled.get(node)(inputs), strict=True):
            cell[0] = value

    @property
    @override
    def makes_own_thunk(self) -> bool:
        return type(self).make_thunk is not COp.make_thunk

    @override
    def make_thunk(
        self,
        node: Apply[Any],
        storage_map: Mapping[Variable[Any], list[Any]],
        compute_map: Mapping[Variable[Any], list[bool]],
        no_recycling: Sequence[Variable[Any]] = (),
        impl: str | None = None,
    ) -> Callable[[], None]:
        """Return what computes a node, by its C code or by `perform`.

        Parameters
        ----------
        node, storage_map, compute_map, no_recycling
            As for `Op.make_thunk`.
        impl
            ``"c"`` for the C code, ``"py"`` for `perform`; None for the first of the two that there is.

        Raises
        ------
        NotImplementedError
            C is asked for, and there is none.
        CompileError
            C is asked for, or there is some, and it does not compile.
        ValueError
            `impl` is none of these.
        """
        if impl not in (None, "c", "py"):
            raise ValueError(f"impl is 'c', 'py' or None, not {impl!r}")
        if impl != "py":
            try:
                run = _compile_alone(node)
            except (NotImplementedError, CompilerNotFoundError):
                if impl == "c":
                    raise
            else:
                return _thunk(node, run, storage_map, compute_map)
        return super().make_thunk(node, storage_map, compute_map, no_recycling, impl)


def _given_params(perform: Callable[..., None]) -> Callable[..., None]:
    if hasattr(perform, "_takes_params"):  # attrs makes a class with slots a second time
        return perform

    @wraps(perform)
    def with_params(
        self: Any, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage, *given: Any
    ) -> None:
        params = given or (op_params(self, node),)
        perform(self, node, inputs, output_storage, *params)

    with_params._takes_params = True  # type: ignore[attr-defined]  # a mark of our own
    return with_params


def _thunk(
    node: Apply[Any],
    run: Entry,
    storage_map: Mapping[Variable[Any], list[Any]],
    compute_map: Mapping[Variable[Any], list[bool]],
) -> Callable[[], None]:
    inputs = [storage_map[variable] for variable in node.inputs]
    outputs = [storage_map[variable] for variable in node.outputs]

    def thunk() -> None:
        for cell, value in zip(outputs, run([cell[0] for cell in inputs]), strict=True):
            cell[0] = value
        for variable in node.outputs:
            compute_map[variable][0] = True

    return thunk


def _compile_alone(node: Apply[Any]) -> Entry:
    """Return the C function of one node; its inputs are those of the node, one by one.

    Raises
    ------
    MethodNotDefined
        The Op has no C code for this node.
    """
    # An input that is a constant, or that is there twice, is an input of the function all the same.
    inputs = [variable.type() for variable in node.inputs]
    alone = Apply(node.op, inputs, [variable.type for variable in node.outputs])
    compiled = lower_to_c(schedule(FunctionGraph(inputs, alone.outputs)))
    if compiled.program.build is None:
        raise MethodNotDefined(f"{node.op} has no C code for {node!r}, and no perform")
    return compiled.executable()


@final
class _CompiledNodes:
    """The C functions that the interpreter has compiled, for as long as their nodes live."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._entries: weakref.WeakKeyDictionary[Apply[Any], tuple[object, Entry]] = weakref.WeakKeyDictionary()

    def get(self, node: Apply[Any]) -> Entry:
        """Return the C function of a node, under the configuration in force."""
        flags = (config.compiler, config.compiler_flags, config.c_debug, config.openmp, config.cache_dir)
        with self._guard:
            known = self._entries.get(node)
        if known is not None and known[0] == flags:
            return known[1]
        made = _compile_alone(node)
        with self._guard:
            self._entries[node] = flags, made
        return made


_compiled: Final = _CompiledNodes()
