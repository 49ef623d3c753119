"""fathom.morphology, allocation and direction: arrays of every kind, batches, places for results, what is refused."""

import fathom
import numpy as np
import pytest
from fathom import morphology

NAMES = morphology.__all__


def ball_by_definition(mask, radius):
    """Dilation: every element with one of the mask no farther than the radius."""
    places = np.argwhere(mask)
    every = np.indices(mask.shape).reshape(mask.ndim, -1).T
    near = (((every[:, None] - places[None]) ** 2).sum(-1) <= radius**2).any(1)
    return near.reshape(mask.shape)


@pytest.fixture
def mask():
    return np.random.default_rng(0).random((2, 17, 23)) < 0.1


def test_dilation_and_closing(mask):
    one = mask[0]
    dilated = morphology.dilation(one, 2.5)
    assert dilated.dtype == np.bool_
    np.testing.assert_array_equal(dilated, ball_by_definition(one, 2.5))
    np.testing.assert_array_equal(morphology.closing(one, 2.5), ~ball_by_definition(~dilated, 2.5))


@pytest.mark.parametrize("name", NAMES)
def test_batches_are_images_by_themselves(mask, name):
    operation = getattr(morphology, name)
    together = operation(mask, 3, ndim=2, border="pad")
    for one, result in zip(mask, together):
        np.testing.assert_array_equal(operation(one, 3, border="pad", threads=1), result)


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int16, np.float32, np.float64, np.float16, ">i4"])
def test_any_elements(mask, dtype):
    np.testing.assert_array_equal(
        morphology.closing(mask.astype(dtype) * 3, 2), morphology.closing(mask, 2)
    )


def test_any_layout(mask):
    expected = morphology.opening(~mask, 1.5)
    for turned in (np.asfortranarray(~mask), np.repeat(~mask, 2, -1)[..., ::2], (~mask)[::-1, ::-1][::-1, ::-1]):
        np.testing.assert_array_equal(morphology.opening(turned, 1.5), expected)
    assert morphology.closing([0, 0, 1, 0, 1, 0, 0], 1).tolist() == [False, False, True, True, True, False, False]
    assert morphology.dilation(np.array(5), 1) and morphology.dilation(np.zeros((0, 3)), 1).shape == (0, 3)


def test_the_same_kind_comes_back(mask):
    torch = pytest.importorskip("torch")
    result = morphology.closing(torch.from_numpy(mask), 2)
    assert isinstance(result, torch.Tensor) and result.dtype == torch.bool
    np.testing.assert_array_equal(result.numpy(), morphology.closing(mask, 2))


def test_into_the_callers_array(mask):
    expected = morphology.gradient(mask, 1)
    for out in (np.empty(mask.shape, np.bool_), np.empty(mask.shape, np.uint8),
                np.empty((*mask.shape, 2), np.bool_)[..., 0]):
        assert morphology.gradient(mask, 1, out=out) is out
        np.testing.assert_array_equal(out, expected)
    with pytest.raises(ValueError, match="out shares memory with the input"):
        morphology.gradient(mask, 1, out=mask)
    with pytest.raises(TypeError, match="out has the dtype float32; it must have bool or uint8"):
        morphology.gradient(mask, 1, out=np.empty(mask.shape, np.float32))
    with pytest.raises(ValueError, match=r"out has the shape \(3,\); it must have \(2, 17, 23\)"):
        morphology.gradient(mask, 1, out=np.empty(3, np.bool_))


def test_labels():
    labels = np.zeros((9, 20), np.uint16)
    labels[2:6, 2:6] = 700
    labels[2:6, 11:15] = 3
    grown = morphology.dilation(labels, 3, labels=True)
    assert grown.dtype == np.uint16 and set(np.unique(grown)) == {0, 3, 700}
    assert (grown[3, 6:11] == [700, 700, 3, 3, 3]).all()  # as near to both: the lower
    np.testing.assert_array_equal(morphology.erosion(labels, 1, labels=True) != 0, morphology.erosion(labels, 1))
    out = np.empty_like(labels)
    assert morphology.closing(labels, 3, labels=True, out=out) is out
    with pytest.raises(TypeError, match="out has the dtype bool; it must have uint16"):
        morphology.dilation(labels, 3, labels=True, out=np.empty(labels.shape, bool))
    with pytest.raises(ValueError, match="labels are integers, not float64; convert them first"):
        morphology.dilation(labels.astype(float), 3, labels=True)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        (dict(radius=-1), ValueError, "the radius is -1.000000; it must be 0 or more"),
        (dict(radius="wide"), TypeError, "radius must be a number, not 'wide'"),
        (dict(radius=1, border="open"), ValueError, "border is 'open'; it must be one of 'ignore', 'pad', 'background'"),
        (dict(radius=1, spacing=(1, 2)), ValueError, "spacing has 2 values; give one number, or one for each of the 3"),
        (dict(radius=1, spacing=0), ValueError, "spacing"),
        (dict(radius=1, ndim=4), ValueError, "ndim is 4; it must be from 1 to the 3 axes of the array"),
        (dict(radius=1, threads=0), ValueError, "threads is 0; it must be 1 or more"),
        (dict(radius=np.inf, border="pad"), ValueError, "the border pad adds as many elements as the radius"),
    ],
)
def test_refuses(mask, arguments, error, message):
    with pytest.raises(error, match=message):
        morphology.closing(mask, **arguments)


def test_progress_rises_to_the_end():
    for labels in (False, True):
        heard = []
        morphology.closing(np.eye(1500, dtype=np.uint8), 3, labels=labels, progress=heard.append)
        assert heard == sorted(heard) and heard[-1] == 1


def test_expansion_breaks_ties_as_told():
    labels = np.random.default_rng(1).integers(1, 9, (40, 50)) * (np.random.default_rng(2).random((40, 50)) < 0.05)
    grown = fathom.expand_labels(labels, 6, ties="lowest")
    np.testing.assert_array_equal(grown[::-1, ::-1], fathom.expand_labels(labels[::-1, ::-1], 6, ties="lowest"))
    first = fathom.expand_labels(labels, 6)
    assert (grown <= first).all() and (grown < first).any() and ((grown == 0) == (first == 0)).all()
    with pytest.raises(ValueError, match="ties is 'last'; it must be one of 'first', 'lowest'"):
        fathom.expand_labels(labels, ties="last")
    with pytest.raises(ValueError, match='ties="lowest" is for the Euclidean metric'):
        fathom.expand_labels(labels, ties="lowest", metric="taxicab")


def test_allocation_and_direction_lead_to_the_site():
    random = np.random.default_rng(3)
    values = random.integers(0, 100, (2, 30, 41)).astype(np.float32)
    distances, indices = fathom.distance_transform(values, sites=">97", ndim=2, return_indices=True, spacing=(2, 0.5))
    found = fathom.allocation(values, sites=">97", ndim=2, spacing=(2, 0.5))
    which = np.arange(2)[:, None, None]
    np.testing.assert_array_equal(found, values[which, indices[:, 0], indices[:, 1]])
    degrees = np.radians(fathom.direction(values, sites=">97", ndim=2, spacing=(2, 0.5)))
    way = indices - np.indices((30, 41))[None]
    there = distances > 0
    np.testing.assert_allclose((-np.cos(degrees) * distances)[there], (way[:, 0] * 2.0)[there], atol=1e-4)
    np.testing.assert_allclose((np.sin(degrees) * distances)[there], (way[:, 1] * 0.5)[there], atol=1e-4)
    assert (fathom.direction(values, sites=">97", ndim=2)[~there] == 0).all()


def test_direction_without_a_site_and_what_it_refuses():
    assert np.isnan(fathom.direction(np.ones((2, 3)))).all()
    far = fathom.direction(np.array([[0, 1, 1, 1]]), max_distance=1.5)
    assert far[0, 1] == 270 and np.isnan(far[0, 2:]).all()
    out = np.empty((1, 4), np.float32)
    assert fathom.direction(np.array([[0, 1, 1, 1]]), out=out) is out
    with pytest.raises(ValueError, match="directions are of maps, with 2 axes of space, not 3"):
        fathom.direction(np.ones((2, 3, 4)))


@pytest.mark.skipif(bool(fathom.info().devices), reason="there is a device")
def test_without_a_device():
    x = np.ones((2, 3))
    for call in (lambda: fathom.morphology.erosion(x, 1, backend="cuda"), lambda: fathom.direction(x, backend="cuda")):
        with pytest.raises(fathom.DeviceError, match="no CUDA"):
            call()
    with pytest.raises(ValueError, match="stream is for arrays on a CUDA device"):
        fathom.morphology.erosion(x, 1, stream=0)
