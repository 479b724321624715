"""Unification: patterns with logic variables, matched against graphs and filled in again; and miniKanren relations on graphs."""

from lamella.rewriting.engine.unification.expression import ConsPair as ConsPair
from lamella.rewriting.engine.unification.expression import ExpressionTuple as ExpressionTuple
from lamella.rewriting.engine.unification.expression import cons as cons
from lamella.rewriting.engine.unification.expression import etuple as etuple
from lamella.rewriting.engine.unification.expression import etuplize as etuplize
from lamella.rewriting.engine.unification.expression import nth as nth
from lamella.rewriting.engine.unification.kanren import KanrenRelationSub as KanrenRelationSub
from lamella.rewriting.engine.unification.kanren import enable_kanren as enable_kanren
from lamella.rewriting.engine.unification.logic_variable import LogicVariable as LogicVariable
from lamella.rewriting.engine.unification.logic_variable import Substitution as Substitution
from lamella.rewriting.engine.unification.logic_variable import isvar as isvar
from lamella.rewriting.engine.unification.logic_variable import lvars as lvars
from lamella.rewriting.engine.unification.logic_variable import var as var
from lamella.rewriting.engine.unification.reify import reify as reify
from lamella.rewriting.engine.unification.unify import unify as unify
