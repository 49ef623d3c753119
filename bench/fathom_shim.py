"""Calls libfathom_bench.so's distance transform with NumPy arrays. For benchmarks and tests, not the Python package."""

import ctypes
import os
import pathlib

import numpy as np

DTYPES = [np.dtype(name) for name in
          "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float32 float64".split()]
RULES = ["zero", "nonzero", "greater_equal", "less_equal", "equal", "labels"]
METRICS = ["euclidean", "taxicab", "chessboard"]
BORDERS = ["open", "sites", "periodic"]
SURFACES = ["faces", "centers"]
INSTRUCTION_SETS = ["auto", "baseline", "avx2", "avx512"]


class _Array(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int32)]


class _Call(ctypes.Structure):
    _fields_ = [
        ("input", _Array), ("distance", _Array), ("squared", _Array), ("nearest", _Array), ("coordinates", _Array),
        ("rank", ctypes.c_int32), ("shape", ctypes.c_int64 * 8),
        ("rule", ctypes.c_int32), ("value", ctypes.c_double), ("metric", ctypes.c_int32),
        ("spacings", ctypes.c_int32), ("spacing", ctypes.c_double * 8),
        ("borders", ctypes.c_int32), ("border", ctypes.c_int32 * 8),
        ("max_distance", ctypes.c_double), ("signed_distance", ctypes.c_int32), ("surface", ctypes.c_int32),
        ("ranges", ctypes.c_int32), ("region", ctypes.c_int64 * 16),
        ("instruction_set", ctypes.c_int32), ("threads", ctypes.c_int32),
        ("used_instruction_set", ctypes.c_int32), ("used_threads", ctypes.c_int32),
        ("scratch_bytes", ctypes.c_uint64), ("message", ctypes.c_char * 512),
    ]


def _find_library():
    given = os.environ.get("FATHOM_BENCH_LIBRARY")
    if given:
        return given
    root = pathlib.Path(__file__).resolve().parent.parent
    for folder in ("build/release", "build"):
        path = root / folder / "bench" / "libfathom_bench.so"
        if path.exists():
            return str(path)
    raise FileNotFoundError("libfathom_bench.so is not built: cmake --preset release && cmake --build --preset release "
                            "--target fathom_bench, or set FATHOM_BENCH_LIBRARY to its path")


def _load():
    library = ctypes.CDLL(_find_library())
    library.fathom_bench_call_size.restype = ctypes.c_uint64
    if library.fathom_bench_call_size() != ctypes.sizeof(_Call):
        raise RuntimeError("libfathom_bench.so and fathom_shim.py are not of the same version")
    library.fathom_bench_copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64]
    library.fathom_bench_copy.restype = None
    return library


_library = _load()


class FathomError(Exception):
    pass


def has(instruction_set):
    return bool(_library.fathom_bench_has(INSTRUCTION_SETS.index(instruction_set)))


def copy(to, source):
    _library.fathom_bench_copy(to.ctypes.data, source.ctypes.data, source.nbytes)


def _at_line(shape, dtype):
    """An array that begins at a line of the cache, as the library's do, and large ones of the Python package."""
    size = int(np.prod(shape)) * dtype.itemsize
    memory = np.empty(size + 64, np.uint8)
    begin = -memory.ctypes.data % 64
    return memory[begin:begin + size].view(dtype).reshape(shape)


def _describe(array):
    if array is None:
        return _Array(None, 0)
    if not array.flags.c_contiguous:
        raise ValueError("arrays must be C-contiguous")
    return _Array(array.ctypes.data, DTYPES.index(array.dtype))


class Transform:
    """One transform with its outputs allocated: prepare once, call often.

    distance, squared, nearest, coordinates: dtype of a result that is wanted, or the array to fill.
    """

    def __init__(self, image, *, distance=None, squared=None, nearest=None, coordinates=None, sites="zero", value=0.0,
                 metric="euclidean", spacing=(), border=(), max_distance=float("inf"), signed=False, surface="faces",
                 region=(), isa="auto", threads=1):
        self.image = np.ascontiguousarray(image)
        shape = tuple(e - b for b, e in region) if region else self.image.shape
        self.distance = self._output(distance, shape)
        self.squared = self._output(squared, shape)
        self.nearest = self._output(nearest, shape)
        self.coordinates = self._output(coordinates, (self.image.ndim, *shape))
        spacing = np.atleast_1d(np.asarray(spacing, np.float64))
        border = [border] if isinstance(border, str) else list(border)
        call = self._call = _Call()
        call.input, call.distance, call.squared = map(_describe, (self.image, self.distance, self.squared))
        call.nearest, call.coordinates = map(_describe, (self.nearest, self.coordinates))
        call.rank = self.image.ndim
        call.shape[:self.image.ndim] = self.image.shape
        call.rule, call.value, call.metric = RULES.index(sites), value, METRICS.index(metric)
        call.spacings = len(spacing)
        call.spacing[:len(spacing)] = spacing.tolist()
        call.borders = len(border)
        call.border[:len(border)] = [BORDERS.index(b) for b in border]
        call.max_distance, call.signed_distance, call.surface = max_distance, signed, SURFACES.index(surface)
        call.ranges = len(region)
        call.region[:2 * len(region)] = [int(end) for pair in region for end in pair]
        call.instruction_set, call.threads = INSTRUCTION_SETS.index(isa), threads

    @staticmethod
    def _output(wanted, shape):
        if wanted is None or isinstance(wanted, np.ndarray):
            return wanted
        return _at_line(shape, np.dtype(wanted))

    def __call__(self):
        if _library.fathom_bench_distance(ctypes.byref(self._call)):
            raise FathomError(self._call.message.decode())
        return self

    @property
    def instruction_set(self):
        return INSTRUCTION_SETS[self._call.used_instruction_set]

    @property
    def threads(self):
        return self._call.used_threads

    @property
    def scratch_bytes(self):
        return self._call.scratch_bytes


def transform(image, **options):
    """The results of one call, as attributes distance, squared, nearest, coordinates."""
    return Transform(image, **options)()
