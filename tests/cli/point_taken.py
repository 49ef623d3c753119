"""What `query` makes of a file of points: the points themselves, what it warns of, what it refuses."""

import io
import struct

import numpy as np

DEGREES = "'{}', '{}' are taken as x, y: distances in degrees are not on the ground; project the points first"
CERTAIN = "which of them are coordinates is not certain; say it with --columns, such as --columns 1,2"
TYPES = {"int": "<i4", "float": "<f4", "double": "<f8"}


class Taken:
    """What the command made of a file: its points, and what it said about them, without the file's name."""

    def __init__(self, fathom, name, data, options):
        (fathom.directory / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        self.name, self.output = name, fathom.directory / "out.ply"
        self.outcome = fathom("query", name, name, "-o", self.output, *options)
        self.error = self.outcome.err.decode()

    @property
    def points(self):
        assert self.outcome.code == 0, self.error
        header, body = self.output.read_bytes().split(b"end_header\n", 1)
        fields = [line.split()[1:] for line in header.decode().splitlines() if line.startswith("property")]
        rows = np.frombuffer(body, [(name, TYPES[kind]) for kind, name in fields])
        return [tuple(row)[:-2] for row in rows.tolist()]

    @property
    def warnings(self):
        start = f"fathom: warning: {self.name}: "
        lines = self.error.splitlines()
        assert all(line.startswith(start) for line in lines), self.error
        return list(dict.fromkeys(line.removeprefix(start) for line in lines))  # as sites and as queries

    @property
    def chosen(self):
        start = f"{self.name}: x is "
        lines = self.outcome.text.splitlines()
        return next(("x is " + line.removeprefix(start) for line in lines if line.startswith(start)), None)

    @property
    def refusal(self):
        assert self.outcome.code == 3, self.outcome
        start = f"fathom: {self.name} "
        assert self.error.startswith(start) and self.error.count("\n") == 1, self.error
        return self.error.removeprefix(start).rstrip("\n")


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def ply(form, end="\n", before="", vertex="", body=b"", count=2, after="element face 0\nproperty list uchar int i\n"):
    header = f"ply\nformat {form} 1.0\ncomment made here\nobj_info by hand\n{before}element vertex {count}\n"
    header += (vertex or "".join(f"property double {axis}\n" for axis in "xyz")) + after + "end_header\n"
    return header.replace("\n", end).encode() + body


DOUBLES = struct.pack("<6d", 1, 2, 3, 4, 5, 6.5)
POINTS = [(1, 2, 3), (4, 5, 6.5)]
