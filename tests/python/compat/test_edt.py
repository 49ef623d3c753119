"""fathom.compat.edt beside edt itself."""

import numpy as np
import pytest
from fathom.compat import edt as ours
from masks import labels

theirs = pytest.importorskip("edt")
CALLS = ("edt", "edtsq", "sdf", "sdfsq")


def assert_equal(got, expected):
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("black_border", [False, True])
def test_to_the_last_bit(call, black_border):
    for image in labels(0, 60):
        expected = getattr(theirs, call)(image, black_border=black_border)
        assert_equal(getattr(ours, call)(image, black_border=black_border), expected)
        columns = np.asfortranarray(image)
        got = getattr(ours, call)(columns, black_border=black_border, parallel=2)
        assert_equal(got, expected)
        assert got.flags.f_contiguous


@pytest.mark.parametrize("call", CALLS)
def test_anisotropy(call):
    random = np.random.default_rng(1)
    for image in labels(2, 40):
        anisotropy = random.uniform(0.3, 9, image.ndim)
        given = float(anisotropy[0]) if image.ndim == 1 else anisotropy
        np.testing.assert_allclose(getattr(ours, call)(image, given), getattr(theirs, call)(image, given), rtol=1e-6)


def test_of_so_many_axes():
    random = np.random.default_rng(3)
    for ndim in (1, 2, 3):
        image = random.integers(0, 2, (6,) * ndim)
        for call in (f"edt{ndim}d", f"edt{ndim}dsq"):
            assert_equal(getattr(ours, call)(image), getattr(theirs, call)(image))
    with pytest.raises(TypeError, match="2 axes; it must have 3"):
        ours.edt3d(np.ones((3, 3)))


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("black_border", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_voxel_graph(ndim, black_border, order):
    random = np.random.default_rng(4)
    for _ in range(10):
        shape = random.integers(1, 9, ndim)
        image = np.asarray(random.integers(0, 3, shape), order=order)
        graph = np.asarray(random.integers(0, 64, shape).astype(np.uint8), order=order)
        for call in ("edt", "edtsq"):
            options = {"voxel_graph": graph, "black_border": black_border, "anisotropy": tuple([2, 3, 4][:ndim])}
            np.testing.assert_allclose(getattr(ours, call)(image, **options), getattr(theirs, call)(image, **options),
                                       rtol=1e-6)


def test_voxel_graph_errors():
    with pytest.raises(TypeError, match="2 or 3 axes"):
        ours.edt(np.ones(4), voxel_graph=np.ones(4, np.uint8))
    with pytest.raises(ValueError, match="must have"):
        ours.edt(np.ones((4, 4)), voxel_graph=np.ones(4, np.uint8))


def test_exact_where_float32_is_not():
    """The known difference: squares beyond 2^24, which edt adds up in float32."""
    line = np.ones((2, 6000), np.uint8)
    line[0, 0] = 0
    exact = np.add.outer(np.arange(2) ** 2, np.arange(6000) ** 2)
    assert_equal(ours.edtsq(line), exact.astype(np.float32))
    assert_equal(ours.edt(line), np.sqrt(exact).astype(np.float32))


def test_feature_transform():
    for image in labels(5, 30):
        if (image == image.flat[0]).all():
            continue
        nearest = ours.feature_transform(image)
        there = np.stack(np.unravel_index(nearest, image.shape))
        away = np.sqrt(((there - np.indices(image.shape)) ** 2).sum(0))
        np.testing.assert_allclose(away, ours.edt(image), rtol=1e-6)
        assert (image.ravel()[nearest] != image)[image != 0].all()


@pytest.mark.parametrize("in_place", [False, True])
def test_each(in_place):
    for image in labels(6, 20):
        for array in (image, np.asfortranarray(image)):
            distances = ours.edt(array)
            mine = [(key, part.copy(), part.flags.writeable) for key, part in ours.each(array, distances, in_place)]
            for key, part, writeable in mine:
                assert_equal(part, np.where(image == key, distances, 0).astype(np.float32))
                assert writeable != in_place
            assert [key for key, _, _ in mine] == sorted(set(image.ravel().tolist()) - {0})
            assert all(type(key) in (int, float) for key, *_ in mine)
            assert len(ours.each(array, distances)) == len(mine)


def test_what_edt_gets_wrong_quietly():
    assert (theirs.edt(np.ones((3, 3), np.float16)) == 0).all()
    assert np.isposinf(ours.edt(np.ones((3, 3), np.float16))).all()
    with pytest.raises(TypeError, match="dtype"):
        ours.edt(np.ones((3, 3), complex))
    with pytest.raises(ValueError, match="anisotropy"):
        ours.edt(np.ones((3, 3)), anisotropy=(1, 2, 3))
