"""Rasters on a CUDA device: what PyTorch and CuPy users get. Without a device these skip."""

import pickle

import fathom
import numpy as np
import pytest
from devices import Cupy, Torch
from fathom import stream

if not fathom.info().devices:
    pytest.skip("no CUDA device, or a build without CUDA", allow_module_level=True)

DOTS = stream.noise(3, 40, 50) > 250
FAR = DOTS.repeat(700, 900).distance(max=15)
GRAPHS = [DOTS, DOTS.repeat(700, 900), FAR, FAR.profile("255*exp(-d/5)"), stream.formula("x + y", 60, 70) + 1]


@pytest.fixture(params=[Torch, Cupy])
def library(request):
    return request.param()


@pytest.mark.parametrize("raster", GRAPHS)
def test_same_bytes_as_on_the_host(library, raster):
    expected = raster.compute(backend="cpu")
    np.testing.assert_array_equal(raster.compute(backend="cuda"), expected)
    height, width = raster.shape
    wide = library.empty((height, width + 3), str(raster.dtype))
    for part in ((0, 0, height, width), (3, 5, 30, 41)):
        y0, x0, y1, x1 = part
        out = wide[: y1 - y0, : x1 - x0]
        assert raster.compute(*part, out=out) is out
        np.testing.assert_array_equal(library.get(out), expected[y0:y1, x0:x1])
        with library.on(library.stream()):
            assert raster.compute(*part, out=out, memory="64MB") is out
        library.synchronize()
        np.testing.assert_array_equal(library.get(out), expected[y0:y1, x0:x1])


@pytest.mark.parametrize("dtype", ["bool", "uint8", "uint16", "float32"])
def test_arrays_on_the_device(library, dtype):
    pixels = np.random.default_rng(5).integers(0, 2, (60, 90)).astype(dtype)
    there = library.put(np.repeat(pixels, 2, axis=1))
    for array, kept in ((library.put(pixels), True), (there[:, :90], True), (there[:, ::2], False)):
        expected = stream.array(library.get(array)).repeat(200, 300).distance(max=15).profile("255*exp(-d/5)")
        raster = stream.array(array, name="x").repeat(200, 300).distance(max=15).profile("255*exp(-d/5)")
        assert raster.plan["device"] and all(entry["on_device"] for entry in raster.plan["entries"])
        np.testing.assert_array_equal(library.get(raster[:]), expected[:])
        np.testing.assert_array_equal(library.get(raster[3:50, 7]), expected[3:50, 7])
        np.testing.assert_array_equal(np.asarray(raster), expected[:])
        on_host = raster.compute(3, 5, 90, 100, backend="cpu")
        assert isinstance(on_host, np.ndarray)
        np.testing.assert_array_equal(on_host, expected[3:90, 5:100])
        again = stream.from_json(raster.to_json(), arrays={"x": array})
        np.testing.assert_array_equal(library.get(again[:]), expected[:])
        source = raster._arrays["x"].view[1]
        assert (source == (array.data_ptr() if hasattr(array, "data_ptr") else array.data.ptr)) is kept


def test_arrays_are_complete_and_stay(library):
    """Whatever stream made them, and whoever else lets go of them."""
    with library.on(library.stream()):
        array = library.put(np.zeros((2000, 3000), "uint8"))
        for _ in range(200):
            array += 1
        raster = stream.array(array) + 1
        del array
    np.testing.assert_array_equal(library.get(raster.compute(5, 5, 40, 50)), np.full((35, 45), 201))
    copied = pickle.loads(pickle.dumps(raster))
    np.testing.assert_array_equal(library.get(copied[:9, :9]), np.full((9, 9), 201))


def test_faces_of_arrays_on_the_device(library, tmp_path):
    pixels = np.random.default_rng(2).integers(0, 9, (300, 200)).astype("uint8")
    raster = stream.array(library.put(pixels))
    for _, x, tile in raster.tiles(128, 64):
        assert library.get(tile).shape[1] == min(64, 200 - x)
    assert raster._repr_png_()[:4] == b"\x89PNG"
    raster.write(tmp_path / "raster.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "raster.npy"), pixels)
    pytest.importorskip("dask")
    np.testing.assert_array_equal(raster.to_dask(chunks=100).compute(scheduler="synchronous"), pixels)


def test_arrays_of_other_kinds(library):
    with pytest.raises(TypeError, match="rasters hold"):
        stream.array(library.put(np.zeros((3, 4))))
    with pytest.raises(ValueError, match="two axes"):
        stream.array(library.put(np.zeros(4, "uint8")))
    with pytest.raises(ValueError):
        stream.array(library.put(np.zeros((0, 4), "uint8")))


def test_refusals(library):
    with pytest.raises(ValueError, match="backend cpu cannot work"):
        DOTS.compute(out=library.empty((40, 50), "bool"), backend="cpu")
    with pytest.raises(ValueError, match="it must have"):
        DOTS.compute(out=library.empty((40, 51), "bool"))
    with pytest.raises(TypeError, match="it must have"):
        DOTS.compute(out=library.empty((40, 50), "float32"))


def test_the_plan_names_the_device():
    computer = FAR._computer(None, None, "cuda")
    assert computer.plan()["device"] == fathom.info().devices[0]
