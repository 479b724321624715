"""What is measured, by kind."""

from benchmarks.workloads.elementwise import ELEMENTWISE
from benchmarks.workloads.indexing import INDEXING
from benchmarks.workloads.models import MODELS
from benchmarks.workloads.overhead import OVERHEAD
from benchmarks.workloads.products import PRODUCTS
from benchmarks.workloads.reductions import REDUCTIONS
from benchmarks.workloads.workload import Workload as Workload

__all__ = ["WORKLOADS", "Workload"]

WORKLOADS = (*OVERHEAD, *ELEMENTWISE, *REDUCTIONS, *PRODUCTS, *INDEXING, *MODELS)
