"""How the pictures of the gallery look, and where they go: the path given on the command line."""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import LinearSegmentedColormap  # noqa: E402

INK = "#1c2b33"
PAPER = "#fbfaf7"
DEEP = LinearSegmentedColormap.from_list("deep", ["#eaf4f1", "#a9d3cf", "#5ba3b5", "#2b6a94", "#1c3f6e", "#131f45"])
WARM = LinearSegmentedColormap.from_list("warm", ["#f7eed8", "#eac98c", "#d99a52", "#b86537", "#7d3b2c", "#47201f"])

plt.rcParams.update({
    "figure.facecolor": PAPER, "savefig.facecolor": PAPER, "axes.facecolor": PAPER, "text.color": INK,
    "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK, "axes.edgecolor": INK, "axes.linewidth": 0.6,
    "font.family": "DejaVu Sans", "font.size": 9, "axes.titlesize": 10, "axes.titlelocation": "left",
    "axes.titlepad": 7,
})


def panels(count, width=10.0, height=4.0):
    """Axes for images side by side, without ticks."""
    figure, axes = plt.subplots(1, count, figsize=(width, height), layout="constrained", squeeze=False)
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.12)
    for axis in axes[0]:
        axis.set(xticks=[], yticks=[])
        axis.spines[:].set_visible(False)
    return figure, axes[0]


def bar(figure, image, axes, label):
    """A slim colour scale."""
    scale = figure.colorbar(image, ax=axes, shrink=0.75, aspect=28, pad=0.015)
    scale.outline.set_visible(False)
    scale.set_label(label)
    return scale


def save(figure, name):
    path = Path(sys.argv[1] if len(sys.argv) > 1 else f"{name}.png")
    figure.savefig(path, dpi=130)
    plt.close(figure)
