"""The compiled part. It takes NumPy arrays whose rows are contiguous, and checks what only the library can."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy.typing as npt

Array = npt.NDArray[Any]
Listener = Callable[[float], object] | None

VERSION: str
HAS_CUDA: bool
DTYPES: dict[str, int]
SITES: dict[str, int]
METRICS: dict[str, int]
OUTPUTS: tuple[str, ...]
BORDERS: dict[str, int]
SURFACES: dict[str, int]
STORAGES: dict[str, int]
BACKENDS: dict[str, int]
EDITS: dict[str, int]
SIGNS: dict[str, int]
RULES: dict[str, int]
MORPHOLOGY: dict[str, int]
MORPHOLOGY_BORDERS: dict[str, int]
PRUNINGS: dict[str, int]

class DeviceError(RuntimeError): ...

class Meaning:
    def __init__(self) -> None: ...
    def changed(self, rank: int, names: str, spacing: Sequence[float], unit: str | None) -> Meaning: ...
    @property
    def axes(self) -> str: ...
    @property
    def spacing(self) -> list[float] | None: ...
    @property
    def unit(self) -> str: ...
    @property
    def channels(self) -> list[str]: ...
    @property
    def origin(self) -> list[float] | None: ...
    @property
    def directions(self) -> list[list[float]]: ...
    @property
    def no_data(self) -> str: ...
    @property
    def georeference(self) -> str: ...

def read(path: str, colours: int, channel: str, print_resolution: bool) -> tuple[Array, Meaning, list[str]]: ...
def write(path: str, array: Array, meaning: Meaning, compress: bool) -> str: ...

class DeviceArray:
    """Of another library, in the order of a stream. Streams are addresses; 0 is the default stream."""

    def __init__(
        self, address: int, dtype: int, shape: Sequence[int], strides: Sequence[int], stream: int, /
    ) -> None: ...
    @staticmethod
    def held(array: Any, stream: int, /) -> DeviceArray: ...
    @property
    def address(self) -> int: ...
    @property
    def row_step(self) -> int: ...

A = TypeVar("A", Array, DeviceArray)
"""A kind of array; which one says where the work is done."""
Memory = Array | DeviceArray

class Options:
    def __init__(
        self,
        sites: int,
        value: int | float,
        metric: int,
        spacing: Sequence[float],
        border: Sequence[int],
        max_distance: float,
        is_signed: bool,
        surface: int,
        region: Sequence[tuple[int, int]],
        backend: int,
        threads: int,
        /,
    ) -> None: ...

def transform(
    x: A,
    rank: int,
    options: Options,
    progress: Listener,
    /,
    *outputs: A | None,
) -> None: ...
def device_names() -> list[str]: ...
def instruction_sets() -> list[str]: ...
def available_threads() -> int: ...
def release_threads() -> None: ...
def release_device_memory() -> None: ...
def published_distance(
    x: Array,
    rank: int,
    options: Options,
    distance: Array,
    nearest: Array,
    progress: Listener,
    algorithm: str,
    m: tuple[int, int, int],
    slice: int | None,
    access: str,
    more_rounds: int,
    measure_error: bool,
) -> dict[str, Any]: ...
def published_band(
    vertices: Array,
    faces: Array,
    lattice: Lattice,
    cutoff: float,
    numbers: tuple[int, int, int, int],
    passes: tuple[bool, bool, bool],
    choices: tuple[bool, bool, bool],
    progress: Listener,
    /,
) -> tuple[Band, dict[str, Any]]: ...
def published_repeat(
    repeater: Array,
    target: Array,
    variant: int,
    backend: int,
    progress: Listener,
    /,
) -> tuple[str, str | None, dict[str, float]]: ...
def published_lattice(
    repeater: Array,
    target: Array,
    u: tuple[int, int],
    v: tuple[int, int],
    variant: int,
    backend: int,
    progress: Listener,
    /,
) -> tuple[str, str | None, dict[str, float]]: ...
def published_near(
    source: Array,
    distance: Array,
    most: int,
    variant: int,
    backend: int,
    progress: Listener,
    /,
) -> tuple[str, str | None, dict[str, float]]: ...
def map_reduce(
    sites: Array,
    queries: Array,
    cone: tuple[Array | None, float],
    distance: Array,
    site: Array,
    progress: Listener,
    division: tuple[int, int, int],
    atomic: bool,
    every: int,
    devices: Sequence[int],
    measure_error: bool,
    backend: int,
    threads: int,
) -> dict[str, Any]: ...
def gather(values: A, element_size: int, nearest: A, image_size: int, out: A, /) -> None: ...

class Common:
    def __init__(self, spacing: Sequence[float], backend: int, threads: int, /) -> None: ...

def voronoi(
    sites: A,
    rank: int,
    common: Common,
    weights: A | None,
    moments: bool,
    boundaries: bool,
    regions: A,
    progress: Listener,
    /,
) -> list[tuple[Any, ...]]: ...
def costmap(
    occupancy: A,
    rank: int,
    common: Common,
    occupied: tuple[int, int | float],
    unknown: tuple[int, int | float] | None,
    resolution: float,
    inscribed: float,
    inflation: float,
    scaling: float,
    cost: A,
    nearest: A | None,
    progress: Listener,
    /,
) -> None: ...
def sdf(
    coverage: A,
    rank: int,
    common: Common,
    range: float,
    pad: float,
    invert: bool,
    texture: A,
    progress: Listener,
    /,
) -> None: ...
def lloyd(
    weights: A,
    rank: int,
    common: Common,
    sites: A,
    iterations: int,
    on_elements: bool,
    supersample: int,
    tolerance: float,
    seed: int,
    energies: bool,
    progress: Listener,
    /,
) -> list[tuple[Array, int, bool]]: ...
def stipple(
    image: A,
    rank: int,
    common: Common,
    dots: int,
    seed: int,
    iterations: int,
    tolerance: float,
    gamma: float,
    invert: bool,
    supersample: int,
    progress: Listener,
    /,
) -> tuple[Array, Array]: ...
def direction(
    x: A,
    rank: int,
    common: Common,
    options: Options,
    out: A,
    progress: Listener,
    /,
) -> None: ...
def morphology(
    x: A,
    rank: int,
    common: Common,
    operation: int,
    size: float,
    border: int,
    labels: bool,
    out: A,
    progress: Listener,
    /,
) -> None: ...
def medial_axis(
    x: A,
    rank: int,
    common: Common,
    pruning: int,
    gamma: float,
    thin: bool,
    axis: A,
    distance: A | None,
    nearest: A | None,
    witness: A | None,
    progress: Listener,
    /,
) -> None: ...
def medial_axis_of_nearest(
    nearest: A,
    rank: int,
    common: Common,
    pruning: int,
    gamma: float,
    thin: bool,
    axis: A,
    witness: A | None,
    progress: Listener,
    /,
) -> None: ...
def axis_balls(
    axis: A,
    rank: int,
    common: Common,
    nearest: A,
    out: A,
    progress: Listener,
    /,
) -> None: ...
def local_thickness(
    x: A,
    rank: int,
    common: Common,
    out: A,
    progress: Listener,
    /,
) -> None: ...
def porosimetry(
    x: A,
    rank: int,
    common: Common,
    inlets: A | None,
    out: A,
    progress: Listener,
    /,
) -> None: ...

class QueryOptions:
    def __init__(
        self,
        k: int,
        metric: int,
        radius: float,
        relative_error: float,
        absolute_error: float,
        work_limit: int,
        half_angle: float,
        cylinder_radius: float,
        threads: int,
        /,
    ) -> None: ...

class SetChoices:
    def __init__(
        self,
        storage: int,
        every: int,
        period: Sequence[float],
        backend: int,
        device_memory: int | None,
        devices: Sequence[int],
        /,
    ) -> None: ...

class SiteSet:
    def __init__(
        self, sites: Memory, is_mask: bool, choices: SetChoices, threads: int, progress: Listener, /
    ) -> None: ...
    def nearest(
        self,
        queries: A,
        options: QueryOptions,
        directions: Memory | None,
        half_angles: A | None,
        distance: A | None,
        squared: A | None,
        site: A | None,
        lower: A | None,
        progress: Listener,
        /,
    ) -> None: ...
    def sites(self, cloud: int, /) -> tuple[bytes, bytes]: ...
    @property
    def size(self) -> int: ...
    @property
    def bytes(self) -> int: ...

class DynamicSet(SiteSet):
    def __init__(self, points: Memory, choices: SetChoices, threads: int, /) -> None: ...
    @property
    def ids(self) -> int: ...
    def contains(self, id: int, /) -> bool: ...
    def add(self, points: Memory, /) -> int: ...
    def remove(self, ids: Array, /) -> None: ...
    def move(self, ids: Array, points: Memory, /) -> None: ...

class VoxelSet(SiteSet):
    @staticmethod
    def of_shape(shape: Sequence[int], backend: int, /) -> VoxelSet: ...
    @staticmethod
    def of_mask(mask: Memory, backend: int, /) -> VoxelSet: ...
    def contains(self, element: int, /) -> bool: ...
    def edit(self, edit: int, elements: A, to: A | None, /) -> int: ...

class Lattice:
    def __init__(self, origin: Sequence[float], spacing: Sequence[float], shape: Sequence[int], /) -> None: ...
    @property
    def origin(self) -> list[float]: ...
    @property
    def spacing(self) -> list[float]: ...
    @property
    def shape(self) -> list[int]: ...


# Outputs of meshes: distance, triangle, closest, barycentric, feature, gradient, inside; None for what is not wanted.

class SelfIntersections:
    count: int
    pairs: Array

MeshChoices = tuple[int, int, int, int | None]
"""Sign, rule and backend of a mesh, and most bytes of a device."""

class TriangleSet:
    def __init__(
        self,
        vertices: Array,
        faces: Array,
        choices: MeshChoices,
        device: int | None,
        threads: int,
        progress: Listener,
        /,
    ) -> None: ...
    def nearest(
        self,
        points: A,
        outputs: tuple[A | None, ...],
        threads: int,
        progress: Listener,
        /,
    ) -> None: ...
    def field(
        self,
        lattice: Lattice,
        outputs: tuple[A | None, ...],
        threads: int,
        progress: Listener,
        /,
    ) -> None: ...
    def band(
        self,
        lattice: Lattice,
        cutoff: float,
        dtype: int,
        keep: tuple[bool, bool, bool],
        threads: int,
        progress: Listener,
        /,
    ) -> Band: ...
    def self_intersections(
        self, limit: int, threads: int, progress: Listener, /
    ) -> SelfIntersections: ...
    def compare(
        self,
        other: TriangleSet,
        tolerance: float | None,
        samples: int,
        threads: int,
        progress: Listener,
        /,
    ) -> tuple[tuple[Any, ...], tuple[Any, ...], float]: ...
    def lattice(
        self,
        resolution: int | None,
        spacing: Sequence[float] | None,
        origin: Sequence[float] | None,
        shape: Sequence[int] | None,
        margin: int,
        cutoff: float | None,
        /,
    ) -> Lattice: ...
    @property
    def topology(self) -> tuple[bool, int, int, int, int, int, int, int, float, float]: ...
    @property
    def bounds(self) -> list[list[float]]: ...
    @property
    def sign(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def bytes(self) -> int: ...

class IsoSurface:
    def __init__(self, lattice: Lattice, field: Array, level: float, /) -> None: ...
    @property
    def closed(self) -> bool: ...
    @property
    def arrays(self) -> tuple[Array, Array]: ...

class Band:
    def __init__(
        self, lattice: Lattice, cutoff: float, is_signed: bool, arrays: tuple[Array | None, ...], /
    ) -> None: ...
    @property
    def lattice(self) -> Lattice: ...
    @property
    def cutoff(self) -> float: ...
    @property
    def is_signed(self) -> bool: ...
    @property
    def active(self) -> int: ...
    @property
    def arrays(self) -> tuple[Any, ...]: ...
    def save(self, path: str, /) -> None: ...
    def to_dense(self, out: Array, /) -> None: ...
    def to_list(self, places: Array | None, distances: Array | None, /) -> None: ...

class Graph:
    """A raster of a tile graph."""

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def pixel(self) -> tuple[float, str]: ...
    @property
    def type(self) -> str: ...
    def document(self) -> str: ...
    def hash(self) -> str: ...
    def write(
        self,
        path: str,
        memory: int | None,
        threads: int,
        compress: bool,
        progress: Listener,
        /,
    ) -> None: ...

class Computer:
    def __init__(self, graph: Graph, memory: int | None, threads: int, backend: int, /) -> None: ...
    def plan(self) -> dict[str, Any]: ...
    def compute(self, part: Sequence[int], out: Memory, progress: Listener, /) -> None: ...

def read_graph(
    document: str,
    nodes: dict[str, Graph],
    arrays: dict[str, Array | tuple[Any, int, int, int, int, int]],
    functions: dict[str, Callable[..., Any]],
    adapter: Callable[..., Array],
    path_of: Callable[[str], str],
    /,
) -> tuple[Graph, list[str]]: ...

# The rest is there if HAS_CUDA says so.

def device_band(
    mesh: TriangleSet,
    lattice: Lattice,
    cutoff: float,
    dtype: int,
    keep: tuple[bool, bool, bool],
    device: int,
    stream: int,
    progress: Listener,
    /,
) -> DeviceBand: ...

class DeviceBand:
    @property
    def lattice(self) -> Lattice: ...
    @property
    def cutoff(self) -> float: ...
    @property
    def active(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def arrays(self) -> tuple[tuple[Any, tuple[int, ...], int] | None, ...]: ...
    def download(self) -> Band: ...
    def to_dense(self, out: DeviceArray, /) -> None: ...
    def to_list(self, lists: tuple[DeviceArray | None, ...], /) -> None: ...

def download(array: DeviceArray, out: Array, /) -> None: ...
def device_memory(shape: Sequence[int], dtype: int, device: int, /) -> Any: ...
def device_of(address: int, /) -> int: ...
def wait_for(stream: int, /) -> None: ...
