"""The catalogue: an entry for every Op, at least."""

from tests.catalogue.control_entries import CONTROL_ENTRIES
from tests.catalogue.fused_entries import FUSED_ENTRIES
from tests.catalogue.indexing_entries import INDEXING_ENTRIES
from tests.catalogue.other_entries import OTHER_ENTRIES
from tests.catalogue.reduction_entries import REDUCTION_ENTRIES
from tests.catalogue.scalar_entries import SCALAR_ENTRIES
from tests.catalogue.shape_entries import SHAPE_ENTRIES

CATALOGUE = [
    *(*SCALAR_ENTRIES, *REDUCTION_ENTRIES, *SHAPE_ENTRIES, *INDEXING_ENTRIES, *OTHER_ENTRIES, *CONTROL_ENTRIES),
    *FUSED_ENTRIES,
]
