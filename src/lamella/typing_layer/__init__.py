"""The typing layer: what can be known about a graph without running it.

Shapes, constants, aliasing (views), destruction (in-place), liveness, the check that a graph is well
typed, and the schedule that these facts allow: a FunctionGraph comes in, a ScheduledGraph goes out.
"""

from lamella.typing_layer.aliasing import Aliases as Aliases
from lamella.typing_layer.aliasing import find_aliases as find_aliases
from lamella.typing_layer.checker import check as check
from lamella.typing_layer.checker import problems as problems
from lamella.typing_layer.constants import constant_value as constant_value
from lamella.typing_layer.constants import uniform_value as uniform_value
from lamella.typing_layer.destruction import DestroyHandler as DestroyHandler
from lamella.typing_layer.destruction import Supervisor as Supervisor
from lamella.typing_layer.destruction import destruction_order as destruction_order
from lamella.typing_layer.facts import Fact as Fact
from lamella.typing_layer.inplace import InplaceDecision as InplaceDecision
from lamella.typing_layer.inplace import InplaceProposal as InplaceProposal
from lamella.typing_layer.inplace import accept_inplace as accept_inplace
from lamella.typing_layer.inplace import apply_inplace as apply_inplace
from lamella.typing_layer.inplace import fast_inplace_check as fast_inplace_check
from lamella.typing_layer.liveness import StoragePlan as StoragePlan
from lamella.typing_layer.liveness import plan_storage as plan_storage
from lamella.typing_layer.need import needed_by as needed_by
from lamella.typing_layer.scheduling import ScheduledGraph as ScheduledGraph
from lamella.typing_layer.scheduling import schedule as schedule
from lamella.typing_layer.shape import same_shape as same_shape
from lamella.typing_layer.shape import static_shape as static_shape
from lamella.typing_layer.shape import symbolic_shape as symbolic_shape
from lamella.typing_layer.sign import is_nonnegative as is_nonnegative
