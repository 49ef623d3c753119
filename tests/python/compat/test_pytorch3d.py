"""fathom.compat.pytorch3d.knn_points against its definition: all distances, sorted."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from fathom.compat.pytorch3d import knn_points  # noqa: E402


def clouds(axes=3):
    generator = torch.Generator().manual_seed(0)
    return torch.rand((3, 40, axes), generator=generator), torch.rand((3, 60, axes), generator=generator)


@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize("count", [1, 5])
def test_clouds(axes, count):
    p1, p2 = clouds(axes)
    got = knn_points(p1, p2, K=count, return_nn=True)
    expected, places = ((p1[:, :, None] - p2[:, None]) ** 2).sum(-1).topk(count, largest=False)
    assert torch.equal(got.idx, places) and got.idx.dtype == torch.int64
    torch.testing.assert_close(got.dists, expected)
    assert torch.equal(got.knn[1, 7, 0], p2[1, places[1, 7, 0]])
    assert knn_points(p1, p2).knn is None


def test_lengths():
    p1, p2 = clouds()
    lengths1, lengths2 = torch.tensor([40, 7, 3]), torch.tensor([60, 3, 0])
    got = knn_points(p1, p2, lengths1, lengths2, K=5, return_nn=True)
    for n in range(3):
        count = min(5, int(lengths2[n]))
        alone = knn_points(p1[n : n + 1, : lengths1[n]], p2[n : n + 1, : lengths2[n]], K=5)
        assert torch.equal(got.idx[n, : lengths1[n]], alone.idx[0])
        assert torch.equal(got.dists[n, : lengths1[n]], alone.dists[0])
        for padded in (got.idx, got.dists, got.knn):
            assert not padded[n, lengths1[n] :].any() and not padded[n, :, count:].any()
    assert got.dists[1, :7, :3].all()


def test_gradients():
    p1, p2 = (points.double().requires_grad_() for points in clouds())
    knn_points(p1, p2, K=2).dists.sum().backward()
    idx = knn_points(p1, p2, K=2).idx
    expected = 2 * (2 * p1 - sum(p2[torch.arange(3)[:, None], idx[..., k]] for k in (0, 1)))
    torch.testing.assert_close(p1.grad, expected.detach())
    assert p2.grad.abs().sum() > 0


def test_errors():
    p1, p2 = clouds()
    with pytest.raises(ValueError, match="norm is 1"):
        knn_points(p1, p2, norm=1)
    with pytest.raises(ValueError, match="same batch and d"):
        knn_points(p1, p2[:2])
    for options, words in [
        ({"lengths1": torch.tensor([40, 99, 3])}, "lengths1 says 99 for cloud 1, but p1 has 40 points in each; give 0 to 40"),
        ({"lengths2": torch.tensor([61, 1, 3])}, "lengths2 says 61 for cloud 0, but p2 has 60 points in each; give 0 to 60"),
        ({"lengths2": torch.tensor([1, 1, -3])}, "lengths2 says -3 for cloud 2, but p2 has 60 points in each; give 0 to 60"),
        ({"lengths1": torch.tensor([3])},
         "lengths1 has the shape (1,) and holds torch.int64; give one integer for each of the 3 clouds"),
        ({"lengths1": torch.tensor([3.0, 2.0, 1.0])},
         "lengths1 has the shape (3,) and holds torch.float32; give one integer for each of the 3 clouds"),
        ({"K": 0}, "K is 0; give 1 or more"),
    ]:
        with pytest.raises(ValueError) as error:
            knn_points(p1, p2, **options)
        assert str(error.value) == words
    with pytest.raises(ValueError) as error:
        knn_points(p1, torch.cat([p2, p2], 1), K=65)
    assert str(error.value) == "K is 65; of clouds of 120 points at most 64 can be asked for"
    assert knn_points(p1, p2, K=100).idx.shape == (3, 40, 100)  # beyond the cloud: 0


def test_subclasses():
    class Points(torch.Tensor):
        pass

    p1, p2 = clouds()
    found = knn_points(p1.as_subclass(Points), p2.as_subclass(Points), K=3, return_nn=True)
    expected = knn_points(p1, p2, K=3, return_nn=True)
    for mine, plain in zip(found, expected):
        assert isinstance(mine, torch.Tensor) and torch.equal(mine.as_subclass(torch.Tensor), plain)
