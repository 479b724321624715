"""Kernels of loops over elements at an index: read from tables, computed, reduced, and added to tables, in one pass.

    for (; i + 16 <= n; i += 16) {
        double g0[16], o0[16], o1[16];
        bad |= p0[i + j] is no place      the loop ends there; the host looks at the index
        g0[j] = t0[p0[i + j]]             what is read from a table
        element(o0 + j, o1 + j, g0[j])    results: here, or in an array
        a0[j] += o0[j]                    what is reduced
        s0[p0[i + j]] += o1[j]            what is added to a table: in order; in a register, where most go where others just went
    }

Each is a statement for 16 elements, which becomes vector code; or, where an element is computed in no time, for 4, all in registers: what is
written and read again, even in the nearest cache, would wait there for what is added to tables in one that is not as near. While elements
are added, those that follow are computed. Negative indices are no places: the host makes places of them, of some hundred elements at a time.
Indices that were seen to be places when the loop was written are not looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final, final

import attrs

from lamella.codegen.c.dtypes import C_DTYPES, CDType, literal
from lamella.codegen.c.elementwise_kernel import Operand, add_element, computed_elements, element_costs
from lamella.codegen.c.reduction_kernel import Reduction, add_combination
from lamella.codegen.c.unit import KERNEL_NAME, Unit
from lamella.errors import LoweringError
from lamella.ir import Add, ScalarOp

__all__ = ["Gather", "Scatter", "add_indexed_pass"]

_BYTES_OF_LANES: Final = 128
"""Of the largest of the elements that are computed side by side: two of the widest vectors."""

_LANES_OF_CHEAP: Final = 4
"""Elements side by side that are computed one by one: sums of as many do not wait for each other."""

_CHEAP: Final = 300
"""Picoseconds of an element that vectors would make no faster: reading from tables and adding to them take longer."""

_SAMPLES: Final = 32
"""Elements, the first ones, whose places are compared with the next: others would have to be waited for."""

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
    places: tuple[int, ...]
    in_bounds: frozenset[int]

    @property
    def looked_at(self) -> list[int]:
        """For each index vector that may be out of bounds, the first of its sets of places."""
        firsts = {index: self.places.index(index) for index in self.places if index not in self.in_bounds}
        return list(firsts.values())

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
    in_bounds: Collection[int] = (),
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
    in_bounds
        The index vectors that have been seen to be places of all tables that they are for: none below 0, none behind the last.

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
        tuple(places),
        frozenset(in_bounds),
    )
    _, computing = element_costs(body, [])
    loop = _Loop(unit, names, dtypes, element, [name for name, _ in read], is_cheap=computing <= _CHEAP)
    function = unit.kernel(loop.text(), "pass")
    merges = [unit.kernel(_merge(unit, reduction), "merge") for _, reduction in names.reductions]
    n_indices = len(set(places))
    sizes = [C_DTYPES[dtypes[r]].itemsize for r in whole] + [C_DTYPES[r.accumulator].itemsize for _, r in reductions]
    sizes += [C_DTYPES[dtypes[s.result]].itemsize for s in scatters]
    sizes += [C_DTYPES[g.operand.dtype].itemsize for _, g in names.gathers]
    sizes += [0 if x.inner == "same" else C_DTYPES[x.dtype].itemsize for _, x in names.read] + [8] * n_indices
    merge_list = f"(void (*const[])(char *, const char *)){{{', '.join(merges)}}}" if merges else "NULL"
    counts = [len(whole), len(reductions), len(scatters), names.first_read, names.first_places, len(sizes), len(places)]
    lists = [f"(const lm_int[]){{{', '.join(map(str, sizes))}}}" if sizes else "NULL"]
    lists.append(
        f"(const int[]){{{', '.join([str(names.first_places + place) for place in places])}}}" if places else "NULL"
    )
    parts = ", ".join([function, *map(str, counts), *lists, merge_list])
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
        self,
        unit: Unit,
        names: _Names,
        dtypes: Sequence[str],
        element: str,
        arguments: Sequence[str],
        *,
        is_cheap: bool,
    ) -> None:
        unit.need("indexed")
        self.names = names
        self.types = [C_DTYPES[dtype] for dtype in dtypes]
        self.element = element
        read = [C_DTYPES[g.operand.dtype] for _, g in names.gathers] + [C_DTYPES[x.dtype] for _, x in names.read]
        largest = max([c.itemsize for c in (*self.types, *read)])
        self.lanes = _LANES_OF_CHEAP if is_cheap else max(16, min(32, _BYTES_OF_LANES // largest))
        self.is_cheap = is_cheap
        self.has_tables = bool(names.gathers or names.scatters)
        self.side_by_side = f"#pragma GCC unroll {self.lanes}" if is_cheap else "#pragma omp simd"
        self.arguments = arguments
        self.combine = [add_combination(unit, reduction, reduction.element) for _, reduction in names.reductions]
        self.merge = [add_combination(unit, reduction, reduction.accumulator) for _, reduction in names.reductions]
        self.alike = [place for place in sorted({s.places for s in names.scatters}) if self._has_registers(place)]
        self.added = [
            add_combination(unit, Reduction(Add(), dtypes[s.result], dtypes[s.result], 0), dtypes[s.result])
            for s in names.scatters
        ]

    def text(self) -> str:
        """Return the function."""

        def indented(n: int, lines: Sequence[str]) -> str:
            return "".join([f"{' ' * 4 * n}{line}\n" for line in lines])

        begin, rest, end = self._one_by_one()
        run = self.lanes * _BLOCKS_IN_A_RUN
        kind = "LM_ONE_BY_ONE" if self.is_cheap else "LM_SHORT_VECTORS"
        # Elsewhere, what is in registers would have to be stored first.
        conditions = [*["are_near"] * self.has_tables, *[f"!alike{k}" for k in self.alike]] if self.is_cheap else []
        in_blocks = "".join([f"{condition} && " for condition in conditions])
        return f"""{kind} lm_int {KERNEL_NAME}(const lm_int n, char *const *const data, const lm_int *const by, const lm_int *const lengths)
{{
{indented(1, self._declarations())}    (void)by;
    (void)lengths;
{indented(1, self._looks_for_likes())}    lm_int i = 0;
    int has_ended = 0;
    while (!has_ended && i < n) {{
        const lm_int end = n - i < {run} ? n : i + {run};
        for (; {in_blocks}i + {self.lanes} <= end; i += {self.lanes}) {{
{indented(3, self._block())}        }}
{indented(2, begin)}        for (; !has_ended && i < end; ++i) {{
{indented(3, rest)}        }}
{indented(2, [*end, *self._into_totals()])}    }}
{indented(1, self._results())}    return i;
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
            lines.append(self._table(f"s{k}", self.types[scatter.result], place, ""))
        for k, (name, gather) in enumerate(names.gathers):
            lines.append(self._table(f"t_{name}", C_DTYPES[gather.operand.dtype], names.first_gather + k, "const "))
        if self.has_tables:
            sizes = [self.types[s.result].itemsize for s in names.scatters]
            sizes += [C_DTYPES[g.operand.dtype].itemsize for _, g in names.gathers]
            near = [f"by[{k}] == {size}" for k, size in enumerate(sizes, start=names.first_scatter)]
            lines.append(f"const int are_near = {' && '.join(near)};")
        for k, (name, operand) in enumerate(names.read):
            c = C_DTYPES[operand.dtype]
            address = f"(const {c.storage} *)data[{names.first_read + k}]"
            if operand.inner == "same":
                lines.append(f"const {c.computed} {name} = {c.loaded(f'*({address})')};")
            else:
                lines.append(f"const {c.storage} *const {name} = {address};")
        for k, index in enumerate(names.places):
            lines.append(f"const int64_t *const p{k} = (const int64_t *)data[{names.first_places + k}];")
            first = names.places.index(index)
            if index in names.in_bounds:
                continue
            if first == k:
                lines.append(f"uint64_t length{k} = (uint64_t)lengths[{k}];")
            else:  # Where they do not share the index vector, the host has made places of it that are in bounds.
                lines.append(
                    f"if (p{k} == p{first} && (uint64_t)lengths[{k}] < length{first}) length{first} = (uint64_t)lengths[{k}];"
                )
        return lines

    @staticmethod
    def _table(name: str, c: CDType, place: int, const: str) -> str:
        return f"{const}{c.storage} *const {name} = ({const}{c.storage} *)data[{place}];"

    def _block(self) -> list[str]:
        """Return the statements for some elements in a row."""
        names, each = self.names, f"for (int j = 0; j < {self.lanes}; ++j)"
        lines = self._looks_for_places(each)
        for k, (name, gather) in enumerate(names.gathers):
            c = C_DTYPES[gather.operand.dtype]
            lines.append(f"{c.storage} g_{name}[{self.lanes}];")
            near = [self.side_by_side, f"{each} g_{name}[j] = t_{name}[p{gather.places}[i + j]];"]
            if not self.is_cheap and c.itemsize in (4, 8):
                read = f"lm_gather_8_of_{c.itemsize}(t_{name}, p{gather.places} + i + j, g_{name} + j);"
                eight = f"    for (int j = 0; j < {self.lanes}; j += 8) {read}"
                near = ["#if LM_HAS_GATHER", eight, "#else", *near, "#endif"]
            lines += self._near_or_far(near, f"{each} g_{name}[j] = {self._read_far(k)};")
        lines += [f"{c.storage} o{r}[{self.lanes}];" for r, c in enumerate(self.types) if r not in names.whole]
        lines += [self.side_by_side, f"{each} {self.element}({', '.join(self._arguments())});"]
        for k, (result, reduction) in enumerate(names.reductions):
            x = C_DTYPES[reduction.element].loaded(self._result(result))
            lines += [self.side_by_side, f"{each} a{k}[j] = {self.combine[k]}(a{k}[j], {x});"]
        for place in sorted({scatter.places for scatter in names.scatters}):
            lines += self._scatters(place, each)
        return [*lines, *self._unused()]

    def _one_by_one(self) -> tuple[list[str], list[str], list[str]]:
        """Return the statements before, for, and after single elements: at the end, of tables that lie apart, and added where others just went."""
        names, registers = self.names, dict[int, CDType]()
        lines = ["const int j = 0;", *self._looks_for_places("")]
        for k, (name, gather) in enumerate(names.gathers):
            lines.append(f"const {C_DTYPES[gather.operand.dtype].storage} g_{name}[1] = {{{self._read_far(k)}}};")
        lines += [f"{c.storage} o{r}[1];" for r, c in enumerate(self.types) if r not in names.whole]
        lines.append(f"{self.element}({', '.join(self._arguments())});")
        for k, (result, reduction) in enumerate(names.reductions):
            x = C_DTYPES[reduction.element].loaded(self._result(result))
            lines.append(f"lone{k} = {self.combine[k]}(lone{k}, {x});")
        for k, scatter in enumerate(names.scatters):
            c, to = self.types[scatter.result], f"to{k}"
            lines.append(f"{c.storage} *const {to} = {self._far(k)};")
            if scatter.places in self.alike:
                registers[k] = c
                lines.append(f"if ({to} != at{k}) {{ *at{k} = sum{k}; at{k} = {to}; sum{k} = *{to}; }}")
                lines.append(f"sum{k} = {self.added[k]}(sum{k}, {self._result(scatter.result)});")
            else:
                lines.append(self._added(k, scatter, f"*{to}"))
        begin: list[str] = []
        for k, c in registers.items():
            zero = literal(0, c.name)
            begin.append(f"{c.storage} none{k} = {zero}, *at{k} = &none{k}, sum{k} = {zero};")
        end = [f"*at{k} = sum{k};" for k in registers]
        for k, (_, reduction) in enumerate(names.reductions):
            accumulator = C_DTYPES[reduction.accumulator]
            begin.append(f"{accumulator.computed} lone{k} = {literal(reduction.identity, accumulator.name)};")
            end.append(f"a{k}[0] = {self.merge[k]}(a{k}[0], lone{k});")
        return begin, [*lines, *self._unused()], end

    def _unused(self) -> list[str]:
        return [f"(void)o{r};" for r, _ in enumerate(self.types) if r not in self.names.whole]

    def _near_or_far(self, near: Sequence[str], far: str) -> list[str]:
        """Return statements for a block of tables whose elements lie side by side, or do not; there are blocks of cheap ones only if they do."""
        if self.is_cheap:
            return list(near)
        return ["if (LM_UNLIKELY(!are_near))", "#pragma GCC unroll 1", f"    {far}", "else", *near]

    def _read_far(self, k: int) -> str:
        name, gather = self.names.gathers[k]
        c = C_DTYPES[gather.operand.dtype]
        address = f"(const char *)t_{name} + p{gather.places}[i + j] * by[{self.names.first_gather + k}]"
        return f"*(const {c.storage} *)({address})"

    def _far(self, k: int) -> str:
        scatter = self.names.scatters[k]
        address = f"(char *)s{k} + p{scatter.places}[i + j] * by[{self.names.first_scatter + k}]"
        return f"({self.types[scatter.result].storage} *)({address})"

    def _added(self, k: int, scatter: Scatter, place: str) -> str:
        c = self.types[scatter.result]
        value = f"{self.added[k]}({c.loaded(place)}, {c.loaded(self._result(scatter.result))})"
        return f"{place} = {c.stored(value)};"

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

    def _looks_for_places(self, each: str) -> list[str]:
        """Return the statements that end the loop before an element, or a block, with an index that is below 0 or out of bounds."""
        sets = self.names.looked_at
        if not sets:
            return []
        if not each:
            ends = " || ".join([f"(uint64_t)p{k}[i] >= length{k}" for k in sets])
            lines = list[str]()
        elif self.is_cheap:
            lines = [f"uint64_t highest{k} = 0;" for k in sets]
            at = "const uint64_t at = (uint64_t)p"
            lines += [f"{each} {{ {at}{k}[i + j]; if (at > highest{k}) highest{k} = at; }}" for k in sets]
            ends = " || ".join([f"highest{k} >= length{k}" for k in sets])
        else:  # With an index below 0, or above the last, a sign is set.
            signs = [f"(uint64_t)p{k}[i + j] | (length{k} - 1 - (uint64_t)p{k}[i + j])" for k in sets]
            lines = [
                "uint64_t signs = 0;",
                "#pragma omp simd reduction(|:signs)",
                f"{each} signs |= {' | '.join(signs)};",
            ]
            ends = "signs >> 63"
        return [*lines, f"if (LM_UNLIKELY({ends})) {{", "    has_ended = 1;", "    break;", "}"]

    def _has_registers(self, place: int) -> bool:
        """Whether sums of a set of places can stay in registers: those of other dtypes are rounded, or made truth values, as they are stored."""
        types = [self.types[scatter.result] for scatter in self.names.scatters if scatter.places == place]
        return all([c.storage == c.computed for c in types])

    def _looks_for_likes(self) -> list[str]:
        """Return the statements that find out, first, whether most is added where others just went."""
        lines: list[str] = []
        for place in self.alike:
            near = "" if self.is_cheap else "are_near && "
            lines += [
                f"int alike{place} = 0;",
                f"for (lm_int j = 0; j < {_SAMPLES} && j + 1 < n; ++j) alike{place} += p{place}[j] == p{place}[j + 1] ? 1 : -1;",
                f"alike{place} = {near}alike{place} > 0;",
            ]
        return lines

    def _scatters(self, place: int, each: str) -> list[str]:
        """Return the statements that add a block to the tables of a set of places: where many of them follow their like, in registers."""
        scatters = [(k, scatter) for k, scatter in enumerate(self.names.scatters) if scatter.places == place]
        types = {k: self.types[scatter.result] for k, scatter in scatters}
        direct: list[str] = []
        for k, scatter in scatters:
            near = f"{each} {self._added(k, scatter, f's{k}[p{place}[i + j]]')}"
            direct += self._near_or_far([near], f"{each} {self._added(k, scatter, f'*{self._far(k)}')}")
        if self.is_cheap or place not in self.alike:
            return direct
        loads = [f"sum{k} = {types[k].loaded(f's{k}[here]')};" for k, _ in scatters]
        stores = [f"s{k}[here] = {types[k].stored(f'sum{k}')};" for k, _ in scatters]
        sums = [
            f"sum{k} = {self.added[k]}(sum{k}, {types[k].loaded(self._result(scatter.result))});"
            for k, scatter in scatters
        ]
        return [
            f"if (alike{place}) {{",
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
                self.side_by_side,
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
