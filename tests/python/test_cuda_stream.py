"""Rasters on a CUDA device: what PyTorch and CuPy users get. Without a device these skip."""

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
