"""Operators, losses and metrics on a CUDA device: as on the host. Without a device these skip."""

import fathom
import pytest

torch = pytest.importorskip("torch")
import fathom.torch  # noqa: E402

if not fathom.info().devices or not torch.cuda.is_available():
    pytest.skip("no CUDA device, or a build without CUDA", allow_module_level=True)


def masks(dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    return (torch.rand((2, 3, 40, 51), generator=generator) > 0.2).to(dtype)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32, torch.float16, torch.bfloat16, torch.bool])
def test_operators(dtype):
    x = masks(dtype)
    for call in (fathom.torch.distance_transform, fathom.torch.signed_distance):
        got = call(x.cuda())
        assert got.is_cuda and torch.equal(got.cpu(), call(x))
    for got, expected in zip(fathom.torch.distance_transform(x.cuda(), return_indices=True),
                             fathom.torch.distance_transform(x, return_indices=True)):
        assert got.is_cuda and torch.equal(got.cpu(), expected)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compile_and_streams(backend):
    if backend == "inductor":
        pytest.importorskip("triton")

    def model(x):
        return fathom.torch.distance_transform(x * 2) + 1

    compiled = torch.compile(model, backend=backend, fullgraph=True)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        got = compiled(masks().cuda())
    stream.synchronize()
    assert torch.equal(got.cpu(), model(masks()))


@pytest.mark.parametrize("loss", [
    fathom.torch.HausdorffDTLoss(sigmoid=True), fathom.torch.BoundaryLoss(sigmoid=True),
    fathom.torch.HausdorffDTLoss(sigmoid=True, spacing=(2.0, 1.0), include_background=True),
])
def test_losses(loss):
    results = []
    for device in ("cpu", "cuda"):
        values = (2 * masks().flip(0) - 1).to(device).requires_grad_()
        result = loss(values, masks().to(device))
        result.backward()
        results.append((result.detach().cpu(), values.grad.cpu()))
    for got, expected in zip(*results):
        torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-6)


def test_metrics():
    truth, prediction = masks(), masks().roll(3, -1)
    for metric in (fathom.torch.average_surface_distance, fathom.torch.hausdorff_distance):
        for options in ({}, {"spacing": (1.5, 0.5)}, {"distance_metric": "taxicab"}):
            got = metric(prediction.cuda(), truth.cuda(), **options)
            assert got.is_cuda
            torch.testing.assert_close(got.cpu(), metric(prediction, truth, **options))
    got = fathom.torch.hausdorff_distance(prediction.cuda(), truth.cuda(), percentile=95)
    torch.testing.assert_close(got.cpu(), fathom.torch.hausdorff_distance(prediction, truth, percentile=95))
