import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_things import SHAPES, dense, random_factors
from sedil.arrays import pack, to_numpy, unpack
from sedil.engines.portable import products

N = 3
AXES = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=4)


def operands(axes, n, seed):
    """Factors, packed codes and packed patches of random content."""
    rng = np.random.default_rng(seed)
    patch_shape, n_atoms = zip(*axes, strict=True)
    factors = random_factors(patch_shape, n_atoms, rng)
    return factors, rng.standard_normal((*n_atoms, n)), rng.standard_normal((*patch_shape, n))


def fixed_operands(n_axes):
    return operands(list(zip(*SHAPES[n_axes], strict=True)), N, seed=n_axes)


@pytest.mark.parametrize("shape", [(4,), (4, 3), (4, 3, 2), (1, 3, 2), (0, 2)])
def test_pack_moves_samples_last_and_unpack_moves_them_back(shape):
    samples = np.arange(np.prod(shape), dtype=float).reshape(shape)
    packed = pack(samples)
    assert packed.shape == (*shape[1:], shape[0])
    assert packed.flags.c_contiguous
    assert np.array_equal(packed, np.moveaxis(samples, 0, -1))
    assert np.array_equal(unpack(packed), samples)
    assert unpack(packed).flags.c_contiguous


@pytest.mark.parametrize("n_axes", SHAPES)
def test_synthesize_and_analyze_are_the_dense_matrix(n_axes, arrays):
    factors, codes, patches = fixed_operands(n_axes)
    matrix = dense(factors)
    own_factors = [*map(arrays.make, factors)]
    arrays.check(
        products.synthesize(own_factors, arrays.make(codes)),
        (matrix @ codes.reshape(-1, N)).reshape(patches.shape),
    )
    arrays.check(
        products.analyze(own_factors, arrays.make(patches)),
        (matrix.T @ patches.reshape(-1, N)).reshape(codes.shape),
    )


@given(axes=AXES, n=st.integers(1, 3), seed=st.integers(0, 2**32 - 1))
def test_analyze_is_the_adjoint_of_synthesize(axes, n, seed):
    factors, codes, patches = operands(axes, n, seed)
    left = np.vdot(products.synthesize(factors, codes), patches)
    right = np.vdot(codes, products.analyze(factors, patches))
    assert left == pytest.approx(right, rel=1e-11, abs=1e-11)


@given(axes=AXES, n=st.integers(1, 3), seed=st.integers(0, 2**32 - 1))
def test_factor_gradient_is_the_derivative_of_the_inner_product(axes, n, seed):
    """The map is linear in each factor, so moving one factor by E changes it by <gradient, E>, exactly."""
    factors, codes, residual = operands(axes, n, seed)
    rng = np.random.default_rng([seed, 1])
    for k, gradient in enumerate(products.factor_gradients(factors, codes, residual)):
        move = rng.standard_normal(factors[k].shape)
        moved = (*factors[:k], move, *factors[k + 1 :])
        change = np.vdot(residual, products.synthesize(moved, codes))
        assert np.vdot(gradient, move) == pytest.approx(change, rel=1e-11, abs=1e-11)


def test_factor_gradients_of_two_axes_are_the_formulas_of_the_docstring():
    (a, b), codes, residual = fixed_operands(2)
    first, second = products.factor_gradients((a, b), codes, residual)
    samples = range(N)
    np.testing.assert_allclose(first, sum(residual[..., j] @ b @ codes[..., j].T for j in samples))
    np.testing.assert_allclose(second, sum(residual[..., j].T @ a @ codes[..., j] for j in samples))


@pytest.mark.parametrize("n_axes", SHAPES)
def test_factor_gradients_agree_with_numpy(n_axes, arrays):
    operands_ = fixed_operands(n_axes)
    factors, codes, residual = operands_
    found = products.factor_gradients([*map(arrays.make, factors)], arrays.make(codes), arrays.make(residual))
    for own, expected in zip(found, products.factor_gradients(*operands_), strict=True):
        arrays.check(own, expected)


def test_to_numpy_takes_arrays_of_every_library(arrays):
    values = np.array([[1.0, 2.0], [3.0, 4.0]])
    fetched = to_numpy(arrays.make(values))
    assert type(fetched) is np.ndarray
    assert fetched.dtype == arrays.precision
    assert np.array_equal(fetched, values)


def test_to_numpy_takes_tensors_that_record_gradients(torch):
    tensor = torch.ones(2, requires_grad=True)
    assert np.array_equal(to_numpy(tensor), [1, 1])


def test_to_numpy_fetches_from_the_device_of_cupy():
    class OnDevice:
        def get(self):
            return np.array([7.0])

    assert np.array_equal(to_numpy(OnDevice()), [7])
