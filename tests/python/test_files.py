"""fathom.read and fathom.write: arrays with what files say of them."""

import pathlib

import fathom
import nibabel
import numpy as np
import pytest
import tifffile
from PIL import Image

RANDOM = np.random.default_rng(3)


@pytest.mark.parametrize("dtype", ["?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8", ">i2", ">f8"])
@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (2, 3, 4), (0, 3)])
def test_npy(tmp_path, dtype, shape):
    a = (RANDOM.random(shape) * 100).astype(dtype)
    fathom.write(tmp_path / "a.npy", a)
    image = fathom.read(str(tmp_path / "a.npy"))
    assert image.data.dtype == np.dtype(dtype).newbyteorder("=") and image.data.shape == shape
    assert np.array_equal(image.data, a) and np.array_equal(np.asarray(image), a)
    assert (image.axes, image.spacing, image.unit, image.origin, image.directions) == ("", None, "", None, None)
    assert np.array_equal(np.load(tmp_path / "a.npy"), a)
    image.data[...] = 1  # the caller's own


def test_spacing_unit_and_axes(tmp_path):
    a = RANDOM.random((2, 3, 4, 5)).astype("f4")
    for name in ("a.tif", "b.nii.gz"):
        fathom.write(tmp_path / name, a, spacing=(2, 0.5, 0.25), unit="µm", axes="czyx")
        image = fathom.read(tmp_path / name)
        assert np.array_equal(image.data, a)
        assert (image.axes, image.spacing, image.unit) == ("czyx", (2, 0.5, 0.25), "µm")
    assert repr(image) == "fathom.Image(shape=(2, 3, 4, 5), dtype=float32, axes='czyx', spacing=(2.0, 0.5, 0.25), unit='µm')"
    with tifffile.TiffFile(tmp_path / "a.tif") as file:
        assert file.series[0].axes == "CZYX" and 'PhysicalSizeZ="2"' in file.ome_metadata  # ImageJ has z before c
    one = fathom.write(tmp_path / "c.nii", a[0], spacing=0.5)
    assert one is None and nibabel.load(tmp_path / "c.nii").header.get_zooms() == (0.5, 0.5, 0.5)


def test_what_a_file_says_goes_on(tmp_path):
    affine = np.array([[0, -2, 0, 10], [3, 0, 0, -20], [0, 0, 4, 30], [0, 0, 0, 1]], float)
    image = nibabel.Nifti1Image(np.eye(6, dtype="u1")[None].repeat(5, 0), affine)
    image.header.set_xyzt_units("mm")
    nibabel.save(image, tmp_path / "a.nii")
    mask = fathom.read(tmp_path / "a.nii")
    assert (mask.axes, mask.spacing, mask.unit) == ("zyx", (4, 2, 3), "mm")
    assert mask.origin == (10, -20, 30)
    assert np.allclose(mask.directions, [[0, 0, 1], [-1, 0, 0], [0, 1, 0]], atol=1e-6)
    field = fathom.distance_transform(mask.data, sites="nonzero", spacing=mask.spacing)
    fathom.write(tmp_path / "b.nii", field, like=mask)
    out = nibabel.load(tmp_path / "b.nii")
    assert np.allclose(out.affine, affine, atol=1e-5) and out.header.get_xyzt_units()[0] == "mm"
    assert np.array_equal(np.asarray(out.dataobj), field.T)
    fathom.write(tmp_path / "c.nii", field, like=mask, spacing=1, unit="µm")
    out = nibabel.load(tmp_path / "c.nii")
    assert out.header.get_zooms() == (1, 1, 1) and out.header.get_xyzt_units()[0] == "micron"


def test_like_of_another_rank(tmp_path):
    a = RANDOM.random((2, 3, 4, 5)).astype("f4")
    fathom.write(tmp_path / "a.tif", a, spacing=(2, 0.5, 0.25), unit="µm", axes="czyx")
    image = fathom.read(tmp_path / "a.tif")
    fathom.write(tmp_path / "b.tif", image.data[0], like=image)
    one = fathom.read(tmp_path / "b.tif")
    assert (one.axes, one.spacing, one.unit) == ("zyx", (2, 0.5, 0.25), "µm")
    fathom.write(tmp_path / "c.tif", image.data[0, 0], like=image, axes="yx")
    assert fathom.read(tmp_path / "c.tif").spacing == (0.5, 0.25)
    with pytest.raises(ValueError, match="the image to be like has 4 axes, but the array has 2; say with axes which they are"):
        fathom.write(tmp_path / "d.tif", image.data[0, 0], like=image)


def test_warnings(tmp_path):
    a = np.zeros((4, 5), "u1")
    lost = "a.npy: NPY does not hold spacing (2, 0.5 mm)"
    with pytest.warns(UserWarning) as caught:
        fathom.write(tmp_path / "a.npy", a, spacing=(2, 0.5), unit="mm")
    assert [str(w.message).removeprefix(str(tmp_path) + "/") for w in caught] == [lost]
    Image.fromarray(RANDOM.integers(0, 255, (4, 5, 4)).astype("u1")).save(tmp_path / "a.png")
    with pytest.warns(UserWarning) as caught:
        fathom.read(tmp_path / "a.png", colours="luminance")
    assert [str(w.message).removeprefix(str(tmp_path) + "/") for w in caught] == [
        "a.png holds colours: their luminance is taken, and not one channel (red, green, blue)",
        "a.png holds opacity, which is left out; the channel alpha is it alone",
    ]


def test_colours(tmp_path):
    rgb = RANDOM.integers(0, 255, (6, 7, 3)).astype("u1")
    Image.fromarray(rgb).save(tmp_path / "a.png")
    image = fathom.read(tmp_path / "a.png")
    assert np.array_equal(image.data, rgb) and image.axes == "yxs"
    packed = fathom.read(tmp_path / "a.png", colours="packed").data
    assert np.array_equal(packed, rgb.astype("u4") @ np.array([65536, 256, 1], "u4"))
    for channel in ("green", 1, "1"):
        assert np.array_equal(fathom.read(tmp_path / "a.png", channel=channel).data, rgb[..., 1])
    with pytest.raises(ValueError, match="colours is 'rgb'; it must be 'samples', 'packed' or 'luminance'"):
        fathom.read(tmp_path / "a.png", colours="rgb")


def test_strided_and_compressed(tmp_path):
    a = RANDOM.random((40, 50)).astype("f4").round(1)
    fathom.write(tmp_path / "a.tif", a[::2, ::-3], compress=True)
    assert np.array_equal(tifffile.imread(tmp_path / "a.tif"), a[::2, ::-3])


@pytest.mark.parametrize(("error", "message", "call"), [
    (OSError, "none.npy cannot be read: No such file or directory", lambda: fathom.read("none.npy")),
    (ValueError, "does not say which format to write", lambda: fathom.write("a.xyz", np.zeros(3))),
    (ValueError, "PNG holds images of 2 axes, not of 3", lambda: fathom.write("a.png", np.zeros((2, 3, 4)))),
    (ValueError, "axes 'yx' names 2 axes, but array has 3", lambda: fathom.write("a.npy", np.zeros((2, 3, 4)), axes="yx")),
    (ValueError, "spacing has 2 values for an array with 3 axes of space",
     lambda: fathom.write("a.npy", np.zeros((2, 3, 4)), spacing=(1, 2))),
    (ValueError, "spacings are finite and greater than 0", lambda: fathom.write("a.npy", np.zeros(2), spacing=0)),
    (TypeError, "array has the dtype complex128", lambda: fathom.write("a.npy", np.zeros(2, complex))),
    (TypeError, "array has the dtype float16", lambda: fathom.write("a.npy", np.zeros(2, "f2"))),
    (TypeError, r"x is a path or text, not an array; read the file first, with fathom.read\(\)",
     lambda: fathom.distance_transform(pathlib.Path("a.npy"))),
])
def test_errors(error, message, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=message):
        call()
    assert not list(tmp_path.iterdir())
