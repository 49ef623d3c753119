"""The boundary loss, which MONAI lacks, beside its definition."""

import fathom
import numpy as np
import pytest

torch = pytest.importorskip("torch")
import fathom.torch  # noqa: E402


def scene():
    generator = torch.Generator().manual_seed(0)
    labels = torch.randint(0, 3, (2, 1, 9, 10), generator=generator)
    return torch.randn((2, 3, 9, 10), generator=generator), labels


@pytest.mark.parametrize("spacing, surface", [(None, "faces"), (2.0, "faces"), ([2.0, 1.0], "centers")])
def test_boundary_loss_is_the_mean_of_probability_times_field(spacing, surface):
    values, labels = scene()
    loss = fathom.torch.BoundaryLoss(softmax=True, to_onehot_y=True, reduction="none", spacing=spacing)(values, labels)
    assert loss.shape == (2, 2, 1, 1)
    probabilities = torch.softmax(values, 1).numpy()
    for item in range(2):
        for label in (1, 2):
            field = fathom.signed_distance(labels[item, 0].numpy() == label, spacing=spacing, surface=surface)
            expected = np.mean(probabilities[item, label] * field)
            assert loss[item, label - 1].item() == pytest.approx(expected, rel=1e-5)


def test_boundary_loss_leads_to_the_target():
    _, labels = scene()
    target = torch.nn.functional.one_hot(labels[:, 0], 3).movedim(-1, 1).float()
    values = torch.zeros_like(target, requires_grad=True)
    loss = fathom.torch.BoundaryLoss(sigmoid=True, include_background=True)
    optimizer = torch.optim.SGD([values], lr=1e4)
    for _ in range(20):
        optimizer.zero_grad()
        loss(values, target).backward()
        optimizer.step()
    assert torch.equal(values > 0, target > 0.5)


def test_a_class_that_is_nowhere_counts_nothing():
    target = torch.zeros(1, 2, 4, 4)
    target[:, 0] = 1
    values = torch.rand(1, 2, 4, 4, generator=torch.Generator().manual_seed(1))
    assert fathom.torch.BoundaryLoss(include_background=True)(values, target) == 0


def test_spacing_of_the_hausdorff_loss():
    values, labels = scene()
    target = torch.nn.functional.one_hot(labels[:, 0], 3).movedim(-1, 1).float()
    once = fathom.torch.HausdorffDTLoss(sigmoid=True, alpha=1.0)(values, target)
    twice = fathom.torch.HausdorffDTLoss(sigmoid=True, alpha=1.0, spacing=2.0)(values, target)
    torch.testing.assert_close(twice, 2 * once)
