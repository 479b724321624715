"""Random graphs of toy Ops, for Hypothesis."""

from typing import Any

from hypothesis import strategies as st

from lamella.ir import FunctionGraph, Variable
from tests.typing_layer.toys import ARRAY, Toy, View, array

Var = Variable[Any]


@st.composite
def graphs(draw: st.DrawFn, max_nodes: int = 8, destructive: bool = True, exact: bool = False) -> FunctionGraph:
    """A graph of two or three inputs, a constant, and some nodes, of which every one is used or returned.

    `exact` leaves out Ops that only *may* share memory, and lets in-place Ops overwrite one input and tolerate any aliasing.
    """
    inputs = [array(f"x{i}") for i in range(draw(st.integers(2, 3)))]
    known: list[Var] = [*inputs, ARRAY.make_constant([5, 6, 7, 8], "c")]
    computed: list[Var] = []
    kinds = (
        ["plain", "view", "two"] + (["inplace"] if destructive else []) + ([] if exact else ["choose", "copy", "both"])
    )
    for i in range(draw(st.integers(1, max_nodes))):
        kind = draw(st.sampled_from(kinds))
        # Mostly what was computed last, so that graphs are deep, and few inputs are overwritten.
        recent = known[-3:]
        some = [
            draw(st.sampled_from(recent if draw(st.integers(0, 3)) else known)) for _ in range(draw(st.integers(1, 3)))
        ]
        name = f"{kind}{i}"
        op: Toy | View
        match kind:
            case "view":
                op, some = View(name), some[:1]
            case "choose":
                op = View(name, len(some), draw(st.integers(0, len(some) - 1)))
            case "copy":
                op, some = View(name, copies=True), some[:1]
            case "two":
                op = Toy(name, 2)
            case "both":
                op = Toy(name, 2, ((1, (0,)),), ((0, (len(some) - 1,)),) if len(some) > 1 and destructive else ())
            case "inplace":
                some = list(dict.fromkeys(some))
                pairs = tuple((i, j) for i in range(3) for j in range(3) if i != j) if exact else ()
                places = draw(st.sets(st.integers(0, len(some) - 1), min_size=1, max_size=1 if exact else 2))
                op = Toy(name, 1, (), ((0, tuple(sorted(places))),), (), pairs)
            case _:
                op = Toy(name)
        made = op.make_node(*some).outputs
        known.extend(made)
        computed.extend(made)
    unused = [v for v in computed if not any(v in (w.owner.inputs if w.owner else ()) for w in computed)]
    extra = draw(st.sampled_from([[], [], [draw(st.sampled_from(known))]]))
    return FunctionGraph(inputs, [*unused, *extra])
