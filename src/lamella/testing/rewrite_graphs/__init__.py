"""Graphs on which each rewrite fires, drawn at random: what `verify_rewrite` tries a rewrite on.

For each rewrite that is registered in `optdb` there is a `GraphsFor` with its name and one generator for each form of its law, in the
file of its family. A generator takes a `Draw`, draws arguments from it, and returns what the law's left side is::

    GraphsFor("exp_of_log", lambda draw: lt.exp(lt.log(draw.floats()))),
    GraphsFor(
        "mul_by_one",
        lambda draw: (x := draw.reals()) * draw.repeated(1, x),
        _product_of_three_with_one,  # a function, where it takes several lines
    ),

To add one, write it into the tuple of the family's file (`ALGEBRA` in ``algebra.py``, and so on); a new file's tuple is joined to the
others in ``builtin.py``. For a rewrite of a project's own, call `register_graphs`; a `PatternNodeRewriter` needs none, where its pattern
names Ops.

- `Draw.floats`, `reals`, `integers`, `booleans`, `anything` and `tensor` draw arguments: a dtype, a shape, what the type knows of it, and
  which values its elements may have (bounds, where indices or lengths are meant; NaN and infinities come by themselves, where the law
  is to hold for them). Each call draws another argument; use a Variable twice where the law does.
- `Draw.like` and `beside` draw what fits an argument; `repeated`, `number` draw constants; `shape`, `axes`, `order`, `choose`,
  `flag`, `integer` all else. `Draw.shape_of` tells the shape that an argument's value will have.
- The rewrite is applied alone: no other folds constants, or removes casts, before it. Draw what it will meet.
- It need not fire on every graph, but on some graph of every generator. A graph is also run with arrays of other shapes than those
  drawn, where the types allow it, to see that errors stay errors.
"""

from lamella.testing.rewrite_graphs.draw import Argument as Argument
from lamella.testing.rewrite_graphs.draw import Draw as Draw
from lamella.testing.rewrite_graphs.elements import Elements as Elements
from lamella.testing.rewrite_graphs.elements import Range as Range
from lamella.testing.rewrite_graphs.generator import GraphMaker as GraphMaker
from lamella.testing.rewrite_graphs.generator import GraphsFor as GraphsFor
from lamella.testing.rewrite_graphs.generator import Made as Made
from lamella.testing.rewrite_graphs.patterns import graphs_of_pattern as graphs_of_pattern
from lamella.testing.rewrite_graphs.registry import graphs_for as graphs_for
from lamella.testing.rewrite_graphs.registry import register_graphs as register_graphs
