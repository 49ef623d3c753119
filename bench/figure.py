"""What the plots of the benchmarks have in common."""


def tidy(axes):
    """Horizontal lines to read values by, and no frame at the top and on the right."""
    axes.grid(True, axis="y", color="#e5e5e5")
    axes.spines[["top", "right"]].set_visible(False)
