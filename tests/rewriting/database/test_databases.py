"""Databases: what a query takes, in which order, and as what kind of rewriter."""

import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.ir import FunctionGraph
from lamella.rewriting import (
    EquilibriumDB,
    EquilibriumGraphRewriter,
    FromFunctionGraphRewriter,
    GraphRewriter,
    LocalGroupDB,
    MergeOptimizer,
    ProxyDB,
    RemovalNodeRewriter,
    RewriteDatabase,
    RewriteDatabaseQuery,
    SequenceDB,
    SequentialGraphRewriter,
    SequentialNodeRewriter,
    SubstitutionNodeRewriter,
    TopoDB,
    WalkingGraphRewriter,
    in2out,
)
from tests.rewriting.toys import add, graph_of, identity, log, mul, neg, real, show, sub

x, y = real("x"), real("y")
Query = RewriteDatabaseQuery


def stage(name: str) -> GraphRewriter:
    return FromFunctionGraphRewriter(lambda fgraph: fgraph, name=name)


def names(rewriter: SequentialGraphRewriter) -> list[str]:
    return [inner.name for inner in rewriter.rewriters]


@pytest.fixture
def db() -> SequenceDB:
    db = SequenceDB("db")
    db.register("late", stage("late"), "run", "slow", position=10)
    db.register("early", stage("early"), "run", "compile", position=0.5)
    db.register("other", stage("other"), "compile", position=5)
    return db


@pytest.mark.parametrize(
    ("query", "taken"),
    [
        (Query(["run"]), ["early", "late"]),
        (Query(["run", "compile"]), ["early", "other", "late"]),
        (Query(["db"]), ["early", "other", "late"]),
        (Query(["late"]), ["late"]),
        (Query([]), []),
        (Query(["run"], require=["slow"]), ["late"]),
        (Query(["run"], exclude=["slow"]), ["early"]),
        (Query(["db"], exclude=["early"]), ["other", "late"]),
        (Query(["db"], position_cutoff=5), ["early"]),
        (Query(["run"]).including("compile").excluding("slow"), ["early", "other"]),
        (Query(["db"]).requiring("compile"), ["early", "other"]),
        (Query(["run"]).excluding("slow").including("slow"), ["early", "late"]),
        (Query(["run"]).including("slow").excluding("slow"), ["early"]),
        (Query(["run"]).register((stage("mine"), 7), (stage("first"), -1)), ["first", "early", "mine", "late"]),
        (Query(["run"], extra_rewrites=[(stage("mine"), 7)], position_cutoff=7), ["early"]),
    ],
)
def test_what_a_query_takes(db: SequenceDB, query: Query, taken: list[str]) -> None:
    rewriter = db.query(query)
    assert isinstance(rewriter, SequentialGraphRewriter)
    assert names(rewriter) == taken
    assert rewriter.name == "db"


def test_a_query_in_words(db: SequenceDB) -> None:
    assert names(db.query("+run", "+compile", "-slow")) == ["early", "other"]
    assert names(db.query("+db", "&slow")) == ["late"]
    with pytest.raises(ValueError, match="'run': a word of a query is"):
        db.query("run")
    with pytest.raises(TypeError, match="ask by one query, or by words"):
        db.query(Query(["run"]), "-slow")


def test_a_query_is_a_value() -> None:
    query = Query(["a", "b"], require=["c"], exclude=["d"], subquery={"inner": Query(["e"])})
    assert query == Query(["b", "a"], ["c"], ["d"], {"inner": Query(["e"])})
    assert hash(query) == hash(Query(["b", "a"], ["c"], ["d"], {"inner": Query(["e"])}))
    assert query.include == {"a", "b"}
    assert query.subquery == {"inner": Query(["e"])}
    assert repr(query) == (
        "RewriteDatabaseQuery(include=['a', 'b'], require=['c'], exclude=['d'], "
        "subquery={'inner': RewriteDatabaseQuery(include=['e'])})"
    )
    assert repr(Query([], position_cutoff=2).register((stage("mine"), 1))) == (
        "RewriteDatabaseQuery(include=[], position_cutoff=2, extra_rewrites=[('mine', 1)])"
    )
    with pytest.raises(TypeError, match=r"tags are given as a sequence, as in \['run'\]"):
        Query("run")


def test_positions() -> None:
    db = SequenceDB()
    for name, position in [("b", 1), ("last", "last"), ("c", 1), ("first", "first"), ("a", 0.5)]:
        db.register(name, stage(name), "t", position=position)  # type: ignore[arg-type]  # of several types
    assert list(db) == ["first", "a", "b", "c", "last"]
    assert [entry.position for entry in db.entries] == [0, 0.5, 1, 1, 2]
    assert names(db.query("+t")) == ["first", "a", "b", "c", "last"]


def test_wrong_registrations(db: SequenceDB) -> None:
    with pytest.raises(ValueError, match=r"SequenceDB\(db\) has a rewriter named 'late' already"):
        db.register("late", stage("late"))
    with pytest.raises(
        TypeError, match=r"holds GraphRewriter objects, not .*; a node rewriter is applied to a graph by Walking"
    ):
        db.register("node", RemovalNodeRewriter(identity))  # type: ignore[arg-type]  # a planted mistake
    group = LocalGroupDB()
    with pytest.raises(TypeError, match="holds NodeRewriter objects"):
        group.register("graph", stage("graph"))  # type: ignore[arg-type]  # a planted mistake
    equilibrium = EquilibriumDB()
    with pytest.raises(TypeError, match="holds GraphRewriter and NodeRewriter objects, not 3"):
        equilibrium.register("three", 3)  # type: ignore[arg-type]  # a planted mistake
    with pytest.raises(TypeError, match="only graph rewriters end rounds or clean up"):
        equilibrium.register("node", RemovalNodeRewriter(identity), cleanup=True)
    with pytest.raises(ValueError, match="not both"):
        equilibrium.register("graph", stage("graph"), cleanup=True, final_rewriter=True)
    with pytest.raises(ValueError, match="cannot hold"):
        db.register("itself", db)
    inner = SequenceDB("inner")
    db.register("inner", inner)
    with pytest.raises(ValueError, match="cannot hold"):
        inner.register("outer", db)
    assert len(list(db)) == 4


def test_what_has_a_name_is_removed_or_overwritten(db: SequenceDB) -> None:
    db.query("+run")
    db.register("late", stage("other late"), "run", position=0, overwrite_existing=True)
    assert names(db.query("+run")) == ["other late", "early"]
    db.unregister("late")
    assert names(db.query("+run")) == ["early"]
    db.register("late", stage("late again"), "run")
    assert names(db.query("+run")) == ["early", "late again"]
    with pytest.raises(KeyError, match="has nothing named 'absent'"):
        db.unregister("absent")


def test_what_is_registered_is_found_by_name_or_by_its_tag(db: SequenceDB) -> None:
    assert "late" in db
    assert "slow" not in db
    assert str(db["late"]) == "late"
    assert str(db["slow"]) == "late"
    with pytest.raises(KeyError, match="has 2 under 'run'"):
        db["run"]
    with pytest.raises(KeyError, match="has nothing under 'absent'"):
        db["absent"]


def test_tags_are_added_and_removed(db: SequenceDB) -> None:
    assert names(db.query("+slow")) == ["late"]
    db.add_tags("early", "slow")
    assert names(db.query("+slow")) == ["early", "late"]
    db.remove_tags("late", "slow", "run")
    assert names(db.query("+slow", "+run")) == ["early"]
    with pytest.raises(KeyError, match="has nothing named 'absent'"):
        db.add_tags("absent", "slow")


def test_a_database_name_is_a_tag_unless_it_is_not_wanted() -> None:
    db = SequenceDB("db")
    db.register("a", stage("a"))
    db.register("b", stage("b"), use_db_name_as_tag=False)
    assert names(db.query("+db")) == ["a"]


def test_an_equilibrium() -> None:
    db = EquilibriumDB("equilibrium", max_use_ratio=3.0)
    db.register("remove", RemovalNodeRewriter(identity), "run")
    db.register("swap", SubstitutionNodeRewriter(add, mul), "run", "wrong")
    db.register("merge", MergeOptimizer(), "run", cleanup=True)
    db.register("end", stage("end"), "run", final_rewriter=True)
    rewriter = db.query(Query(["run"], exclude=["wrong"]))
    assert rewriter == EquilibriumGraphRewriter(
        [RemovalNodeRewriter(identity)], 3.0, rewriter.final_rewriters, [MergeOptimizer()], name="equilibrium"
    )
    assert [inner.name for inner in rewriter.final_rewriters] == ["end"]
    e = graph_of(mul(identity(add(x, y)), add(y, x)))
    assert show(rewriter.rewrite(e)) == "mul(add(x, y), add(x, y))"
    assert show(db.query("+run").rewrite(e)) == "mul(mul(x, y), mul(x, y))"


def test_a_group_for_a_node_and_its_walk() -> None:
    group = LocalGroupDB("group", apply_all_rewrites=True)
    group.register("second", SubstitutionNodeRewriter(mul, sub), "run", position=2)
    group.register("first", SubstitutionNodeRewriter(add, mul), "run", position=1)
    rewriter = group.query("+run")
    assert isinstance(rewriter, SequentialNodeRewriter)
    assert rewriter.apply_all_rewrites
    assert [str(inner) for inner in rewriter.rewriters] == ["add -> mul", "mul -> sub"]
    walk = TopoDB(group, order="out_to_in", ignore_newtrees=True).query("+run")
    assert walk == WalkingGraphRewriter(rewriter, "out_to_in", True, "group")
    assert show(walk.rewrite(graph_of(add(x, y)))) == "sub(x, y)"


def outer() -> tuple[SequenceDB, EquilibriumDB, LocalGroupDB]:
    inner, group = EquilibriumDB(), LocalGroupDB("group")
    inner.register("remove", RemovalNodeRewriter(identity, name="remove"), "run")
    group.register("neg", SubstitutionNodeRewriter(neg, log, name="neg"), "compile")
    db = SequenceDB("outer")
    db.register("inner", inner, "run", "compile", position=1)
    db.register("walk", TopoDB(group), "run", "compile", position=2)
    return db, inner, group


def test_databases_inside_are_asked_the_same_query_or_one_of_their_own() -> None:
    db, inner, _ = outer()
    e = graph_of(neg(identity(x)))
    assert inner.name == "inner"
    assert show(db.query("+run").rewrite(e)) == "neg(x)"
    assert show(db.query("+compile").rewrite(e)) == "log(identity(x))"
    assert show(db.query("+run", "+compile").rewrite(e)) == "log(x)"
    assert show(db.query("+inner").rewrite(e)) == "neg(x)"
    assert show(db.query("+walk", "+group").rewrite(e)) == "log(identity(x))"
    asked = Query(["run"], subquery={"inner": Query([]), "walk": Query(["compile"])})
    assert show(db.query(asked).rewrite(e)) == "log(identity(x))"
    # a stage in which nothing is left is left out
    assert names(db.query("+compile")) == ["walk"]


def test_positions_are_those_of_the_outermost_sequence() -> None:
    inside = SequenceDB()
    inside.register("a", stage("a"), "run", position=100)
    db = SequenceDB("db")
    db.register("inside", inside, "run", position=1)
    rewriter = db.query(Query(["run"], position_cutoff=50, extra_rewrites=[(stage("mine"), 2)]))
    assert names(rewriter) == ["inside", "mine"]
    assert rewriter.rewriters[0] == inside.query("+run")


def test_what_is_registered_later_takes_part_in_later_queries() -> None:
    db, inner, group = outer()
    before = db.query("+run")
    assert db.query("+run") is before
    inner.register("to_sub", SubstitutionNodeRewriter(add, sub), "run")
    after = db.query("+run")
    assert after is not before
    assert show(before.rewrite(graph_of(add(x, y)))) == "add(x, y)"
    assert show(after.rewrite(graph_of(add(x, y)))) == "sub(x, y)"
    group.register("to_mul", SubstitutionNodeRewriter(sub, mul), "run")
    assert show(db.query("+run").rewrite(graph_of(add(x, y)))) == "mul(x, y)"


def test_what_was_registered_for_a_while_leaves_the_version_as_it_was(db: SequenceDB) -> None:
    inner = SequenceDB("inner")
    inner.register("deep", stage("deep"), "run")
    db.register("inner", inner, "run", position=3)
    before, rewriter = db.version, db.query(Query(["run"]))
    met = {before}
    for name in ("a", "b"):
        for changed in (inner, db):
            changed.register(name, stage(name), "run")
            assert db.version not in met
            met.add(db.version)
            assert db.query(Query(["run"])) != rewriter
            changed.unregister(name)
            assert db.version == before
            assert db.query(Query(["run"])) == rewriter
    db.register("early", stage("early"), "run", position=0.5, overwrite_existing=True)
    assert db.version not in met


def test_a_stand_in() -> None:
    db, inner, _ = outer()
    db.register("again", ProxyDB(inner), "run", position=3)
    assert names(db.query("+run")) == ["inner", "inner"]
    assert list(ProxyDB(inner)) == ["remove"]
    assert ProxyDB(inner).query("+run") == inner.query("+run")
    assert ProxyDB(inner, "mine").name == "mine"


def test_a_printed_map() -> None:
    db, inner, _ = outer()
    inner.register("merge", MergeOptimizer(), "run", cleanup=True)
    inner.register("end", stage("end"), final_rewriter=True)
    db.register("start", stage("start"), "fast", position=-1)
    assert (
        db.describe()
        == """\
position  name      kind                                      tags
      -1  start     FromFunctionGraphRewriter                 fast
       1  inner     EquilibriumDB                             compile run
            remove  RemovalNodeRewriter                       run
            merge   MergeOptimizer (cleans up)                run
            end     FromFunctionGraphRewriter (ends a round)
       2  walk      TopoDB                                    compile run
       0    neg     SubstitutionNodeRewriter                  compile"""
    )
    assert (
        db.describe(depth=1)
        == """\
position  name   kind                       tags
      -1  start  FromFunctionGraphRewriter  fast
       1  inner  EquilibriumDB              compile run
       2  walk   TopoDB                     compile run"""
    )


def test_threads_register_and_ask() -> None:
    """Nothing is lost and nothing is torn: every answer has all that was registered before the question."""
    db = SequenceDB("db")
    inner = EquilibriumDB("inner")
    db.register("inner", inner, "run")
    failures: list[BaseException] = []
    gate = threading.Barrier(8)

    def work(worker: int) -> None:
        try:
            gate.wait()
            for i in range(40):
                name = f"{worker}.{i}"
                inner.register(name, RemovalNodeRewriter(identity, name=name), "run")
                db.register(name, stage(name), "run", position=worker)
                answer = db.query("+run")
                found = {
                    r.name
                    for part in answer.rewriters
                    if isinstance(part, EquilibriumGraphRewriter)
                    for r in part.rewriters
                }
                assert {f"{worker}.{j}" for j in range(i + 1)} <= found
                assert {f"{worker}.{j}" for j in range(i + 1)} <= set(names(answer))
                with pytest.raises(ValueError, match="already"):
                    inner.register(name, RemovalNodeRewriter(identity))
        except BaseException as error:  # noqa: BLE001  # told to the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=[i]) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(list(inner)) == 320
    assert [entry.position for entry in db.entries] == sorted(entry.position for entry in db.entries)


tags = st.frozensets(st.sampled_from("abcd"), max_size=3)


@given(st.lists(tags, max_size=6), tags, tags, tags)
def test_a_query_takes_by_its_definition(
    registered: list[frozenset[str]], include: frozenset[str], require: frozenset[str], exclude: frozenset[str]
) -> None:
    db = SequenceDB()
    for i, its_tags in enumerate(registered):
        db.register(str(i), stage(str(i)), *its_tags, position=-i)
    expected = [
        str(i)
        for i, its in reversed(list(enumerate(registered)))
        if its & include and require <= its and not its & exclude
    ]
    assert names(db.query(Query(include, require, exclude))) == expected


def test_databases_are_typed() -> None:
    """What a query gives is known to mypy: these lines would not type-check otherwise."""
    inner: RewriteDatabase[Any, EquilibriumGraphRewriter] = EquilibriumDB()
    graph: FunctionGraph = inner.query("+x").rewrite(graph_of(x))
    assert graph == graph_of(x)
    assert SequenceDB().query("+x").rewriters == ()
    assert in2out(LocalGroupDB().query("+x")).rewrite(graph) is graph
