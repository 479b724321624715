"""The databases: queries, databases of rewriters, and optdb, assembled in one readable file."""

from lamella.rewriting.database.database import RewriteDatabase as RewriteDatabase
from lamella.rewriting.database.kinds import EquilibriumDB as EquilibriumDB
from lamella.rewriting.database.kinds import LocalGroupDB as LocalGroupDB
from lamella.rewriting.database.kinds import ProxyDB as ProxyDB
from lamella.rewriting.database.kinds import SequenceDB as SequenceDB
from lamella.rewriting.database.kinds import TopoDB as TopoDB
from lamella.rewriting.database.optdb import AddDestroyHandler as AddDestroyHandler
from lamella.rewriting.database.optdb import optdb as optdb
from lamella.rewriting.database.query import RewriteDatabaseQuery as RewriteDatabaseQuery
from lamella.rewriting.database.registration import Registration as Registration
from lamella.rewriting.database.registration import register_canonicalize as register_canonicalize
from lamella.rewriting.database.registration import register_specialize as register_specialize
from lamella.rewriting.database.registration import register_stabilize as register_stabilize
from lamella.rewriting.database.registration import register_uncanonicalize as register_uncanonicalize
from lamella.rewriting.database.registration import register_useless as register_useless
from lamella.rewriting.database.rewrite_graph import rewrite_graph as rewrite_graph
