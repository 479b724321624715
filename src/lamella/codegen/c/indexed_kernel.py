"""Kernels of loops over elements at an index: read from tables, computed, reduced, and added to tables, in one pass.

    for (; i + 16 <= n; i += 16) {
        double g0[16], o0[16], o1[16];
        bad |= p0[i + j] is no place      the loop ends there; the host looks at the index
        g0[j] = t0[p0[i + j]]             what is read from a table
        element(o0 + j, o1 + j, g0[j])    results: here, or in an array
        a0[j] += o0[j]                    what is reduced
        s0[p0[i + j]] += o1[j]            what is added to a table: in order, so without vectors; in a register, where most go where others just went
    }

All but the last are statements for 16 elements each, which become vector code. Nothing is written to memory and read again but what stays in
the nearest cache; and while elements are added, those that follow are computed. Negative indices are no places: the host makes
places of them, of some hundred elements at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

import attrs

from lamella.codegen.c.dtypes import C_DTYPES, CDType, literal
from lamella.codegen.c.elementwise_kernel import Operand, add_element, computed_elements
from lamella.codegen.c.reduction_kernel import Reduction, add_combination
from lamella.codegen.c.unit import KERNEL_NAME, Unit
from lamella.errors import LoweringError
from lamella.ir import Add, ScalarOp

__all__ = ["Gather", "Scatter", "add_indexed_pass"]

_BYTES_OF_LANES: Final = 128
"""Of the largest of the elements that are computed side by side: two of the widest vectors."""

_BLOCKS_IN_A_RUN: Final = 16
"""Blocks of lanes that are added up before their total is added to that of others, so that the error of a sum grows slowly."""


@final
@attrs.frozen
class Gather:
    """An operand that is read from a table: what it is, and by which of the sets of places."""

    operand: Operand
    places: int


@final
@attrs.frozen
class Scatter:
    """A result that is added to a table: which one, and by which of the sets of places."""

    result: int
    places: int


@final
@attrs.frozen
class _Names:
    """A loop's operands: in the order in which they stand in its array of addresses."""

    whole: tuple[int, ...]
    reductions: tuple[tuple[int, Reduction], ...]
    scatters: tuple[Scatter, ...]
    gathers: tuple[tuple[str, Gather], ...]
    read: tuple[tuple[str, Operand], ...]
    n_places: int

    @property
    def first_scatter(self) -> int:
        return len(self.whole) + len(self.reductions)

    @property
    def first_gather(self) -> int:
        return self.first_scatter + len(self.scatters)

    @property
    def first_read(self) -> int:
        return self.first_gather + len(self.gathers)

    @property
    def first_places(self) -> int:
        return self.first_read + len(self.read)


def add_indexed_pass(
    unit: Unit,
    op: ScalarOp[Any],
    operands: Sequence[Operand | Gather],
    dtypes: Sequence[str],
    whole: Sequence[int],
    reductions: Sequence[tuple[int, Reduction]],
    scatters: Sequence[Scatter],
    places: Sequence[int],
) -> str:
    """Add a loop over elements at an index, an ``lm_indexed_pass``, to a unit, and return its name.

    Its operands are the results that are handed out as they are, the results of reductions, what is added to, the tables that are read,
    what is read otherwise, and the index vectors.

    Parameters
    ----------
    unit
        The unit.
    op
        The function of numbers.
    operands
        Its operands.
    dtypes
        The dtypes of its results.
    whole
        The results that are handed out as they are.
    reductions
        Results and how they are reduced. All have an identity.
    scatters
        What is added to tables.
    places
        The sets of places: for each the number of the index vector that it is made of. Tables of one length can share one.

    Raises
    ------
    LoweringError
        The Op has no expression for these dtypes, or one that may be an error; a result is handed out twice.
    """
    if len(set(whole)) != len(whole):
        raise LoweringError("a result is written as a whole to one output only")
    plain = [x.operand if isinstance(x, Gather) else x for x in operands]
    body, read, results = computed_elements(unit, op, plain, dtypes)
    if body.guards:
        raise LoweringError("elements may be errors, which are not looked for at places of an index")
    element = add_element(unit, body, [(f"o{i}", Operand(dtype)) for i, dtype in enumerate(dtypes)], read, results)
    varying = [x for x in operands if isinstance(x, Gather) or x.constant is None]
    pairs = list(zip([name for name, _ in read], varying, strict=True))
    names = _Names(
        tuple(whole),
        tuple(reductions),
        tuple(scatters),
        tuple([(name, x) for name, x in pairs if isinstance(x, Gather)]),
        tuple([(name, x) for name, x in pairs if isinstance(x, Operand)]),
        len(places),
    )
    loop = unit.kernel(_Loop(unit, names, dtypes, element, [name for name, _ in read]).text(), "pass")
    merges = [unit.kernel(_merge(unit, reduction), "merge") for _, reduction in names.reductions]
    n_indices = len(set(places))
    sizes = [C_DTYPES[dtypes[r]].itemsize for r in whole] + [C_DTYPES[r.accumulator].itemsize for _, r in reductions]
    sizes += [0] * (names.first_read - names.first_scatter)
    sizes += [0 if x.inner == "same" else C_DTYPES[x.dtype].itemsize for _, x in names.read] + [8] * n_indices
    merge_list = f"(void (*const[])(char *, const char *)){{{', '.join(merges)}}}" if merges else "NULL"
    counts = [len(whole), len(reductions), len(scatters), names.first_read, names.first_places, len(sizes), len(places)]
    lists = [f"(const lm_int[]){{{', '.join(map(str, sizes))}}}" if sizes else "NULL"]
    lists.append(
        f"(const int[]){{{', '.join([str(names.first_places + place) for place in places])}}}" if places else "NULL"
    )
    parts = ", ".join([loop, *map(str, counts), *lists, merge_list])
    return unit.kernel(f"static const lm_indexed_pass {KERNEL_NAME} = {{{parts}}};", "indexed")


def _merge(unit: Unit, reduction: Reduction) -> str:
    """Return the function that combines an accumulator with another one."""
    merge = add_combination(unit, reduction, reduction.accumulator)
    c = C_DTYPES[reduction.accumulator]
    loads = [c.loaded(f"*({const}{c.storage} *){name}") for const, name in (("", "to"), ("const ", "from"))]
    return f"""static void {KERNEL_NAME}(char *const to, const char *const from)
{{
    *({c.storage} *)to = {c.stored(f"{merge}({', '.join(loads)})")};
}}"""


@final
class _Loop:
    """The text of a loop."""

    def __init__(
        self, unit: Unit, names: _Names, dtypes: Sequence[str], element: str, arguments: Sequence[str]
    ) -> None:
        unit.need("indexed")
        self.names = names
        self.types = [C_DTYPES[dtype] for dtype in dtypes]
        self.element = element
        read = [C_DTYPES[g.operand.dtype] for _, g in names.gathers] + [C_DTYPES[x.dtype] for _, x in names.read]
        largest = max([c.itemsize for c in (*self.types, *read)])
        self.lanes = max(16, min(32, _BYTES_OF_LANES // largest))
        self.arguments = arguments
        self.combine = [add_combination(unit, reduction, reduction.element) for _, reduction in names.reductions]
        self.merge = [add_combination(unit, reduction, reduction.accumulator) for _, reduction in names.reductions]
        self.added = [
            add_combination(unit, Reduction(Add(), dtypes[s.result], dtypes[s.result], 0), dtypes[s.result])
            for s in names.scatters
        ]

    def text(self) -> str:
        """Return the function."""
        block = "\n".join([f"            {line}" for line in self._block(self.lanes)])
        rest = "\n".join([f"        {line}" for line in self._block(1)])
        declared = "\n".join([f"    {line}" for line in self._declarations()])
        into_totals = "\n".join([f"        {line}" for line in self._into_totals()])
        end = "\n".join([f"    {line}" for line in (*self._into_totals(), *self._results())])
        run = self.lanes * _BLOCKS_IN_A_RUN
        return f"""LM_ALONE lm_int {KERNEL_NAME}(const lm_int n, char *const *const data, const lm_int *const by, const lm_int *const lengths)
{{
{declared}
    (void)by;
    (void)lengths;
    lm_int i = 0;
    int has_ended = 0;
    while (!has_ended && i + {self.lanes} <= n) {{
        const lm_int end = n - i < {run} ? n : i + {run};
        for (; i + {self.lanes} <= end; i += {self.lanes}) {{
{block}
        }}
{into_totals}
    }}
    for (; !has_ended && i < n; ++i) {{
{rest}
    }}
{end}
    return i;
}}"""

    def _declarations(self) -> list[str]:
        names, lines = self.names, list[str]()
        for k, r in enumerate(names.whole):
            lines.append(f"{self.types[r].storage} *const w{r} = ({self.types[r].storage} *)data[{k}];")
        for k, (_, reduction) in enumerate(names.reductions):
            c = C_DTYPES[reduction.accumulator]
            lines.append(f"{c.computed} a{k}[{self.lanes}], total{k}[{self.lanes}];")
            identity = literal(reduction.identity, c.name)
            lines.append(f"for (int j = 0; j < {self.lanes}; ++j) a{k}[j] = total{k}[j] = {identity};")
        for k, scatter in enumerate(names.scatters):
            place = names.first_scatter + k
            lines += self._table(f"s{k}", self.types[scatter.result], place, "")
        for k, (name, gather) in enumerate(names.gathers):
            lines += self._table(f"t_{name}", C_DTYPES[gather.operand.dtype], names.first_gather + k, "const ")
        for k, (name, operand) in enumerate(names.read):
            c = C_DTYPES[operand.dtype]
            address = f"(const {c.storage} *)data[{names.first_read + k}]"
            if operand.inner == "same":
                lines.append(f"const {c.computed} {name} = {c.loaded(f'*({address})')};")
            else:
                lines.append(f"const {c.storage} *const {name} = {address};")
        for k in range(names.n_places):
            lines.append(f"const int64_t *const p{k} = (const int64_t *)data[{names.first_places + k}];")
            lines.append(f"const uint64_t last{k} = (uint64_t)lengths[{k}] - 1;")
        return lines

    @staticmethod
    def _table(name: str, c: CDType, place: int, const: str) -> list[str]:
        return [
            f"{const}{c.storage} *const {name} = ({const}{c.storage} *)data[{place}];",
            f"const int {name}_is_near = by[{place}] == {c.itemsize};",
        ]

    def _block(self, m: int) -> list[str]:
        """Return the statements for some elements in a row."""
        names, simd = self.names, ["#pragma omp simd"] if m > 1 else []
        each = f"for (int j = 0; j < {m}; ++j)"
        # With an index below 0, or above the last, a sign is set.
        signs = [f"at{k} | (last{k} - at{k})" for k in range(names.n_places)]
        places = "; ".join([f"const uint64_t at{k} = (uint64_t)p{k}[i + j]" for k in range(names.n_places)])
        lines: list[str] = []
        if signs:
            lines += ["uint64_t signs = 0;", *(["#pragma omp simd reduction(|:signs)"] if m > 1 else [])]
            lines += [f"{each} {{ {places}; signs |= {' | '.join(signs)}; }}"]
            lines += ["if (LM_UNLIKELY(signs >> 63)) {", "    has_ended = 1;", "    break;", "}"]
        for k, (name, gather) in enumerate(names.gathers):
            c = C_DTYPES[gather.operand.dtype]
            lines.append(f"{c.storage} g_{name}[{m}];")
            far = f"*(const {c.storage} *)((const char *)t_{name} + p{gather.places}[i + j] * by[{names.first_gather + k}])"
            lines.append(f"if (LM_UNLIKELY(!t_{name}_is_near))")
            lines += ["#pragma GCC unroll 1"] if m > 1 else []
            lines += [f"    {each} g_{name}[j] = {far};", "else"]
            near = [*simd, f"    {each} g_{name}[j] = t_{name}[p{gather.places}[i + j]];"]
            if m > 1 and c.itemsize in (4, 8):
                read = f"lm_gather_8_of_{c.itemsize}(t_{name}, p{gather.places} + i + j, g_{name} + j);"
                eight = [f"    for (int j = 0; j < {m}; j += 8) {read}"]
                near = ["#if LM_HAS_GATHER", *eight, "#else", *near, "#endif"]
            lines += near
        lines += [f"{c.storage} o{r}[{m}];" for r, c in enumerate(self.types) if r not in names.whole]
        lines += [*simd, f"{each} {self.element}({', '.join(self._arguments())});"]
        for k, (result, reduction) in enumerate(names.reductions):
            x = C_DTYPES[reduction.element].loaded(self._result(result))
            lines += [*simd, f"{each} a{k}[j] = {self.combine[k]}(a{k}[j], {x});"]
        for place in sorted({scatter.places for scatter in names.scatters}):
            lines += self._scatters(place, each, m)
        lines += [f"(void)o{r};" for r, _ in enumerate(self.types) if r not in names.whole]
        return lines

    def _arguments(self) -> list[str]:
        gathered = {name: C_DTYPES[g.operand.dtype].loaded(f"g_{name}[j]") for name, g in self.names.gathers}
        read = {
            name: name if x.inner == "same" else C_DTYPES[x.dtype].loaded(f"{name}[i + j]")
            for name, x in self.names.read
        }
        known = {**gathered, **read}
        results = [f"w{r} + i + j" if r in self.names.whole else f"o{r} + j" for r in range(len(self.types))]
        return [*results, *[known[name] for name in self.arguments]]

    def _result(self, result: int) -> str:
        return f"w{result}[i + j]" if result in self.names.whole else f"o{result}[j]"

    def _scatter(self, k: int, scatter: Scatter, each: str, m: int) -> list[str]:
        c, place = self.types[scatter.result], f"p{scatter.places}[i + j]"
        far = f"({c.storage} *)((char *)s{k} + {place} * by[{self.names.first_scatter + k}])"

        def added(to: str) -> str:
            value = f"{self.added[k]}({c.loaded(f'*({to})')}, {c.loaded(self._result(scatter.result))})"
            return f"*({to}) = {c.stored(value)};"

        lines = [f"if (LM_UNLIKELY(!s{k}_is_near))"]
        lines += ["#pragma GCC unroll 1"] if m > 1 else []
        return [*lines, f"    {each} {added(far)}", "else", f"    {each} {added(f's{k} + {place}')}"]

    def _scatters(self, place: int, each: str, m: int) -> list[str]:
        """Return the statements that add a block to the tables of a set of places: where many of them follow their like, in registers."""
        scatters = [(k, scatter) for k, scatter in enumerate(self.names.scatters) if scatter.places == place]
        types = {k: self.types[scatter.result] for k, scatter in scatters}
        direct = [line for k, scatter in scatters for line in self._scatter(k, scatter, each, m)]
        if m == 1 or any([c.storage != c.computed for c in types.values()]):
            return direct  # each sum is rounded, or made a truth value, as it is stored
        near = " && ".join([f"s{k}_is_near" for k, _ in scatters])
        alike = " + ".join([f"(p{place}[i + {j}] == p{place}[i + {j + 1}])" for j in range(0, m, 4)])
        loads = [f"sum{k} = {types[k].loaded(f's{k}[here]')};" for k, _ in scatters]
        stores = [f"s{k}[here] = {types[k].stored(f'sum{k}')};" for k, _ in scatters]
        sums = [
            f"sum{k} = {self.added[k]}(sum{k}, {types[k].loaded(self._result(scatter.result))});"
            for k, scatter in scatters
        ]
        return [
            f"if ({near} && {alike} > {m // 8}) {{",
            f"    int64_t here = p{place}[i];",
            *[f"    {types[k].computed} {line}" for (k, _), line in zip(scatters, loads, strict=True)],
            "#pragma GCC unroll 1",
            f"    {each} {{",
            f"        if (p{place}[i + j] != here) {{",
            *[f"            {line}" for line in stores],
            f"            here = p{place}[i + j];",
            *[f"            {line}" for line in loads],
            "        }",
            *[f"        {line}" for line in sums],
            "    }",
            *[f"    {line}" for line in stores],
            "} else {",
            *[line if line.startswith("#") else f"    {line}" for line in direct],
            "}",
        ]

    def _into_totals(self) -> list[str]:
        """Return the statements that combine what was reduced with the totals, and begin anew."""
        lines: list[str] = []
        for k, (_, reduction) in enumerate(self.names.reductions):
            identity = literal(reduction.identity, reduction.accumulator)
            lines += [
                "#pragma omp simd",
                f"for (int j = 0; j < {self.lanes}; ++j) total{k}[j] = {self.merge[k]}(total{k}[j], a{k}[j]);",
                f"for (int j = 0; j < {self.lanes}; ++j) a{k}[j] = {identity};",
            ]
        return lines

    def _results(self) -> list[str]:
        lines: list[str] = []
        for k, (_, reduction) in enumerate(self.names.reductions):
            c = C_DTYPES[reduction.accumulator]
            lines += [
                "#pragma GCC unroll 1",
                f"for (int h = {self.lanes // 2}; h > 0; h /= 2)",
                "#pragma GCC unroll 1",
                f"    for (int j = 0; j < h; ++j) total{k}[j] = {self.merge[k]}(total{k}[j], total{k}[j + h]);",
                f"*({c.storage} *)data[{len(self.names.whole) + k}] = {c.stored(f'total{k}[0]')};",
            ]
        return lines
