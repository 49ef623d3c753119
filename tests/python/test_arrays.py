"""Every kind and layout of array goes in, and the same kind comes out."""

import fathom
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

MASK = (np.random.default_rng(0).random((17, 23)) > 0.1).astype(np.uint8)
EXPECTED = fathom.distance_transform(MASK)
DTYPES = "?bBhHiIlLqQefd"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("byte_order", "<>")
def test_element_types(dtype, byte_order):
    x = MASK.astype(np.dtype(dtype).newbyteorder(byte_order))
    np.testing.assert_array_equal(fathom.distance_transform(x), EXPECTED)


def test_values_that_bytes_alone_would_get_wrong():
    np.testing.assert_array_equal(fathom.distance_transform(np.array([-0.0, 1e-300, np.nan])), [0, 1, 2])
    np.testing.assert_array_equal(fathom.distance_transform(np.array([0, 2**-24], "f2")), [0, 1])
    np.testing.assert_array_equal(fathom.distance_transform(np.array([0, 2**63], "u8"), sites=">=9e18"), [1, 0])


@given(st.data())
def test_layouts(data):
    big = (np.random.default_rng(1).random((12, 14, 16)) > 0.2).astype(data.draw(st.sampled_from(["u1", "f4", "i8"])))
    if data.draw(st.booleans()):
        big = np.asfortranarray(big)
    steps = [data.draw(st.sampled_from([-3, -1, 1, 2])) for _ in range(3)]
    x = big[tuple(slice(None, None, step) for step in steps)].transpose(data.draw(st.permutations(range(3))))
    before = x.copy()
    np.testing.assert_array_equal(fathom.distance_transform(x), fathom.distance_transform(before))
    np.testing.assert_array_equal(fathom.distance_transform(x, ndim=2), fathom.distance_transform(before, ndim=2))
    np.testing.assert_array_equal(x, before)


def test_views_that_are_not_whole_elements_apart():
    packed = np.zeros(40, np.dtype([("a", "u1"), ("b", "<i4")]))
    packed["b"] = np.arange(40) % 7
    np.testing.assert_array_equal(fathom.distance_transform(packed["b"]), fathom.distance_transform(packed["b"].copy()))
    unaligned = np.frombuffer(b"x" + MASK.astype("i4").tobytes(), np.uint8)[1:].view("i4").reshape(MASK.shape)
    np.testing.assert_array_equal(fathom.distance_transform(unaligned), EXPECTED)


def test_read_only_broadcast_and_lists():
    x = MASK.copy()
    x.flags.writeable = False
    np.testing.assert_array_equal(fathom.distance_transform(x), EXPECTED)
    np.testing.assert_array_equal(fathom.distance_transform(MASK.tolist()), EXPECTED)
    np.testing.assert_array_equal(fathom.distance_transform(memoryview(MASK)), EXPECTED)
    stack = np.broadcast_to(MASK, (3, *MASK.shape))
    np.testing.assert_array_equal(fathom.distance_transform(stack, ndim=2)[2], EXPECTED)


def test_array_interface():
    class Foreign:
        __array_interface__ = MASK.__array_interface__

    result = fathom.distance_transform(Foreign())
    assert type(result) is np.ndarray
    np.testing.assert_array_equal(result, EXPECTED)


def test_no_axes_and_no_elements():
    assert fathom.distance_transform(np.array(0)).shape == ()
    assert fathom.distance_transform(7) == np.inf
    assert fathom.distance_transform(np.array(7), border="sites") == 1
    assert fathom.nearest_site(0) == 0
    for shape in [(0,), (0, 5), (5, 0), (3, 0, 2)]:
        distances, indices = fathom.distance_transform(np.zeros(shape), return_indices=True)
        assert distances.shape == shape and indices.shape == (len(shape), *shape)
        assert fathom.expand_labels(np.zeros(shape, int)).shape == shape
    assert fathom.distance_transform(np.zeros((0, 4, 5)), ndim=2).shape == (0, 4, 5)


class FromAnotherLibrary:
    """An array of a library that speaks the array API standard."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __array__(self, dtype=None, copy=None):
        return self.array

    def __array_namespace__(self):
        return Library


class Library:
    @staticmethod
    def from_dlpack(array):
        return FromAnotherLibrary(np.from_dlpack(array))


def test_other_libraries_get_their_own_kind_back():
    x = FromAnotherLibrary(MASK)
    distances, indices = fathom.distance_transform(x, return_indices=True)
    assert type(distances) is FromAnotherLibrary and type(indices) is FromAnotherLibrary
    np.testing.assert_array_equal(distances.array, EXPECTED)
    assert type(fathom.expand_labels(x)) is FromAnotherLibrary
    out = FromAnotherLibrary(np.empty(MASK.shape, np.float32))
    assert fathom.distance_transform(x, out=out) is out
    np.testing.assert_array_equal(out.array, EXPECTED)


def test_pytorch():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    x = torch.from_numpy(MASK)
    result = fathom.distance_transform(x, dtype=torch.float64)
    assert isinstance(result, torch.Tensor) and result.dtype == torch.float64
    np.testing.assert_array_equal(result.numpy().astype("f4"), EXPECTED)
    out = torch.empty(MASK.shape)
    assert fathom.distance_transform(x.bool(), out=out) is out
    np.testing.assert_array_equal(out.numpy(), EXPECTED)


def test_jax():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    if jax.default_backend() != "cpu":
        pytest.skip("test_cuda.py has what goes on there")
    x = jax.numpy.asarray(MASK)
    for dtype in ("bool", "int32", "float16", "float32"):
        distances, indices = fathom.distance_transform(x.astype(dtype), return_indices=True)
        assert isinstance(distances, jax.Array) and isinstance(indices, jax.Array)
        np.testing.assert_array_equal(np.asarray(distances), EXPECTED)
    grown = fathom.expand_labels(x, 2)
    assert isinstance(grown, jax.Array)
    np.testing.assert_array_equal(np.asarray(grown), fathom.expand_labels(MASK, 2))
    with pytest.raises(ValueError, match="out is read-only"):
        fathom.distance_transform(x, out=jax.numpy.empty(MASK.shape, "float32"))


class OnDevice:
    """Claims to lie on a device of DLPack's."""

    def __init__(self, kind):
        self.kind = kind

    def __dlpack_device__(self):
        return self.kind, 0

    def __dlpack__(self, **options):
        raise AssertionError("nothing may be read from a device that cannot be reached")


@pytest.mark.skipif(bool(fathom.info().devices), reason="there is a CUDA device")
def test_cuda_out_of_reach():
    class WithCudaInterface:
        __cuda_array_interface__ = {}

    for x in (OnDevice(2), OnDevice(13), WithCudaInterface()):
        with pytest.raises(fathom.DeviceError, match="x lies on a CUDA device"):
            fathom.distance_transform(x)
        with pytest.raises(fathom.DeviceError, match="out lies on a CUDA device"):
            fathom.distance_transform(MASK, out=x)
        with pytest.raises(fathom.DeviceError, match="x lies on a CUDA device"):
            fathom.fill_nearest(x)
    with pytest.raises(fathom.DeviceError, match="CUDA"):
        fathom.distance_transform(MASK, backend="cuda")


def test_unknown_devices():
    with pytest.raises(fathom.DeviceError, match="DLPack type 8"):
        fathom.distance_transform(OnDevice(8))
    assert issubclass(fathom.DeviceError, RuntimeError) and fathom.DeviceError.__module__ == "fathom"


@pytest.mark.parametrize("make", [
    lambda shape, dtype: np.full(shape, 9, dtype),
    lambda shape, dtype: np.full(shape, 9, dtype, order="F"),
    lambda shape, dtype: np.full(shape, 9, dtype)[..., ::-1],
    lambda shape, dtype: np.full(shape, 9, np.dtype(dtype).newbyteorder(">")),
    lambda shape, dtype: np.full((*shape[:-1], 40), 9, dtype)[..., : shape[-1]],
])
def test_results_go_where_the_caller_says(make):
    out, indices_out = make(MASK.shape, "f8"), make((2, *MASK.shape), "i8")
    distances, indices = fathom.distance_transform(MASK, return_indices=True, out=out, indices_out=indices_out)
    assert distances is out and indices is indices_out
    np.testing.assert_array_equal(out.astype("f4"), EXPECTED)
    np.testing.assert_array_equal(indices, fathom.distance_transform(MASK, return_indices=True)[1])
    nearest = make(MASK.shape, "i4")
    assert fathom.nearest_site(MASK, out=nearest) is nearest
    np.testing.assert_array_equal(nearest, np.ravel_multi_index(tuple(indices), MASK.shape))
    labels = MASK.astype("i2")
    grown = make(MASK.shape, "i2")
    assert fathom.expand_labels(labels, out=grown) is grown
    np.testing.assert_array_equal(grown, fathom.expand_labels(labels))
