"""Engines keep one contract: a new one takes one line, and everything works on it."""

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import sedil
import toy_engine
from random_things import training_patches
from sedil.engines import choice, choose_engine, contract
from sedil.engines.contract import Effort, L1Problem, PursuitCoding

SOURCE = Path(__file__).parents[2] / "src"

PATCHES = training_patches(30, (4, 4)).astype(np.float32)
IMAGE = (100 + 20 * training_patches(1, (24, 20))[0]).astype(np.float32)
VOLUME = (100 + 20 * training_patches(1, (9, 10, 11))[0]).astype(np.float32)
MISSING = np.random.default_rng(0).random(IMAGE.shape) < 0.3
SQUARES, CUBES = (sedil.odct((4,) * n_axes, 6).like(IMAGE) for n_axes in (2, 3))

WORK = {
    "l1": lambda **how: sedil.sparse_code(SQUARES, PATCHES, 0.5, **how),
    "refit": lambda **how: sedil.sparse_code(SQUARES, PATCHES, 0.5, method="refit", **how),
    "masked": lambda **how: sedil.sparse_code(SQUARES, PATCHES, 0.5, mask=PATCHES > 2, **how),
    "sparse rows": lambda **how: sedil.sparse_code(SQUARES, PATCHES, 0.5, sparse=True, **how).toarray(),
    "pursuit": lambda **how: sedil.sparse_code(SQUARES, PATCHES, method="pursuit", max_error=1, **how),
    "image": lambda **how: sedil.denoise(IMAGE, 20, SQUARES, **how),
    "image by pursuit": lambda **how: sedil.denoise(IMAGE, 20, SQUARES, method="pursuit", **how),
    "volume": lambda **how: sedil.denoise(VOLUME, 20, CUBES, **how),
    "image by groups": lambda **how: sedil.denoise(IMAGE, 20, method="groups", **how),
    "holes by groups": lambda **how: sedil.inpaint(IMAGE, MISSING, passes=2, **how),
    "holes": lambda **how: sedil.inpaint(IMAGE, MISSING, SQUARES, **how),
}


@pytest.fixture
def toy(monkeypatch):
    """The toy engine, registered by one line."""
    monkeypatch.setitem(choice.ENGINES, "toy", "toy_engine")
    toy_engine.ENGINE.calls.clear()
    return toy_engine.ENGINE


@pytest.fixture
def wanted_toy(toy, monkeypatch):
    """The same, registered as the most wanted."""
    monkeypatch.setattr(choice, "ENGINES", {"toy": "toy_engine", **choice.ENGINES})
    return toy


def operations(protocol):
    return {name for name, value in vars(protocol).items() if inspect.isfunction(value) and name[0] != "_"}


@pytest.mark.parametrize("name", WORK)
def test_everything_works_on_a_third_engine(toy, name):
    result = WORK[name](engine="toy")
    assert toy.calls["refusal"]
    assert_array_equal(result, WORK[name](engine="portable"))


@pytest.mark.parametrize("name", WORK)
def test_the_first_engine_that_suits_is_the_default(wanted_toy, name):
    result = WORK[name]()
    assert wanted_toy.calls["suits"]
    assert_array_equal(result, WORK[name](engine="portable"))


def test_products_of_a_dictionary_ask_the_engine(wanted_toy):
    codes = SQUARES.analyze(PATCHES)
    SQUARES.synthesize(codes)
    assert wanted_toy.calls["analyze"] == wanted_toy.calls["synthesize"] == 1


def test_signals_that_are_filled_whole_ask_the_engine(wanted_toy):
    hole = np.eye(4, dtype=bool)
    sedil.inpaint(PATCHES[0], hole, SQUARES)
    assert wanted_toy.calls["solve_l1"] == 1


def test_an_engine_is_asked_for_everything_but_learning(wanted_toy):
    for work in WORK.values():
        work(engine="toy")
        work()
    SQUARES.synthesize(SQUARES.analyze(PATCHES))
    assert operations(contract.Engine) - set(wanted_toy.calls) == {"training_set"}


def test_learning_works_on_a_third_engine(toy):
    how = {"n_atoms": 5, "max_iterations": 3, "random_state": 0}
    learned = sedil.learn(PATCHES, engine="toy", **how).dictionary
    assert toy.calls["training_set"]
    expected = sedil.learn(PATCHES, engine="portable", **how).dictionary
    for factor, other in zip(learned.factors, expected.factors, strict=True):
        assert_array_equal(factor, other)


@pytest.mark.parametrize("operation", sorted(operations(contract.Engine)))
@pytest.mark.parametrize("name", choice.ENGINES)
def test_every_engine_has_every_operation_with_the_same_parameters(name, operation):
    engine = choice._load(name)
    assert engine.name == name
    wanted = list(inspect.signature(getattr(contract.Engine, operation)).parameters.values())[1:]
    offered = inspect.signature(getattr(engine, operation)).parameters.values()
    assert [(each.name, each.kind, each.default) for each in offered] == [
        (each.name, each.kind, each.default) for each in wanted
    ]


@pytest.mark.parametrize("name", choice.ENGINES)
def test_every_training_set_has_every_operation(name):
    training_set = choice._load(name).training_set(PATCHES, (6, 6), None, None)
    assert training_set.n_samples == len(PATCHES)
    for operation in operations(contract.TrainingSet):
        wanted = list(inspect.signature(getattr(contract.TrainingSet, operation)).parameters)[1:]
        assert list(inspect.signature(getattr(training_set, operation)).parameters) == wanted


def test_the_last_engine_takes_all_arrays(arrays):
    last = choice._load(list(choice.ENGINES)[-1])
    assert last.suits(arrays.make([1.0]), (10**6,), True)
    assert last.refusal(arrays.make([1.0]), True) is None


@pytest.mark.parametrize("name", ["steam", "", 3, ["fused"]])
def test_an_unknown_engine_lists_the_known_ones(name):
    with pytest.raises(ValueError, match=r"^engine must be one of 'fused', 'portable' or None, got"):
        choice.choose_engine(name, PATCHES, (6, 6))


# What engines promise each other


@pytest.mark.parametrize("name", choice.ENGINES)
def test_a_problem_without_samples_has_no_codes(name):
    engine = choice._load(name)
    empty = np.empty((0, 4, 4), np.float32)
    result = engine.solve_l1(L1Problem(SQUARES.factors, empty, 0.5), Effort(1e-3, 10))
    assert (result.codes.shape, result.relative_gap.shape) == ((0, 6, 6), (0,))
    assert engine.pursue(SQUARES.factors, empty, PursuitCoding(1.0, 4)).shape == (0, 6, 6)


@pytest.mark.parametrize("name", choice.ENGINES)
def test_solvers_are_offered_the_best_first_and_solve(name):
    engine = choice._load(name)
    problem = L1Problem(SQUARES.factors, PATCHES, 0.5)
    for solver in engine.solvers((6, 6), masked=False):
        result = engine.solve_l1(problem, Effort(1e-4, 5000), solver)
        assert (result.relative_gap <= 1e-4).all()
    assert engine.solvers((6, 6), masked=True) == ("fista",)


def test_descent_ends_after_the_looks_it_is_given():
    engine = choice._load("fused")
    problem = L1Problem(SQUARES.factors, PATCHES, 0.01)
    cut, whole = (engine.solve_l1(problem, Effort(1e-6, 5000, looks), "descent") for looks in (1, None))
    assert cut.n_iterations == 1
    assert (cut.relative_gap > 1e-6).any()
    assert (whole.relative_gap <= 1e-6).all()


# Nobody but the choice knows engines by their names


def comparisons_with_engines(file):
    """Lines in which a name of an engine is compared with something, or stands in a `match`."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Compare | ast.MatchValue):
            words = {inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant)}
            if words & set(choice.ENGINES):
                yield node.lineno


FILES = [
    pytest.param(file, id=str(file.relative_to(SOURCE)))
    for file in sorted((SOURCE / "sedil").rglob("*.py"))
    if file != SOURCE / "sedil/engines/choice.py"
]


@pytest.mark.parametrize("file", FILES)
def test_no_name_of_an_engine_is_compared(file):
    assert not list(comparisons_with_engines(file))


@pytest.mark.parametrize(
    "text",
    ['a == "fused"', '"portable" != a', 'a in ("fused", "x")', 'match a:\n    case "fused":\n        1'],
)
def test_comparisons_are_found(tmp_path, text):
    (tmp_path / "a.py").write_text(text)
    assert list(comparisons_with_engines(tmp_path / "a.py"))


def test_rows_are_analyzed_as_packed_patches_are(rng):
    factors = [rng.standard_normal(shape).astype(np.float32) for shape in ((3, 5), (4, 2), (2, 7))]
    patches = rng.standard_normal((301, 3, 4, 2)).astype(np.float32)
    expected = np.einsum("nabc,ai,bj,ck->nijk", patches, *factors).reshape(301, -1)
    rows = patches.reshape(301, -1)
    for name in ("fused", "portable"):
        codes = choose_engine(name, rows, ()).analyze_rows(factors, rows)
        np.testing.assert_allclose(codes, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("some", [slice(0, 1), slice(3, 4), slice(7, 200), slice(0, 0)])
def test_fused_rows_have_the_same_bits_whatever_comes_with_them(some, rng):
    factors = [np.linalg.qr(rng.standard_normal((4, 4)))[0].astype(np.float32)] * 3
    rows = rng.standard_normal((301, 64)).astype(np.float32)
    analyze_rows = choose_engine("fused", rows, ()).analyze_rows
    np.testing.assert_array_equal(analyze_rows(factors, rows[some]), analyze_rows(factors, rows)[some])
