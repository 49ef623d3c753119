"""The operators: equal to Fathom's own calls, and fit for everything that PyTorch does with operators."""

import fathom
import numpy as np
import pytest

torch = pytest.importorskip("torch")
import fathom.torch  # noqa: E402

OPTIONS = [
    {}, {"sites": "nonzero"}, {"sites": "labels"}, {"spacing": (2.0, 0.5)}, {"spacing": 3.0}, {"metric": "taxicab"},
    {"border": "periodic"}, {"border": ("sites", "open")}, {"max_distance": 2.0},
]


def images(seed=0, shape=(2, 3, 11, 14), dtype=torch.uint8):
    generator = torch.Generator().manual_seed(seed)
    return (torch.rand(shape, generator=generator) > 0.1).to(dtype)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_equal_to_the_native_call(options):
    x = images()
    got = fathom.torch.distance_transform(x, **options)
    assert isinstance(got, torch.Tensor) and got.dtype == torch.float32
    np.testing.assert_array_equal(got, fathom.distance_transform(x.numpy(), ndim=2, **options))
    squared = fathom.torch.distance_transform(x, squared=True, **options) if "metric" not in options else None
    if squared is not None:
        assert squared.dtype == torch.float64
        np.testing.assert_allclose(squared.sqrt(), got, rtol=1e-6)
    distances, indices = fathom.torch.distance_transform(x, return_indices=True, **options)
    expected = fathom.distance_transform(x.numpy(), ndim=2, return_indices=True, **options)
    np.testing.assert_array_equal(distances, expected[0])
    np.testing.assert_array_equal(indices, expected[1])
    assert indices.dtype == torch.int32 and indices.shape == (2, 3, 2, 11, 14)


@pytest.mark.parametrize("surface", ["faces", "centers"])
def test_signed(surface):
    x = images(1)
    got = fathom.torch.signed_distance(x, surface=surface)
    np.testing.assert_array_equal(got, fathom.signed_distance(x.numpy(), ndim=2, surface=surface))


def test_one_hot_masks_in_one_call():
    segmentation = torch.randint(0, 4, (2, 6, 7, 8), generator=torch.Generator().manual_seed(0))
    one_hot = torch.nn.functional.one_hot(segmentation, 4).movedim(-1, 1)
    fields = fathom.torch.signed_distance(one_hot)
    for item in range(2):
        for label in range(4):
            np.testing.assert_array_equal(fields[item, label],
                                          fathom.signed_distance(segmentation[item].numpy() == label))


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float16, torch.bfloat16, torch.float64])
def test_dtypes_and_layouts(dtype):
    x = images(2).to(dtype)
    expected = fathom.torch.distance_transform(images(2))
    assert torch.equal(fathom.torch.distance_transform(x), expected)
    channels_last = x.to(memory_format=torch.channels_last)
    assert torch.equal(fathom.torch.distance_transform(channels_last), expected)
    assert torch.equal(fathom.torch.distance_transform(x.mT), fathom.torch.distance_transform(x.mT.contiguous()))


def test_which_axes_are_space():
    x = images(3)
    assert torch.equal(fathom.torch.distance_transform(x), fathom.torch.distance_transform(x, ndim=2))
    assert torch.equal(fathom.torch.distance_transform(x[0, 0], ndim=2), fathom.torch.distance_transform(x)[0, 0])
    with pytest.raises(ValueError, match="ndim must say"):
        fathom.torch.distance_transform(x[0, 0])
    with pytest.raises(ValueError, match="metric"):
        fathom.torch.distance_transform(x, metric="no such metric")
    with pytest.raises(ValueError, match="return_indices"):
        fathom.torch.distance_transform(x, squared=True, return_indices=True)


def test_no_gradient_flows_through_distances():
    x = images(4, dtype=torch.float32).requires_grad_()
    assert not fathom.torch.distance_transform(x).requires_grad


@pytest.mark.parametrize("call", [
    lambda x: torch.library.opcheck(
        torch.ops.fathom.distance_transform, (x, 2, "zero", [1.0, 2.0], "euclidean", "open", None, False)),
    lambda x: torch.library.opcheck(
        torch.ops.fathom.distance_transform, (x, 2, "zero", None, "euclidean", "open", None, True)),
    lambda x: torch.library.opcheck(
        torch.ops.fathom.distance_transform_with_indices, (x, 2, "zero", None, "euclidean", "open", 5.0)),
    lambda x: torch.library.opcheck(
        torch.ops.fathom.signed_distance, (x, 2, None, "euclidean", "open", "faces", None)),
])
@pytest.mark.parametrize("contiguous", [True, False])
def test_opcheck(call, contiguous):
    call(images(5) if contiguous else images(5).mT)


def test_fake_tensors():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        x = torch.empty(2, 3, 50, 60, dtype=torch.uint8)
        distances, indices = fathom.torch.distance_transform(x, return_indices=True)
        assert distances.shape == x.shape and indices.shape == (2, 3, 2, 50, 60)
        assert fathom.torch.signed_distance(x).dtype == torch.float32


def test_compile():
    """The aot_eager backend traces as inductor does, and needs no compiler on the machine."""

    def model(x):
        near = fathom.torch.distance_transform(x * 2, spacing=(1.0, 2.0)) + 1
        return near * fathom.torch.signed_distance(x)

    compiled = torch.compile(model, backend="aot_eager", fullgraph=True, dynamic=True)
    for shape in ((2, 3, 9, 8), (1, 2, 5, 7)):
        x = images(6, shape)
        assert torch.equal(compiled(x), model(x))


def test_vmap():
    x = images(7, (4, 2, 3, 9, 8))
    expected = torch.stack([fathom.torch.distance_transform(item) for item in x])
    assert torch.equal(torch.func.vmap(fathom.torch.distance_transform)(x), expected)
    moved = torch.func.vmap(fathom.torch.distance_transform, in_dims=2)(x.movedim(0, 2))
    assert torch.equal(moved, expected)
    indices = torch.func.vmap(lambda item: fathom.torch.distance_transform(item, return_indices=True)[1])(x)
    assert torch.equal(indices[1], fathom.torch.distance_transform(x[1], return_indices=True)[1])
