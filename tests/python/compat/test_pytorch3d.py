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
