"""Losses and metrics beside MONAI's."""

import warnings

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("monai")
import fathom.torch as ours  # noqa: E402

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from monai.losses import HausdorffDTLoss
    from monai.metrics import compute_average_surface_distance, compute_hausdorff_distance

pytestmark = pytest.mark.filterwarnings("ignore")
TOLERANCE = {"rtol": 1e-5, "atol": 1e-5}


def logits(seed, shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def segmentation(seed, shape, classes, coarse=5):
    """One-hot blobs."""
    small = [max(2, extent // coarse) for extent in shape]
    noise = torch.randn((2, classes, *small), generator=torch.Generator().manual_seed(seed))
    mode = {2: "bilinear", 3: "trilinear"}[len(shape)]
    smooth = torch.nn.functional.interpolate(noise, size=shape, mode=mode)
    return torch.nn.functional.one_hot(smooth.argmax(1), classes).movedim(-1, 1).float()


@pytest.mark.parametrize("shape", [(24, 31), (12, 13, 14)])
@pytest.mark.parametrize("options", [
    {}, {"include_background": True}, {"alpha": 1.0}, {"sigmoid": True}, {"softmax": True}, {"other_act": torch.tanh},
    {"reduction": "sum"}, {"reduction": "none"}, {"batch": True}, {"batch": True, "reduction": "none"},
    {"softmax": True, "include_background": True, "alpha": 1.5},
], ids=str)
def test_hausdorff_loss(shape, options):
    target = segmentation(0, shape, 3)
    mine = (logits(1, target.shape) + 2 * target).requires_grad_()
    theirs = mine.detach().clone().requires_grad_()
    loss, expected = ours.HausdorffDTLoss(**options)(mine, target), HausdorffDTLoss(**options)(theirs, target)
    torch.testing.assert_close(loss, expected, **TOLERANCE)
    loss.sum().backward()
    expected.sum().backward()
    torch.testing.assert_close(mine.grad, theirs.grad, **TOLERANCE)


def test_hausdorff_loss_of_labels():
    labels = segmentation(2, (20, 20), 4).argmax(1, keepdim=True)
    values = logits(3, (2, 4, 20, 20))
    options = {"to_onehot_y": True, "softmax": True}
    torch.testing.assert_close(ours.HausdorffDTLoss(**options)(values, labels),
                               HausdorffDTLoss(**options)(values, labels), **TOLERANCE)


def test_hausdorff_loss_of_empty_and_full_masks():
    target = segmentation(4, (16, 16), 3)
    target[0, 1], target[1, 2] = 0, 1
    values = torch.sigmoid(logits(5, target.shape))
    values[0, 2] = 0.1
    torch.testing.assert_close(ours.HausdorffDTLoss()(values, target), HausdorffDTLoss()(values, target), **TOLERANCE)


@pytest.mark.parametrize("arguments", [
    {"sigmoid": True, "softmax": True}, {"other_act": 3}, {"reduction": "no such reduction"},
], ids=str)
def test_errors(arguments):
    with pytest.raises((TypeError, ValueError)):
        ours.HausdorffDTLoss(**arguments)
    with pytest.raises(ValueError, match="target has the shape"):
        ours.HausdorffDTLoss()(torch.zeros(1, 3, 4, 4), torch.zeros(1, 3, 4, 5))


@pytest.mark.parametrize("shape", [(40, 33), (14, 15, 16)])
@pytest.mark.parametrize("spacing", [None, 2.0, "unequal"])
@pytest.mark.parametrize("metric", ["euclidean", "chessboard", "taxicab"])
@pytest.mark.parametrize("background", [False, True])
def test_metrics(shape, spacing, metric, background):
    if spacing == "unequal":
        spacing = [1.5, 0.7, 2.0][:len(shape)]
    truth, prediction = segmentation(6, shape, 3), segmentation(7, shape, 3)
    options = {"include_background": background, "distance_metric": metric, "spacing": spacing}
    for symmetric in (False, True):
        torch.testing.assert_close(
            ours.average_surface_distance(prediction, truth, symmetric=symmetric, **options),
            compute_average_surface_distance(prediction, truth, symmetric=symmetric, **options), **TOLERANCE)
    for percentile in (None, 95, 50, 0.5):
        for directed in (False, True):
            torch.testing.assert_close(
                ours.hausdorff_distance(prediction, truth, percentile=percentile, directed=directed, **options),
                compute_hausdorff_distance(prediction, truth, percentile=percentile, directed=directed, **options),
                **TOLERANCE)


@pytest.mark.parametrize("empty", [(True, False), (False, True), (True, True)])
def test_empty_masks(empty):
    truth, prediction = segmentation(8, (12, 12), 2), segmentation(9, (12, 12), 2)
    if empty[0]:
        truth[0, 1] = 0
    if empty[1]:
        prediction[0, 1] = 0
    for symmetric in (False, True):
        torch.testing.assert_close(
            ours.average_surface_distance(prediction, truth, symmetric=symmetric),
            compute_average_surface_distance(prediction, truth, symmetric=symmetric), equal_nan=True, **TOLERANCE)
    torch.testing.assert_close(ours.hausdorff_distance(prediction, truth),
                               compute_hausdorff_distance(prediction, truth), equal_nan=True, **TOLERANCE)


def test_edges_reach_the_border_of_the_image():
    full = torch.ones(1, 1, 5, 6)
    expected = torch.ones(5, 6, dtype=torch.bool)
    expected[1:-1, 1:-1] = False
    assert torch.equal(ours.mask_edges(full)[0, 0], expected)
    torch.testing.assert_close(ours.hausdorff_distance(full, full), torch.zeros(1, 1))
