"""The distances of one label at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
_PIECE = 1 << 20
"""Elements that are sorted at once."""


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

    Raises
    ------
    ValueError
        The shapes differ.

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
        labels, self._distances = np.asarray(labels), np.asarray(dt)
        if labels.shape != self._distances.shape:
            raise ValueError(f"dt has the shape {self._distances.shape}; it must have {labels.shape}, as labels")
        self._in_place = in_place
        self._in_columns = labels.flags.f_contiguous and not labels.flags.c_contiguous
        flat = np.ravel(labels, order="F" if self._in_columns else "C")
        if flat.dtype == bool:
            flat = flat.view(np.uint8)
        places: dict[Any, list[npt.NDArray[np.int64]]] = {}
        for begin in range(0, flat.size, _PIECE):  # a sort of all would not hear Ctrl-C
            piece = flat[begin : begin + _PIECE]
            order = np.argsort(piece, kind="stable")
            keys, starts = np.unique(piece[order], return_index=True)
            for key, part in zip(keys.tolist(), np.split(order + begin, starts[1:])):
                places.setdefault(key, []).append(part)
        self._parts = [(key, np.concatenate(places[key])) for key in sorted(places) if key != 0]

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
