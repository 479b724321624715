"""The public names of the layers that rewrite and compile graphs; `lamella` hands them on.

They have a module of their own so that ``import lamella`` need not load those layers: see docs/decisions/0005-lazy-face.md.
"""

from lamella.rewriting import AddDestroyHandler as AddDestroyHandler
from lamella.rewriting import EquilibriumDB as EquilibriumDB
from lamella.rewriting import EquilibriumGraphRewriter as EquilibriumGraphRewriter
from lamella.rewriting import FromFunctionGraphRewriter as FromFunctionGraphRewriter
from lamella.rewriting import FromFunctionNodeRewriter as FromFunctionNodeRewriter
from lamella.rewriting import GraphRewriter as GraphRewriter
from lamella.rewriting import LocalGroupDB as LocalGroupDB
from lamella.rewriting import MergeOptimizer as MergeOptimizer
from lamella.rewriting import NodeProcessingGraphRewriter as NodeProcessingGraphRewriter
from lamella.rewriting import NodeRewriter as NodeRewriter
from lamella.rewriting import OpKey as OpKey
from lamella.rewriting import OpMatcher as OpMatcher
from lamella.rewriting import OpPattern as OpPattern
from lamella.rewriting import PatternNodeRewriter as PatternNodeRewriter
from lamella.rewriting import ProxyDB as ProxyDB
from lamella.rewriting import RemovalNodeRewriter as RemovalNodeRewriter
from lamella.rewriting import RewriteDatabase as RewriteDatabase
from lamella.rewriting import RewriteDatabaseQuery as RewriteDatabaseQuery
from lamella.rewriting import RewriteLog as RewriteLog
from lamella.rewriting import RewriteStep as RewriteStep
from lamella.rewriting import Rewritten as Rewritten
from lamella.rewriting import SequenceDB as SequenceDB
from lamella.rewriting import SequentialGraphRewriter as SequentialGraphRewriter
from lamella.rewriting import SequentialNodeRewriter as SequentialNodeRewriter
from lamella.rewriting import SubstitutionNodeRewriter as SubstitutionNodeRewriter
from lamella.rewriting import TopoDB as TopoDB
from lamella.rewriting import WalkingGraphRewriter as WalkingGraphRewriter
from lamella.rewriting import graph_rewriter as graph_rewriter
from lamella.rewriting import in2out as in2out
from lamella.rewriting import merge as merge
from lamella.rewriting import node_rewriter as node_rewriter
from lamella.rewriting import optdb as optdb
from lamella.rewriting import out2in as out2in
from lamella.rewriting import register_canonicalize as register_canonicalize
from lamella.rewriting import register_specialize as register_specialize
from lamella.rewriting import register_stabilize as register_stabilize
from lamella.rewriting import register_uncanonicalize as register_uncanonicalize
from lamella.rewriting import register_useless as register_useless
from lamella.rewriting import rewrite_graph as rewrite_graph
from lamella.runtime import FAST_COMPILE as FAST_COMPILE
from lamella.runtime import FAST_RUN as FAST_RUN
from lamella.runtime import CLinker as CLinker
from lamella.runtime import Function as Function
from lamella.runtime import In as In
from lamella.runtime import Mode as Mode
from lamella.runtime import Out as Out
from lamella.runtime import PerformLinker as PerformLinker
from lamella.runtime import function as function
from lamella.runtime import get_mode as get_mode
from lamella.runtime import register_mode as register_mode
from lamella.runtime import shared as shared
