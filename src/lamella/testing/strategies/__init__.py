"""Hypothesis strategies for Types, values and whole graphs. They need Hypothesis: ``pip install hypothesis``."""

from lamella.testing.strategies.arrays import array_shapes as array_shapes
from lamella.testing.strategies.arrays import arrays as arrays
from lamella.testing.strategies.arrays import elements as elements
from lamella.testing.strategies.arrays import values_of as values_of
from lamella.testing.strategies.graphs import RandomGraph as RandomGraph
from lamella.testing.strategies.graphs import graphs as graphs
from lamella.testing.strategies.layouts import in_any_layout as in_any_layout
from lamella.testing.strategies.layouts import in_larger_memory as in_larger_memory
from lamella.testing.strategies.layouts import views_of as views_of
from lamella.testing.strategies.pool import Pool as Pool
from lamella.testing.strategies.pool import Step as Step
from lamella.testing.strategies.steps import DEFAULT_STEPS as DEFAULT_STEPS
from lamella.testing.strategies.types import dtypes as dtypes
from lamella.testing.strategies.types import static_shapes as static_shapes
from lamella.testing.strategies.types import tensor_types as tensor_types
from lamella.testing.strategies.types import variables as variables
