"""The fused engine against the portable one, its oracle."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

import sedil
from sedil.arrays import pack, unpack
from sedil.engines import choose_engine
from sedil.engines.contract import Effort, PursuitCoding
from sedil.engines.fused import sparse_coding
from sedil.engines.fused.engine import ENGINE
from sedil.engines.fused.kernels import blocks, compilation
from sedil.engines.fused.kernels.cost import CostWorkspace
from sedil.engines.fused.kernels.vectors import WIDTH
from sedil.engines.fused.rows import from_blocks, to_blocks
from sedil.engines.fused.sparse_coding import MAX_LOOKS, Task, solve_rows
from sedil.engines.fused.training import FusedTrainingSet
from sedil.engines.portable import products
from sedil.engines.portable.l1 import LassoProblem, admm, fista, refit
from sedil.engines.portable.omp import pursuit
from sedil.engines.portable.training import PortableTrainingSet
from sedil.learning.conjugate_gradient import advance, start
from sedil.learning.line_search import LineSearch
from sedil.manifold import Point, ProductManifold
from sedil.objective import Objective, Weights

SHAPES = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 11)), min_size=1, max_size=4).filter(
    lambda sizes: prod(length for length, _ in sizes) <= 200 and prod(count for _, count in sizes) <= 400
)
# No two atoms that coincide or nearly do, between which rounding would choose.
DISTINCT = SHAPES.filter(lambda sizes: all(length > 2 for length, _ in sizes))
FEW = settings(max_examples=25, deadline=None)


def random_factors(sizes, rng):
    factors = [rng.standard_normal(size) for size in sizes]
    return [(factor / np.linalg.norm(factor, axis=0)).astype(np.float32) for factor in factors]


def random_patches(factors, n, rng):
    return rng.standard_normal((n, *(factor.shape[0] for factor in factors))).astype(np.float32)


def flat(samples):
    return samples.reshape(len(samples), -1)


def lasso(factors, patches, penalty, weights=None, mask=None):
    """The problem of the portable engine, for packed patches."""
    thresholds = penalty if weights is None else penalty * weights[..., None]
    if mask is None:
        return LassoProblem(factors, patches, thresholds)
    known = (~mask).astype(patches.dtype)
    return LassoProblem(factors, patches * known, thresholds, known)


def solve_l1(
    factors,
    patches,
    thresholds,
    tolerance,
    most,
    known=None,
    initial=None,
    refits=0,
    solver="fista",
    threads=1,
):
    """Results of the fused engine, one row a sample."""
    known = np.empty((0, patches.shape[1]), np.float32) if known is None else known.astype(np.float32)
    effort = Effort(tolerance, most)
    return solve_rows(
        Task(factors, patches, thresholds, known, initial, effort, solver, refits), threads=threads
    )


@njit
def both_products(operator, codes, patches, back, workspace):
    """Products that are called from kernels alone have no way in from Python."""
    blocks.synthesize(operator, codes, patches, workspace)
    blocks.analyze(operator, patches, back, workspace)


@FEW
@given(sizes=SHAPES, seed=st.integers(0, 100))
def test_products_agree(sizes, seed):
    rng = np.random.default_rng(seed)
    factors = random_factors(sizes, rng)
    operator = blocks.Operator.create(factors)
    workspace = blocks.block_workspace(operator)
    codes = rng.standard_normal((prod(operator.counts), WIDTH)).astype(np.float32)
    patches = np.empty((prod(operator.lengths), WIDTH), np.float32)
    back = np.empty_like(codes)
    both_products(operator, codes, patches, back, workspace)
    expected = products.synthesize(factors, codes.reshape(*operator.counts, -1))
    np.testing.assert_allclose(patches, expected.reshape(patches.shape), atol=1e-4)
    expected = products.analyze(factors, patches.reshape(*operator.lengths, -1))
    np.testing.assert_allclose(back, expected.reshape(back.shape), atol=1e-3)


@FEW
@given(sizes=SHAPES, n=st.sampled_from([1, 2, 31, 33, 100]), masked=st.booleans(), seed=st.integers(0, 100))
def test_l1_codes_agree(sizes, n, masked, seed):
    rng = np.random.default_rng(seed)
    factors = random_factors(sizes, rng)
    patches = random_patches(factors, n, rng)
    weights = rng.uniform(0.5, 2, [count for _, count in sizes]).astype(np.float32)
    mask = rng.random(patches.shape) < 0.3 if masked else None
    problem = lasso(factors, pack(patches), 0.4, weights, None if mask is None else pack(mask))
    known = None if mask is None else ~flat(mask)
    seen = patches if mask is None else np.where(mask, 0, patches)
    expected = fista(problem, Effort(1e-5, 40))
    found = solve_l1(factors, flat(seen), 0.4 * weights.ravel(), 1e-5, 40, known=known)
    np.testing.assert_allclose(found.codes, flat(unpack(expected.codes)), atol=5e-3)
    np.testing.assert_allclose(found.relative_gap, expected.relative_gap, atol=2e-3)


@FEW
@given(sizes=DISTINCT, n=st.sampled_from([1, 31, 33]), seed=st.integers(0, 100))
def test_admm_codes_agree(sizes, n, seed):
    rng = np.random.default_rng(seed)
    factors = random_factors(sizes, rng)
    patches = random_patches(factors, n, rng)
    expected = admm(lasso(factors, pack(patches), 0.8), Effort(1e-6, 40))
    found = solve_l1(factors, flat(patches), 0.8, 1e-6, 40, solver="admm")
    np.testing.assert_allclose(found.codes, flat(unpack(expected.codes)), atol=5e-3)
    np.testing.assert_allclose(found.relative_gap, expected.relative_gap, atol=2e-3)


def gaps_in_float64(factors, patches, thresholds, codes):
    matrix = sedil.SeparableDictionary(factors, normalize=True).as_matrix().astype(np.float64)
    problem = lasso([matrix], patches.T.astype(np.float64), 1.0, thresholds)
    return problem.relative_gap(codes.T.astype(np.float64))


@FEW
@given(
    sizes=SHAPES,
    n=st.sampled_from([1, 2, 33]),
    penalty=st.sampled_from([0.02, 0.4, 2.0]),
    warm=st.booleans(),
    seed=st.integers(0, 100),
)
def test_descent_solves_the_same_problem(sizes, n, penalty, warm, seed):
    rng = np.random.default_rng(seed)
    factors = random_factors(sizes, rng)
    patches = flat(random_patches(factors, n, rng))
    n_atoms = prod(count for _, count in sizes)
    thresholds = penalty * rng.uniform(0.5, 2, n_atoms).astype(np.float32)
    initial = rng.standard_normal((n, n_atoms)) * (rng.random((n, n_atoms)) < 0.3) if warm else None
    found = solve_l1(factors, patches, thresholds, 1e-3, 5000, initial=initial, solver="descent")
    gaps = gaps_in_float64(factors, patches, thresholds, found.codes)
    np.testing.assert_allclose(found.relative_gap, gaps, atol=2e-5)
    assert gaps.max() < 1.1e-3


def test_descent_leaves_what_it_cannot_solve_to_fista(rng, monkeypatch):
    factors = random_factors([(4, 9), (4, 9)], rng)
    patches = flat(random_patches(factors, 40, rng))
    for name in ("MAX_LOOKS", "CROWDED_LOOKS"):
        monkeypatch.setattr(f"sedil.engines.fused.sparse_coding.{name}", 1)
    found = solve_l1(factors, patches, 0.1, 1e-3, 2000, solver="descent")
    assert found.relative_gap.max() < 1e-3
    assert found.n_iterations.max() > 1  # descent takes one look at most


def test_a_sample_has_the_same_code_alone_and_among_others(rng):
    factors = random_factors([(4, 9), (4, 9)], rng)
    patches = flat(random_patches(factors, 40, rng))
    together = solve_l1(factors, patches, 0.02, 1e-5, 1000, solver="descent")
    for sample in np.argsort(together.n_iterations)[[0, 20, 39]]:
        alone = solve_l1(factors, patches[[sample]], 0.02, 1e-5, 1000, solver="descent")
        np.testing.assert_array_equal(alone.codes[0], together.codes[sample])


def test_lanes_of_odd_and_even_age_are_tested_for_restart_in_their_own_even_iterations(rng):
    factors = random_factors([(4, 7), (5, 6)], rng)
    patches = random_patches(factors, 100, rng)
    # 45 iterations make a look at the gaps every 9: lanes that take a new sample then are of other parity.
    found = solve_l1(factors, flat(patches), 0.1, 1e-2, 45)
    assert len(np.unique(found.n_iterations % 2)) == 2
    problem = lasso(factors, pack(patches), 0.1)
    expected = fista(problem, Effort(1e-2, 45), check_every=9).codes
    np.testing.assert_allclose(found.codes.T, expected.reshape(42, 100), atol=2e-3)


def test_a_sample_that_overflows_does_not_spoil_the_next_one_in_its_lane(rng):
    factors = random_factors([(4, 7), (5, 6)], rng)
    patches = flat(random_patches(factors, 40, rng))
    expected = solve_l1(factors, patches, 0.3, 1e-3, 100).codes
    patches[:WIDTH] = 3e38
    found = solve_l1(factors, patches, 0.3, 1e-3, 100).codes
    np.testing.assert_array_equal(found[WIDTH:], expected[WIDTH:])


def test_descent_at_a_solution_takes_one_look(rng):
    factors = random_factors([(4, 7), (5, 6)], rng)
    patches = flat(random_patches(factors, 50, rng))
    cold = solve_l1(factors, patches, 0.5, 1e-4, 1000, solver="descent")
    warm = solve_l1(factors, patches, 0.5, 2e-4, 1000, initial=cold.codes, solver="descent")
    assert cold.n_iterations.max() > warm.n_iterations.max() == 0
    np.testing.assert_array_equal(warm.codes, cold.codes)


def test_descent_on_a_zero_patch_forgets_where_it_started(rng):
    factors = random_factors([(4, 7), (5, 6)], rng)
    patches = np.zeros((2, 20), np.float32)
    patches[1] = rng.standard_normal(20)
    initial = np.zeros((2, 42))
    initial[0] = 1
    # So few looks that FISTA does not help out.
    found = solve_l1(factors, patches, 0.5, 1e-4, MAX_LOOKS, initial=initial, solver="descent")
    assert not found.codes[0].any()
    assert gaps_in_float64(factors, patches[1:], np.full(42, 0.5), found.codes[1:]).max() < 1.1e-4


def test_warm_start_at_the_solution_stays_there(rng):
    factors = random_factors([(4, 7), (5, 6)], rng)
    patches = flat(random_patches(factors, 50, rng))
    cold = solve_l1(factors, patches, 0.5, 1e-5, 1000)
    warm = solve_l1(factors, patches, 0.5, 1e-5, 1000, initial=cold.codes)
    assert cold.n_iterations.max() > warm.n_iterations.max() == 10
    np.testing.assert_allclose(warm.codes, cold.codes, atol=1e-2)


def test_refit_agrees(rng):
    factors = random_factors([(4, 7), (5, 6)], rng)
    patches = random_patches(factors, 50, rng)
    mask = rng.random(patches.shape) < 0.2
    problem = lasso(factors, pack(patches), 1.0, None, pack(mask))
    expected = refit(problem, fista(problem, Effort(1e-6, 500)).codes, 30)
    seen, known = flat(np.where(mask, 0, patches)), ~flat(mask)
    found = solve_l1(factors, seen, 1.0, 1e-6, 500, known=known, refits=30)
    np.testing.assert_allclose(found.codes, flat(unpack(expected)), atol=2e-3)


@FEW
@given(sizes=DISTINCT, n=st.sampled_from([31, 33, 64]), seed=st.integers(0, 100))
def test_pursuit_agrees(sizes, n, seed):
    rng = np.random.default_rng(seed)
    factors = random_factors(sizes, rng)
    patches = random_patches(factors, n, rng)
    most = max(prod(map(min, sizes)) // 2, 1)  # half the rank: dependent atoms could be exchanged
    expected = flat(unpack(pursuit(factors, pack(patches), PursuitCoding(0.8, most))))
    found = flat(ENGINE.pursue(factors, patches, PursuitCoding(0.8, most)))
    matrix = sedil.SeparableDictionary(factors).as_matrix()
    errors = [np.linalg.norm(flat(patches) - codes @ matrix.T, axis=1) for codes in (found, expected)]
    np.testing.assert_allclose(*errors, atol=0.05 * np.sqrt(patches[0].size))
    assert np.median(np.abs(found - expected).max(axis=1)) < 1e-2


@pytest.mark.parametrize("method", ["l1", "refit", "pursuit"])
def test_strided_and_read_only_patches(rng, method):
    dictionary = sedil.odct((4, 4), 6).like(np.zeros(1, np.float32))
    patches = rng.standard_normal((20, 8, 4)).astype(np.float32)[::2, ::2]
    read_only = np.ascontiguousarray(patches)
    read_only.flags.writeable = False
    options = {"penalty": 0.5, "max_error": 1.0, "method": method}
    strided, plain = (sedil.sparse_code(dictionary, array, **options) for array in (patches, read_only))
    np.testing.assert_array_equal(strided, plain)


def test_no_patches_and_patches_of_any_leading_shape(rng):
    dictionary = sedil.odct((4, 4), 6).like(np.zeros(1, np.float32))
    assert sedil.sparse_code(dictionary, np.zeros((0, 4, 4), np.float32), 0.1).shape == (0, 6, 6)
    patches = rng.standard_normal((2, 3, 4, 4)).astype(np.float32)
    codes = sedil.sparse_code(dictionary, patches, 0.1)
    np.testing.assert_array_equal(
        codes.reshape(6, 6, 6), sedil.sparse_code(dictionary, patches.reshape(6, 4, 4), 0.1)
    )


# Learning


def start_of_each_engine(sizes, n, seed):
    rng = np.random.default_rng(seed)
    factors = tuple(random_factors(sizes, rng))
    patches = random_patches(factors, n, rng)
    weights, manifold = Weights(20.0, 0.05, 0.01), ProductManifold(2.0 / n, (0.5,) * len(sizes))
    sets = FusedTrainingSet(patches, [count for _, count in sizes]), PortableTrainingSet(patches)
    return manifold, [(Objective(own, weights), Point(own.correlations(factors), factors)) for own in sets]


@FEW
@given(sizes=DISTINCT, n=st.sampled_from([1, 31, 70]), seed=st.integers(0, 100))
def test_costs_gradients_and_steps_agree(sizes, n, seed):
    manifold, starts = start_of_each_engine(sizes, n, seed)
    states = [start(objective, manifold, point) for objective, point in starts]
    for _ in range(3):
        fused, plain = states
        np.testing.assert_allclose(fused.terms, plain.terms, rtol=1e-4, atol=1e-6)
        assert fused.slope == pytest.approx(plain.slope, rel=1e-3)
        codes = [
            objective.training_set.export_codes(state.gradient.codes)
            for (objective, _), state in zip(starts, states, strict=True)
        ]
        np.testing.assert_allclose(*codes, atol=1e-3 * np.abs(codes[1]).max())
        for found, expected in zip(fused.gradient.factors, plain.gradient.factors, strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-3 * max(np.abs(expected).max(), 1e-3))
        states = [
            advance(objective, manifold, state, LineSearch())
            for (objective, _), state in zip(starts, states, strict=True)
        ]


def test_workspace_holds_all_products_also_with_fewer_atoms_than_entries(rng):
    operator = blocks.Operator.create(random_factors([(3, 11), (9, 2)], rng))
    assert CostWorkspace.create(operator).halves.shape[1] >= 11 * 9  # without the first factor


def test_learned_dictionaries_agree_and_threads_change_nothing(rng):
    patches = rng.standard_normal((3000, 6, 5)).astype(np.float32)
    runs = {"engine": "portable"}, {"threads": 1}, {"threads": 2}
    plain, one, two = (
        sedil.learn(patches, (8, 7), max_iterations=20, random_state=0, tolerance=0, **run) for run in runs
    )
    np.testing.assert_array_equal(one.codes, two.codes)
    np.testing.assert_allclose(one.history["objective"], plain.history["objective"], rtol=1e-3)
    for found, expected in zip(one.dictionary.factors, plain.dictionary.factors, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-2)


def test_engine_is_part_of_a_checkpoint(rng, tmp_path):
    patches = rng.standard_normal((40, 4, 4)).astype(np.float32)
    settings = {"random_state": 0, "checkpoint": tmp_path / "run.npz", "tolerance": 0}
    sedil.learn(patches, (5, 5), max_iterations=10, **settings)
    resumed = sedil.learn(patches, (5, 5), max_iterations=20, resume=True, **settings)
    assert resumed.n_iterations == 20
    with pytest.raises(ValueError, match="different engine"):
        sedil.learn(patches, (5, 5), resume=True, engine="portable", **settings)


def test_blocks_and_back(rng):
    samples = rng.standard_normal((70, 6)).astype(np.float32)
    stacked = to_blocks(samples)
    assert stacked.shape == (3, 6, WIDTH)
    np.testing.assert_array_equal(from_blocks(stacked, 70), samples)
    assert not stacked[2, :, 70 - 64 :].any()


# Which engine


@pytest.mark.parametrize(
    ("array", "n_atoms", "expected"),
    [
        (np.zeros(1, np.float32), (16, 16), "fused"),
        (np.zeros(1, np.float64), (16, 16), "portable"),
        (np.zeros(1, np.float32), (129, 128), "portable"),
        (np.zeros(1, np.float32), (128, 128), "fused"),
    ],
)
def test_arrays_decide(array, n_atoms, expected):
    assert choose_engine(None, array, n_atoms).name == expected
    assert choose_engine("portable", array, n_atoms).name == "portable"


def test_fused_engine_takes_any_number_of_atoms_when_asked_for():
    assert choose_engine("fused", np.zeros(1, np.float32), (129, 128)).name == "fused"


def test_mistakes_about_the_engine_are_named():
    with pytest.raises(ValueError, match="engine must be one of 'fused', 'portable' or None, got 'gpu'"):
        choose_engine("gpu", np.zeros(1), (2,))
    with pytest.raises(ValueError, match=r'engine="fused" works on NumPy arrays, got builtins\.list'):
        choose_engine("fused", [1.0], (2,))


# Compilation, processes, interruption


def test_slow_compilation_is_announced_once(monkeypatch, capsys):
    monkeypatch.setattr(compilation, "_PATIENCE", 0.01)
    monkeypatch.setattr(compilation, "_ready", set())
    monkeypatch.setattr(compilation, "_said", threading.Event())
    for kernel in ("one", "one", "another"):
        with compilation.announced(kernel):
            time.sleep(0.1)
    assert capsys.readouterr().err == "sedil: compiling for this machine, once ...\n"


def test_quick_calls_say_nothing(monkeypatch, capsys):
    monkeypatch.setattr(compilation, "_ready", set())
    with compilation.announced("some kernel"):
        pass
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("solver", ["descent", "fista"])
def test_a_long_run_of_compiled_kernels_is_not_taken_for_compilation(monkeypatch, solver):
    announced, entered = compilation.announced, []

    def counting(kernel):
        entered.append(kernel)
        return announced(kernel)

    monkeypatch.setattr(sparse_coding, "announced", counting)
    monkeypatch.setattr(sparse_coding, "_CHUNK", 32)
    patches = np.random.default_rng(0).standard_normal((90, 4)).astype(np.float32)
    solve_l1([np.eye(4, dtype=np.float32)], patches, 0.5, 1e-3, 100, solver=solver, threads=1)
    assert len(entered) == 3  # once a chunk, and not once around all of them


@pytest.mark.parametrize("was_on", [True, False])
def test_garbage_is_collected_again_after_compilation_if_it_was_before(monkeypatch, was_on):
    monkeypatch.setattr(compilation, "_ready", set())
    (gc.enable if was_on else gc.disable)()
    try:
        with suppress(ZeroDivisionError), compilation.announced("some kernel"):
            assert not gc.isenabled()
            raise ZeroDivisionError
        assert gc.isenabled() == was_on
    finally:
        gc.enable()


def test_import_is_light():
    code = "import sys, sedil; print(any(name in sys.modules for name in ('numba', 'sklearn', 'matplotlib')))"
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert result.stdout.strip() == "False"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_forked_process_computes_as_its_parent():
    code = """
import os, numpy as np, sedil
image = np.random.default_rng(0).standard_normal((40, 40)).astype(np.float32)
before = sedil.denoise(image, 0.5, threads=2)
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(sedil.denoise(image, 0.5, threads=2), before) else 3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_ctrl_c_stops_a_long_run():
    code = """
import numpy as np, sedil, sys
image = np.random.default_rng(0).standard_normal((3000, 3000)).astype(np.float32)
sedil.denoise(image[:40, :40], 0.1)
def progress(now):
    print("going", flush=True)
sedil.denoise(image, 0.01, progress=progress)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "going\n"
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in complaint
    assert time.monotonic() - began < 20
