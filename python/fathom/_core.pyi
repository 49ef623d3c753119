"""The compiled part. It takes NumPy arrays whose rows are contiguous, and checks what only the library can."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy.typing as npt

VERSION: str
HAS_CUDA: bool
DTYPES: dict[str, int]
SITES: dict[str, int]
METRICS: dict[str, int]
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

def read(
    path: str, colours: int, channel: str, print_resolution: bool
) -> tuple[npt.NDArray[Any], Meaning, list[str]]: ...
def write(path: str, array: npt.NDArray[Any], meaning: Meaning, compress: bool) -> str: ...

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
    x: npt.NDArray[Any],
    rank: int,
    options: Options,
    distance: npt.NDArray[Any] | None,
    squared: npt.NDArray[Any] | None,
    nearest: npt.NDArray[Any] | None,
    coordinates: npt.NDArray[Any] | None,
    progress: Callable[[float], object] | None,
    /,
) -> None: ...
def device_names() -> list[str]: ...
def instruction_sets() -> list[str]: ...
def available_threads() -> int: ...
def release_threads() -> None: ...
def release_device_memory() -> None: ...
def published_distance(
    x: npt.NDArray[Any],
    rank: int,
    options: Options,
    distance: npt.NDArray[Any],
    nearest: npt.NDArray[Any],
    progress: Callable[[float], object] | None,
    algorithm: str,
    m: tuple[int, int, int],
    slice: int | None,
    access: str,
    more_rounds: int,
    measure_error: bool,
) -> dict[str, Any]: ...
def published_band(
    vertices: npt.NDArray[Any],
    faces: npt.NDArray[Any],
    lattice: Lattice,
    cutoff: float,
    numbers: tuple[int, int, int, int],
    passes: tuple[bool, bool, bool],
    choices: tuple[bool, bool, bool],
    progress: Callable[[float], object] | None,
    /,
) -> tuple[Band, dict[str, Any]]: ...
def published_repeat(
    repeater: npt.NDArray[Any],
    target: npt.NDArray[Any],
    variant: int,
    backend: int,
    progress: Callable[[float], object] | None,
    /,
) -> tuple[str, str | None, dict[str, float]]: ...
def published_lattice(
    repeater: npt.NDArray[Any],
    target: npt.NDArray[Any],
    u: tuple[int, int],
    v: tuple[int, int],
    variant: int,
    backend: int,
    progress: Callable[[float], object] | None,
    /,
) -> tuple[str, str | None, dict[str, float]]: ...
def published_near(
    source: npt.NDArray[Any],
    distance: npt.NDArray[Any],
    most: int,
    variant: int,
    backend: int,
    progress: Callable[[float], object] | None,
    /,
) -> tuple[str, str | None, dict[str, float]]: ...
def map_reduce(
    sites: npt.NDArray[Any],
    queries: npt.NDArray[Any],
    cone: tuple[npt.NDArray[Any] | None, float],
    distance: npt.NDArray[Any],
    site: npt.NDArray[Any],
    progress: Callable[[float], object] | None,
    division: tuple[int, int, int],
    atomic: bool,
    every: int,
    devices: Sequence[int],
    measure_error: bool,
    backend: int,
    threads: int,
) -> dict[str, Any]: ...
def gather(
    values: npt.NDArray[Any],
    element_size: int,
    nearest: npt.NDArray[Any],
    image_size: int,
    out: npt.NDArray[Any],
    /,
) -> None: ...

class Common:
    def __init__(self, spacing: Sequence[float], backend: int, threads: int, /) -> None: ...

def voronoi(
    sites: npt.NDArray[Any],
    rank: int,
    common: Common,
    weights: npt.NDArray[Any] | None,
    moments: bool,
    boundaries: bool,
    regions: npt.NDArray[Any],
    progress: Callable[[float], object] | None,
    /,
) -> list[tuple[Any, ...]]: ...
def costmap(
    occupancy: npt.NDArray[Any],
    rank: int,
    common: Common,
    occupied: tuple[int, int | float],
    unknown: tuple[int, int | float] | None,
    resolution: float,
    inscribed: float,
    inflation: float,
    scaling: float,
    cost: npt.NDArray[Any],
    nearest: npt.NDArray[Any] | None,
    progress: Callable[[float], object] | None,
    /,
) -> None: ...
def sdf(
    coverage: npt.NDArray[Any],
    rank: int,
    common: Common,
    range: float,
    pad: float,
    invert: bool,
    texture: npt.NDArray[Any],
    progress: Callable[[float], object] | None,
    /,
) -> None: ...
def lloyd(
    weights: npt.NDArray[Any],
    rank: int,
    common: Common,
    sites: npt.NDArray[Any],
    iterations: int,
    on_elements: bool,
    supersample: int,
    tolerance: float,
    seed: int,
    energies: bool,
    progress: Callable[[float], object] | None,
    /,
) -> list[tuple[npt.NDArray[Any], int, bool]]: ...
def stipple(
    image: npt.NDArray[Any],
    rank: int,
    common: Common,
    dots: int,
    seed: int,
    iterations: int,
    tolerance: float,
    gamma: float,
    invert: bool,
    supersample: int,
    progress: Callable[[float], object] | None,
    /,
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]: ...
def direction(
    x: npt.NDArray[Any],
    rank: int,
    common: Common,
    options: Options,
    out: npt.NDArray[Any],
    progress: Callable[[float], object] | None,
    /,
) -> None: ...
def morphology(
    x: npt.NDArray[Any],
    rank: int,
    common: Common,
    operation: int,
    size: float,
    border: int,
    labels: bool,
    out: npt.NDArray[Any],
    progress: Callable[[float], object] | None,
    /,
) -> None: ...
def medial_axis(
    x: npt.NDArray[Any],
    rank: int,
    common: Common,
    pruning: int,
    gamma: float,
    thin: bool,
    axis: npt.NDArray[Any],
    distance: npt.NDArray[Any] | None,
    nearest: npt.NDArray[Any] | None,
    witness: npt.NDArray[Any] | None,
    progress: Callable[[float], object] | None,
    /,
) -> None: ...
def medial_axis_of_nearest(
    nearest: npt.NDArray[Any],
    rank: int,
    common: Common,
    pruning: int,
    gamma: float,
    thin: bool,
    axis: npt.NDArray[Any],
    witness: npt.NDArray[Any] | None,
    progress: Callable[[float], object] | None,
    /,
) -> None: ...
def axis_balls(
    axis: npt.NDArray[Any],
    rank: int,
    common: Common,
    nearest: npt.NDArray[Any],
    out: npt.NDArray[Any],
    progress: Callable[[float], object] | None,
    /,
) -> None: ...
def local_thickness(
    x: npt.NDArray[Any],
    rank: int,
    common: Common,
    out: npt.NDArray[Any],
    progress: Callable[[float], object] | None,
    /,
) -> None: ...
def porosimetry(
    x: npt.NDArray[Any],
    rank: int,
    common: Common,
    inlets: npt.NDArray[Any] | None,
    out: npt.NDArray[Any],
    progress: Callable[[float], object] | None,
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
        self,
        sites: npt.NDArray[Any],
        is_mask: bool,
        choices: SetChoices,
        threads: int,
        progress: Callable[[float], object] | None,
        /,
    ) -> None: ...
    def nearest(
        self,
        queries: npt.NDArray[Any],
        options: QueryOptions,
        directions: npt.NDArray[Any] | None,
        half_angles: npt.NDArray[Any] | None,
        distance: npt.NDArray[Any] | None,
        squared: npt.NDArray[Any] | None,
        site: npt.NDArray[Any] | None,
        lower: npt.NDArray[Any] | None,
        progress: Callable[[float], object] | None,
        /,
    ) -> None: ...
    def sites(self, cloud: int, /) -> tuple[bytes, bytes]: ...
    @property
    def size(self) -> int: ...
    @property
    def bytes(self) -> int: ...

class DynamicSet(SiteSet):
    def __init__(self, points: npt.NDArray[Any], choices: SetChoices, threads: int, /) -> None: ...
    @property
    def ids(self) -> int: ...
    def contains(self, id: int, /) -> bool: ...
    def add(self, points: npt.NDArray[Any], /) -> int: ...
    def remove(self, ids: npt.NDArray[Any], /) -> None: ...
    def move(self, ids: npt.NDArray[Any], points: npt.NDArray[Any], /) -> None: ...

class VoxelSet(SiteSet):
    @staticmethod
    def of_shape(shape: Sequence[int], backend: int, /) -> VoxelSet: ...
    @staticmethod
    def of_mask(mask: npt.NDArray[Any], backend: int, /) -> VoxelSet: ...
    def contains(self, element: int, /) -> bool: ...
    def edit(self, edit: int, elements: npt.NDArray[Any], to: npt.NDArray[Any] | None, /) -> int: ...

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
    pairs: npt.NDArray[Any]

MeshChoices = tuple[int, int, int, int | None]
"""Sign, rule and backend of a mesh, and most bytes of a device."""

class TriangleSet:
    def __init__(
        self,
        vertices: npt.NDArray[Any],
        faces: npt.NDArray[Any],
        choices: MeshChoices,
        threads: int,
        progress: Callable[[float], object] | None,
        /,
    ) -> None: ...
    def nearest(
        self,
        points: npt.NDArray[Any],
        outputs: tuple[npt.NDArray[Any] | None, ...],
        threads: int,
        progress: Callable[[float], object] | None,
        /,
    ) -> None: ...
    def field(
        self,
        lattice: Lattice,
        outputs: tuple[npt.NDArray[Any] | None, ...],
        threads: int,
        progress: Callable[[float], object] | None,
        /,
    ) -> None: ...
    def band(
        self,
        lattice: Lattice,
        cutoff: float,
        dtype: int,
        keep: tuple[bool, bool, bool],
        threads: int,
        progress: Callable[[float], object] | None,
        /,
    ) -> Band: ...
    def self_intersections(
        self, limit: int, threads: int, progress: Callable[[float], object] | None, /
    ) -> SelfIntersections: ...
    def compare(
        self,
        other: TriangleSet,
        tolerance: float | None,
        samples: int,
        threads: int,
        progress: Callable[[float], object] | None,
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
    def __init__(self, lattice: Lattice, field: npt.NDArray[Any], level: float, /) -> None: ...
    @property
    def closed(self) -> bool: ...
    @property
    def arrays(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]: ...

class Band:
    def __init__(
        self, lattice: Lattice, cutoff: float, is_signed: bool, arrays: tuple[npt.NDArray[Any] | None, ...], /
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
    def to_dense(self, out: npt.NDArray[Any], /) -> None: ...
    def to_list(self, places: npt.NDArray[Any] | None, distances: npt.NDArray[Any] | None, /) -> None: ...

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
        progress: Callable[[float], object] | None,
        /,
    ) -> None: ...

class Computer:
    def __init__(self, graph: Graph, memory: int | None, threads: int, backend: int, /) -> None: ...
    def plan(self) -> dict[str, Any]: ...
    def compute(
        self, part: Sequence[int], out: npt.NDArray[Any], progress: Callable[[float], object] | None, /
    ) -> None: ...
    def compute_there(self, part: Sequence[int], address: int, pitch: int, stream: int, /) -> None: ...

def read_graph(
    document: str,
    nodes: dict[str, Graph],
    arrays: dict[str, npt.NDArray[Any] | tuple[Any, int, int, int, int, int]],
    functions: dict[str, Callable[..., Any]],
    adapter: Callable[..., npt.NDArray[Any]],
    path_of: Callable[[str], str],
    /,
) -> tuple[Graph, list[str]]: ...

# The rest is there if HAS_CUDA says so. Streams are addresses; 0 is the default stream.

class DeviceArray:
    def __init__(self, address: int, dtype: int, shape: Sequence[int], strides: Sequence[int], /) -> None: ...
    @staticmethod
    def held(array: Any, /) -> DeviceArray: ...
    @property
    def address(self) -> int: ...
    @property
    def row_step(self) -> int: ...

def medial_axis_on_device(
    x: DeviceArray,
    rank: int,
    common: Common,
    pruning: int,
    gamma: float,
    thin: bool,
    axis: DeviceArray,
    distance: DeviceArray | None,
    nearest: DeviceArray | None,
    witness: DeviceArray | None,
    stream: int,
    /,
) -> None: ...
def medial_axis_of_nearest_on_device(
    nearest: DeviceArray,
    rank: int,
    common: Common,
    pruning: int,
    gamma: float,
    thin: bool,
    axis: DeviceArray,
    witness: DeviceArray | None,
    stream: int,
    /,
) -> None: ...
def axis_balls_on_device(
    axis: DeviceArray, rank: int, common: Common, nearest: DeviceArray, out: DeviceArray, stream: int, /
) -> None: ...
def local_thickness_on_device(
    x: DeviceArray, rank: int, common: Common, out: DeviceArray, stream: int, /
) -> None: ...
def porosimetry_on_device(
    x: DeviceArray, rank: int, common: Common, inlets: DeviceArray | None, out: DeviceArray, stream: int, /
) -> None: ...
def costmap_on_device(
    occupancy: DeviceArray,
    rank: int,
    common: Common,
    occupied: tuple[int, int | float],
    unknown: tuple[int, int | float] | None,
    resolution: float,
    inscribed: float,
    inflation: float,
    scaling: float,
    cost: DeviceArray,
    nearest: DeviceArray | None,
    stream: int,
    /,
) -> None: ...
def direction_on_device(
    x: DeviceArray, rank: int, common: Common, options: Options, out: DeviceArray, stream: int, /
) -> None: ...
def morphology_on_device(
    x: DeviceArray,
    rank: int,
    common: Common,
    operation: int,
    size: float,
    border: int,
    labels: bool,
    out: DeviceArray,
    stream: int,
    /,
) -> None: ...
def sdf_on_device(
    coverage: DeviceArray,
    rank: int,
    common: Common,
    range: float,
    pad: float,
    invert: bool,
    texture: DeviceArray,
    stream: int,
    /,
) -> None: ...
def voronoi_on_device(
    sites: DeviceArray,
    rank: int,
    common: Common,
    weights: DeviceArray | None,
    moments: bool,
    boundaries: bool,
    regions: DeviceArray,
    stream: int,
    /,
) -> list[tuple[Any, ...]]: ...
def lloyd_on_device(
    weights: DeviceArray,
    rank: int,
    common: Common,
    sites: DeviceArray,
    iterations: int,
    on_elements: bool,
    supersample: int,
    tolerance: float,
    seed: int,
    energies: bool,
    stream: int,
    /,
) -> list[tuple[npt.NDArray[Any], int, bool]]: ...
def stipple_on_device(
    image: DeviceArray,
    rank: int,
    common: Common,
    dots: int,
    seed: int,
    iterations: int,
    tolerance: float,
    gamma: float,
    invert: bool,
    supersample: int,
    stream: int,
    /,
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]: ...
def transform_on_device(
    x: DeviceArray,
    rank: int,
    options: Options,
    distance: DeviceArray | None,
    squared: DeviceArray | None,
    nearest: DeviceArray | None,
    coordinates: DeviceArray | None,
    stream: int,
    /,
) -> None: ...
def gather_on_device(
    values: int, element_size: int, nearest: DeviceArray, image_size: int, out: int, device: int, stream: int, /
) -> None: ...
def site_set_on_device(sites: DeviceArray, is_mask: bool, choices: SetChoices, stream: int, /) -> SiteSet: ...
def nearest_on_device(
    sites: SiteSet,
    queries: DeviceArray,
    options: QueryOptions,
    direction: npt.NDArray[Any] | None,
    directions: DeviceArray | None,
    half_angles: DeviceArray | None,
    distance: DeviceArray | None,
    squared: DeviceArray | None,
    site: DeviceArray | None,
    lower: DeviceArray | None,
    stream: int,
    /,
) -> None: ...
def voxel_set_on_device(mask: DeviceArray, stream: int, /) -> VoxelSet: ...
def edit_on_device(
    voxels: VoxelSet, edit: int, elements: DeviceArray, to: DeviceArray | None, stream: int, /
) -> int: ...
def dynamic_set_on_device(points: DeviceArray, choices: SetChoices, threads: int, stream: int, /) -> DynamicSet: ...
def add_on_device(sites: DynamicSet, points: DeviceArray, stream: int, /) -> int: ...
def move_on_device(sites: DynamicSet, ids: npt.NDArray[Any], points: DeviceArray, stream: int, /) -> None: ...
def triangle_set_on_device(
    vertices: npt.NDArray[Any],
    faces: npt.NDArray[Any],
    choices: MeshChoices,
    device: int,
    threads: int,
    progress: Callable[[float], object] | None,
    /,
) -> TriangleSet: ...
def nearest_triangles_on_device(
    mesh: TriangleSet, points: DeviceArray, outputs: tuple[DeviceArray | None, ...], stream: int, /
) -> None: ...
def field_on_device(
    mesh: TriangleSet, lattice: Lattice, outputs: tuple[DeviceArray | None, ...], stream: int, /
) -> None: ...
def band_on_device(
    mesh: TriangleSet,
    lattice: Lattice,
    cutoff: float,
    dtype: int,
    triangles: bool,
    closest: bool,
    device: int,
    stream: int,
    progress: Callable[[float], object] | None,
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
    def to_dense(self, out: DeviceArray, stream: int, /) -> None: ...
    def to_list(self, lists: tuple[DeviceArray | None, ...], stream: int, /) -> None: ...

def download(array: DeviceArray, out: npt.NDArray[Any], stream: int, /) -> None: ...
def device_memory(shape: Sequence[int], dtype: int, device: int, /) -> Any: ...
def device_of(address: int, /) -> int: ...
def wait_for(stream: int, /) -> None: ...
