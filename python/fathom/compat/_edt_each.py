"""The distances of one label at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class each:  # noqa: N801, edt's name
    """Iterates over pairs of a label and an image that holds its distances and 0 elsewhere.

    Parameters
    ----------
    labels : array
        0 is background, which is left out.
    dt : array, shape of `labels`
        Distances.
    in_place : bool
        Give the same image every time, read-only, which is quicker.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom.compat import edt
    >>> labels = np.array([[1, 1, 2, 0]])
    >>> for label, image in edt.each(labels, edt.edt(labels)):
    ...     print(label, image)
    1 [[2. 1. 0. 0.]]
    2 [[0. 0. 1. 0.]]
    """

    def __init__(self, labels: Array, dt: Array, in_place: bool = False) -> None:
        self._distances = dt
        self._in_place = in_place
        self._in_columns = labels.flags.f_contiguous and not labels.flags.c_contiguous
        flat = np.ravel(labels, order="F" if self._in_columns else "C")
        order = np.argsort(flat, kind="stable")
        keys, starts = np.unique(flat[order], return_index=True)
        self._parts = [(key, places) for key, places in zip(keys, np.split(order, starts[1:])) if key != 0]

    def __len__(self) -> int:
        return len(self._parts)

    def __iter__(self) -> Iterator[tuple[Any, Array]]:
        distances = np.ravel(self._distances, order="F" if self._in_columns else "C")
        flat = np.zeros(distances.size, np.float32)
        for key, places in self._parts:
            flat[places] = distances[places]
            image = flat.reshape(self._distances.shape, order="F" if self._in_columns else "C")
            if self._in_place:
                image.flags.writeable = False
                yield key, image
                flat[places] = 0
            else:
                yield key, image
                flat = np.zeros(distances.size, np.float32)
