"""Graphs applied to batches: `vectorize_graph`, and the rules by which each Op is."""

from lamella.ir.tensor.vectorization import along_axes as along_axes
from lamella.ir.tensor.vectorization import elementwise as elementwise
from lamella.ir.tensor.vectorization import indexing as indexing
from lamella.ir.tensor.vectorization import products as products
from lamella.ir.tensor.vectorization import shapes as shapes
from lamella.ir.tensor.vectorization.graph import vectorize_graph as vectorize_graph
from lamella.ir.tensor.vectorization.table import VectorizeRule as VectorizeRule
from lamella.ir.tensor.vectorization.table import VectorizeTable as VectorizeTable
from lamella.ir.tensor.vectorization.table import vectorize_node as vectorize_node
