"""Other libraries as oracles: SciPy, edt, OpenCV and SimpleITK, where they are installed.

Their known faults are excepted by name, next to the test that would meet them:
- OpenCV >= 4.8 is wrong on lines of 65,536 elements and more, and rounds its squares in float32: small images only,
  and a tolerance for the rounding.
- edt computes in float32: equality up to float32 rounding; its squares are exact below 2**24.
- SimpleITK's SignedMaurerDistanceMap puts its zero on the boundary pixels of the inside and computes in float32.
- SciPy's indices break ties in its own way: the sites they name must be as near, not the same.
"""

import pathlib
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from fathom_shim import FathomError, transform  # noqa: E402

SHAPES = [(1, 1), (1, 300), (300, 1), (31, 33), (128, 257), (7, 19, 23), (40, 64, 50)]
DENSITIES = [0.001, 0.05, 0.5, 0.97]


def masks():
    """Zeros are sites; each has at least one, since the peers do not agree on what to say without."""
    random = np.random.default_rng(7)
    for shape in SHAPES:
        for density in DENSITIES:
            mask = (random.random(shape) >= density).astype(np.uint8)
            mask[tuple(random.integers(0, n) for n in shape)] = 0
            yield mask


def labels_of(shape, seed=3):
    random = np.random.default_rng(seed)
    cells = random.integers(0, max(shape), (12, len(shape)))
    grid = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), -1)
    nearest = np.argmin(((grid[..., None, :] - cells) ** 2).sum(-1), -1)
    return np.array([0, 1, 2, 3, 0, 5, 6, 7, 1, 9, 0, 300], np.uint16)[nearest]


@pytest.fixture(params=list(masks()), ids=lambda m: "x".join(map(str, m.shape)) + f"-{(m == 0).mean():.3f}")
def mask(request):
    return request.param


def float32_close(got, expected):
    np.testing.assert_allclose(got, expected, rtol=3e-7, atol=0)


class TestSciPy:
    @pytest.fixture(autouse=True)
    def installed(self):
        self.ndimage = pytest.importorskip("scipy.ndimage", reason="SciPy is not installed")

    def test_distance(self, mask):
        expected = self.ndimage.distance_transform_edt(mask)
        got = transform(mask, distance=np.float64).distance
        np.testing.assert_array_equal(got, expected)

    def test_distance_is_the_same_in_float32(self, mask):
        expected = self.ndimage.distance_transform_edt(mask).astype(np.float32)
        np.testing.assert_array_equal(transform(mask, distance=np.float32).distance, expected)

    def test_indices_are_as_near(self, mask):
        got = transform(mask, squared=np.uint64, coordinates=np.int64)
        expected = self.ndimage.distance_transform_edt(mask, return_distances=False, return_indices=True)
        here = np.indices(mask.shape)
        np.testing.assert_array_equal(got.squared, ((expected - here) ** 2).sum(0))
        np.testing.assert_array_equal(got.squared, ((got.coordinates - here) ** 2).sum(0))

    def test_spacing(self, mask):
        spacing = [0.5, 2.25, 1.75][:mask.ndim]
        expected = self.ndimage.distance_transform_edt(mask, sampling=spacing)
        got = transform(mask, distance=np.float64, spacing=spacing).distance
        np.testing.assert_allclose(got, expected, rtol=1e-12)

    @pytest.mark.parametrize("metric", ["taxicab", "chessboard"])
    def test_other_metrics(self, mask, metric):
        expected = self.ndimage.distance_transform_cdt(mask, metric)
        np.testing.assert_array_equal(transform(mask, distance=np.float64, metric=metric).distance, expected)

    @pytest.mark.parametrize("metric", ["euclidean", "taxicab", "chessboard"])
    def test_brute_force_with_spacing(self, metric):
        mask = (np.random.default_rng(1).random((23, 31)) > 0.03).astype(np.uint8)
        sampling = [0.7, 1.3] if metric == "euclidean" else None  # SciPy: for the Euclidean metric only
        expected = self.ndimage.distance_transform_bf(mask, metric, sampling=sampling)
        got = transform(mask, distance=np.float64, metric=metric, spacing=sampling or ()).distance
        np.testing.assert_allclose(got, expected, rtol=1e-12)

    def test_four_axes(self):
        mask = (np.random.default_rng(1).random((6, 7, 8, 9)) > 0.01).astype(np.uint8)
        np.testing.assert_array_equal(transform(mask, distance=np.float64).distance,
                                      self.ndimage.distance_transform_edt(mask))

    def test_periodic_is_the_middle_of_nine(self):
        mask = (np.random.default_rng(4).random((40, 53)) > 0.004).astype(np.uint8)
        tiled = self.ndimage.distance_transform_edt(np.tile(mask, (3, 3)))[40:80, 53:106]
        np.testing.assert_array_equal(transform(mask, distance=np.float64, border="periodic").distance, tiled)


class TestEdt:
    @pytest.fixture(autouse=True)
    def installed(self):
        self.edt = pytest.importorskip("edt", reason="edt is not installed")

    def test_distance(self, mask):
        float32_close(transform(mask, distance=np.float32).distance, self.edt.edt(mask, black_border=False))

    def test_squared(self, mask):
        np.testing.assert_array_equal(transform(mask, squared=np.uint32).squared,
                                      self.edt.edtsq(mask, black_border=False))

    def test_border(self, mask):
        expected = self.edt.edt(mask, black_border=True)
        float32_close(transform(mask, distance=np.float32, border="sites").distance, expected)

    def test_spacing(self, mask):
        spacing = [0.5, 2.25, 1.75][:mask.ndim]
        expected = self.edt.edt(mask, anisotropy=tuple(spacing), black_border=False)
        np.testing.assert_allclose(transform(mask, distance=np.float32, spacing=spacing).distance, expected, rtol=1e-6)

    @pytest.mark.parametrize("shape", [(40, 61), (20, 24, 30)])
    @pytest.mark.parametrize("border", ["open", "sites"])
    def test_labels(self, shape, border):
        labels = labels_of(shape)
        expected = self.edt.edt(labels, black_border=border == "sites")
        float32_close(transform(labels, distance=np.float32, sites="labels", border=border).distance, expected)

    def test_long_border_lines(self):
        for shape in [(65536, 2), (46342, 1)]:  # edt 37: overflowed here
            got = transform(np.ones(shape, np.uint8), distance=np.float32, border="sites").distance
            float32_close(got, self.edt.edt(np.ones(shape, np.uint8), black_border=True))


class TestOpenCV:
    @pytest.fixture(autouse=True)
    def installed(self):
        self.cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed")

    def test_distance(self, mask):
        if mask.ndim != 2:
            pytest.skip("OpenCV has two dimensions only")
        expected = self.cv2.distanceTransform(mask, self.cv2.DIST_L2, self.cv2.DIST_MASK_PRECISE)
        float32_close(transform(mask, distance=np.float32).distance, expected)

    @pytest.mark.parametrize("metric", ["taxicab", "chessboard"])
    def test_other_metrics(self, mask, metric):
        if mask.ndim != 2:
            pytest.skip("OpenCV has two dimensions only")
        kind = self.cv2.DIST_L1 if metric == "taxicab" else self.cv2.DIST_C
        expected = self.cv2.distanceTransform(mask, kind, 3)
        np.testing.assert_array_equal(transform(mask, distance=np.float32, metric=metric).distance, expected)


class TestSimpleITK:
    @pytest.fixture(autouse=True)
    def installed(self):
        self.sitk = pytest.importorskip("SimpleITK", reason="SimpleITK is not installed")

    def signed(self, mask, spacing):
        image = self.sitk.GetImageFromArray((mask != 0).astype(np.uint8))
        image.SetSpacing([float(s) for s in reversed(spacing)])
        field = self.sitk.SignedMaurerDistanceMap(image, insideIsPositive=False, squaredDistance=False,
                                                  useImageSpacing=True)
        return self.sitk.GetArrayFromImage(field)

    @pytest.mark.parametrize("spacing", [(1, 1, 1), (0.5, 2.25, 1.75)])
    def test_outside_of_the_signed_field(self, mask, spacing):
        if min(mask.shape) == 1:
            pytest.skip("SimpleITK's filter needs two elements along each axis")
        spacing = spacing[:mask.ndim]
        if (mask != 0).sum() == 0:
            pytest.skip("nothing is inside")
        got = transform(mask, distance=np.float32, sites="nonzero", spacing=spacing).distance
        outside = mask == 0
        expected = self.signed(mask, spacing)
        np.testing.assert_allclose(got[outside], expected[outside], rtol=2e-6)

    def test_sign(self, mask):
        if min(mask.shape) == 1 or mask.min() == mask.max():
            pytest.skip("needs two elements along each axis, and both classes")
        got = transform(mask, distance=np.float32, signed=True, surface="centers").distance
        expected = self.signed(mask, (1,) * mask.ndim)
        assert ((got > 0) == (mask == 0)).all()
        assert ((expected > 0) <= (got > 0)).all()


def test_errors_are_reported():
    with pytest.raises(FathomError, match="spacing"):
        transform(np.ones((3, 4), np.uint8), distance=np.float32, spacing=[-1])
