"""Tensors of subclasses, such as MONAI's MetaTensor: every function takes them and gives tensors."""

import fathom
import numpy as np
import pytest

torch = pytest.importorskip("torch")
import fathom.torch as ours  # noqa: E402


class Plain(torch.Tensor):
    """Nothing of its own."""


class Tagged(torch.Tensor):
    """Wraps what functions give, as MONAI's does, and refuses to be taken apart by NumPy."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func in (torch.Tensor.__dlpack__, torch.Tensor.numpy, torch.Tensor.__array__):
            raise RuntimeError("not asked for")
        result = super().__torch_function__(func, types, args, kwargs or {})
        return result.as_subclass(cls) if type(result) is torch.Tensor else result


def meta(x):
    data = pytest.importorskip("monai.data")
    return data.MetaTensor(x, meta={"filename_or_obj": "a.nii"})


KINDS = [lambda x: x.as_subclass(Plain), lambda x: x.as_subclass(Tagged), torch.nn.Parameter, meta]
MASK = (torch.rand((2, 3, 12, 13), generator=torch.Generator().manual_seed(0)) > 0.3).float()
OTHER = torch.roll(MASK, 1, -1)


def same(result, expected):
    if isinstance(expected, tuple):
        for one, other in zip(result, expected):
            same(one, other)
        return
    assert isinstance(result, torch.Tensor) and result.dtype == expected.dtype
    with torch._C.DisableTorchFunctionSubclass():
        torch.testing.assert_close(result.detach().as_subclass(torch.Tensor), expected, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("kind", KINDS, ids=["plain", "tagged", "parameter", "monai"])
@pytest.mark.parametrize("call", [
    lambda x, y: ours.distance_transform(x),
    lambda x, y: ours.distance_transform(x, return_indices=True),
    lambda x, y: ours.distance_transform(x, squared=True),
    lambda x, y: ours.signed_distance(x, spacing=2.0),
    lambda x, y: ours.distance_field(x),
    lambda x, y: ours.mask_edges(x),
    lambda x, y: ours.surface_distances(x, y),
    lambda x, y: ours.average_surface_distance(x, y, symmetric=True),
    lambda x, y: ours.hausdorff_distance(x, y),
    lambda x, y: ours.hausdorff_distance(x, y, percentile=95, spacing=(1.0, 2.0)),
    lambda x, y: ours.HausdorffDTLoss(sigmoid=True)(x, y),
    lambda x, y: ours.BoundaryLoss(include_background=True)(x, y),
])
def test_operators_losses_and_metrics(kind, call):
    same(call(kind(MASK), kind(OTHER)), call(MASK, OTHER))
    same(call(MASK, kind(OTHER)), call(MASK, OTHER))


@pytest.mark.parametrize("kind", KINDS[:2] + KINDS[3:], ids=["plain", "tagged", "monai"])
@pytest.mark.parametrize("call", [
    lambda x: fathom.distance_transform(x, ndim=2),
    lambda x: fathom.distance_transform(x, ndim=2, return_indices=True),
    lambda x: fathom.signed_distance(x, ndim=2),
    lambda x: fathom.nearest_site(x, ndim=2),
    lambda x: fathom.expand_labels(x, ndim=2),
    lambda x: fathom.fill_nearest(x, x == 0, ndim=2),
])
def test_native_calls(kind, call):
    same(call(kind(MASK)), call(MASK))


@pytest.mark.parametrize("kind", KINDS[:2] + KINDS[3:], ids=["plain", "tagged", "monai"])
def test_sets_and_results(kind):
    points = MASK.reshape(-1, 2)
    sites = fathom.SiteSet(kind(points))
    same(sites.nearest(kind(points), 2), fathom.SiteSet(points).nearest(points, 2))
    out = kind(torch.zeros(MASK.shape))
    assert fathom.distance_transform(kind(MASK), ndim=2, out=out) is out
    same(out, fathom.distance_transform(MASK, ndim=2))


def test_bfloat16():
    x = MASK.bfloat16()
    same(fathom.distance_transform(x, ndim=2), fathom.distance_transform(MASK, ndim=2))
    with pytest.raises(TypeError) as error:
        fathom.expand_labels(x)
    assert str(error.value) == "labels has the dtype torch.bfloat16, which NumPy does not have; convert it first"
    with pytest.raises(TypeError) as error:
        fathom.distance_transform(torch.zeros(3, dtype=torch.float8_e4m3fn))
    assert str(error.value) == "x has the dtype torch.float8_e4m3fn, which NumPy does not have; convert it first"
    with pytest.raises(TypeError, match="x must be an array of numbers: Can't export tensors with layout"):
        fathom.distance_transform(MASK.to_sparse())
    assert isinstance(fathom.distance_transform(np.asarray(MASK), ndim=2), np.ndarray)
