"""What the pages of tables show, and in which order: bench/tables.py writes them, bench/suite.py measures for them."""

import table_kinds as t

ALL = "all 50% 10% 1% 0.3% 0.1% 0.01% one none blobs objects ring plane diagonal".split()


def each(sizes, cases):
    """The same cases of each size."""
    return {size: cases for size in sizes.split()}


FEW = "all 1% blobs diagonal".split()
SOME = "all 10% 1% 0.01% one blobs ring diagonal".split()
SMALL = "10000x28x28 10000x64x64 1000x100x100 1000x128x128".split()
PEERS = "1024x1024 4096x4096 16384x16384 256x256x256 512x512x512".split()
OVER_COPY = "ms, in brackets over the time of copying the output."
OVER_PLAIN = "ms, in brackets over the plain distance."
LABELS = {"labels": "labels", "nearest of labels": "labels-nearest", "signed labels": "labels-signed"}

OPERATIONS = {
    "squares": "squared",
    "float64 distances": "doubles",
    "nearest sites, too": "nearest",
    "nearest sites alone": "indices",
    "a spacing in a unit": "microscope",
    "with nearest sites": "microscope-nearest",
    "signed, with that spacing": "microscope-signed",
    "any spacing": "scanner",
    "any spacing, with nearest sites": "scanner-nearest",
    "labels": "labels",
    "nearest elements of other labels": "labels-nearest",
    "signed labels": "labels-signed",
    "signed": "signed",
    "a border of sites": "border",
    "periodic": "periodic",
    "taxicab": "taxicab",
}

PAGES = {
    "grid-cpu": (
        "Images and volumes on the CPU",
        [
            t.Table(
                "calls-cpu",
                "What calls cost",
                "calls",
                t.calls_cpu,
                "Times the plain distance, per element: mean and most of 1 % sites, blobs and a diagonal; one thread.",
            ),
            t.grid_cpu("cpu-2048", "2048x2048", "edt OpenCV SciPy SimpleITK".split()),
            t.grid_cpu("cpu-8192", "8192x8192", ["edt", "OpenCV"]),
            t.grid_cpu("cpu-256", "256x256x256", ["edt", "SciPy", "SimpleITK"]),
            t.grid_cpu("cpu-512", "512x512x512", ["edt"]),
            t.grid_threads("cpu-threads", ["8192x8192", "512x512x512"]),
            t.grid_features(
                "cpu-nearest",
                "Nearest sites and spacing",
                ["2048x2048", "8192x8192", "256x256x256"],
                {"index": "nearest", "coordinates": "coordinates", "spacing": "spacing"},
                note="ms, in brackets over the plain distance of the same run. Sites are asked for without distances; "
                "spacings are 1.5, 1, in volumes 1.5, 1, 0.75.",
            ),
            t.grid_features(
                "cpu-labels",
                "Labels, and borders of sites",
                ["2048x2048", "256x256x256"],
                {"labels": "labels", "border": "border"},
                "edt",
                "ms, in brackets how many times that edt takes.",
            ),
            t.Table("cpu-server", "On an Intel Xeon server"),
            t.Table("cpu-server-threads", "Two threads on an Intel Xeon server"),
            t.Table("cpu-files", "From file to file"),
        ],
    ),
    "grid-gpu": (
        "Images and volumes on a GPU",
        [
            t.factors(
                "calls-gpu",
                "What calls cost",
                each("4096x4096 256x256x256", ["1%", "blobs", "diagonal"]),
                OPERATIONS,
                "Times the plain distance: mean and most of 1 % sites, blobs and a diagonal.",
            ),
            t.by_size(
                "gpu-images",
                "Images",
                {
                    "1024x1024": ALL,
                    "4096x4096": ALL,
                    "16384x16384": ALL,
                    "32768x32768": "10% 1% blobs objects diagonal".split(),
                },
                note=OVER_COPY,
            ),
            t.by_size(
                "gpu-volumes",
                "Volumes",
                {
                    "128x128x128": ALL,
                    "256x256x256": ALL,
                    "512x512x512": ALL,
                    "1024x1024x1024": "10% 1% blobs objects".split(),
                },
                note=OVER_COPY,
            ),
            *(
                t.beside_peers(f"gpu-peers-{size.split('x')[0]}", size, [c for c in ALL if c != "none"])
                for size in PEERS
            ),
            t.shapes(
                "gpu-shapes",
                "Other shapes",
                "1000x1777 3x40000 511x513x515 181x217x181 257x257x257 300x300x300 64x1024x1024 100x2048x2048".split(),
                "256x1024x1024 2500x128x128 10000x64x64 50000x28x28".split(),
                FEW,
                "ms, in brackets picoseconds per element. “256 of” are batches in one call.",
            ),
            t.by_operation(
                "gpu-options",
                "Options",
                {"4096x4096": ["1%", "diagonal"], "256x256x256": ["1%", "diagonal"]},
                {
                    "distance": "distance",
                    "border of sites": "border",
                    "spacing": "spacing",
                    "labels": "labels",
                    "signed": "signed",
                    "nearest site": "nearest",
                    "taxicab": "taxicab",
                    "periodic": "periodic",
                },
                note=OVER_PLAIN,
            ),
            t.by_operation(
                "gpu-values",
                "Squares and labels",
                {
                    "4096x4096": "all 1% none blobs diagonal".split(),
                    "256x256x256": "all 1% none blobs diagonal".split(),
                },
                {"distance": "distance", "squares": "squared", "squares of labels": "labels-squared", **LABELS},
                t.alone,
                note="ms. Squares are uint32, nearest elements int32 indices beside the distances.",
            ),
            t.by_operation(
                "gpu-labels-odd",
                "Labels of volumes whose rows begin anywhere",
                each("125x125x125 181x217x181 300x300x300", "all 10% 1% none blobs".split()),
                {"distance": "distance", "labels": "labels", "signed labels": "labels-signed"},
                note=OVER_PLAIN,
            ),
            t.by_size(
                "gpu-nearest",
                "Nearest sites",
                each("4096x4096 256x256x256 512x512x512 64x1024x1024 511x513x515", ALL),
                "nearest",
                t.over_plain_and_indices,
                "int32 indices and distances, ms; in brackets over the plain distance, less writing the indices.",
            ),
            t.by_size(
                "gpu-nearest-odd",
                "Nearest sites of volumes whose rows begin inside sectors of memory",
                each("181x217x181 257x257x257 300x300x300", "all 10% 1% 0.3% 0.01% one blobs ring diagonal".split()),
                "nearest",
                t.over_plain_and_indices,
                "As above.",
            ),
            t.by_size(
                "gpu-spacing",
                "A spacing in a unit",
                each("4096x4096 256x256x256 512x512x512 511x513x515", ALL),
                "spacing",
                t.over_plain,
                "2.5 and 1.25 in images, 2.5, 1.25 and 0.7 in volumes; ms, in brackets over the plain distance.",
            ),
            t.by_operation(
                "gpu-unit",
                "The spacing of a microscope: 3, 1, 1",
                {
                    "4096x4096": "all 10% 1% 0.01% blobs diagonal".split(),
                    "256x256x256": "all 1% 0.01% blobs diagonal".split(),
                },
                {
                    "spacing": "microscope",
                    "and a border of sites": "microscope-border",
                    "and a maximum of 50": "microscope-limit",
                },
                note=OVER_PLAIN,
            ),
            t.by_operation(
                "gpu-more",
                "More with that spacing, and spacings without a unit",
                {
                    "4096x4096": ["1%", "blobs", "diagonal"],
                    "256x256x256": "all 1% blobs diagonal ring".split(),
                    "512x512x512": "all 1% blobs ring".split(),
                },
                {
                    "nearest site": "microscope-nearest",
                    "signed": "microscope-signed",
                    "signed, a maximum of 50": "microscope-signed-limit",
                    "labels": "microscope-labels",
                    "no unit": "scanner",
                    "no unit, signed": "scanner-signed",
                },
                note=OVER_PLAIN + " Without a unit: 1.25, 0.742188, 0.742188.",
            ),
            t.by_operation(
                "gpu-any",
                "Volumes with a spacing without a unit",
                {"256x256x256": SOME, "512x512x512": SOME},
                {"distances": "scanner", "nearest sites": "scanner-nearest", "labels": "scanner-labels"},
                note=OVER_PLAIN,
            ),
            t.by_operation(
                "gpu-any-images",
                "Images with a spacing without a unit",
                {"4096x4096": "all 50% 1% 0.1% 0.01% one blobs plane diagonal".split()},
                {"distances": "scanner", "signed": "scanner-signed"},
                note=OVER_PLAIN,
            ),
            t.by_operation(
                "gpu-rows",
                "Images of few rows, and lines",
                each("3x40000 8x4096 31x1000000 1000003", "10% 0.1% one blobs".split()),
                {"distance": "distance", **LABELS, "signed": "signed"},
                note=OVER_PLAIN,
            ),
            t.by_operation(
                "gpu-small",
                "Small images in batches",
                dict.fromkeys(SMALL, ["all", "10%", "blobs"]),
                {"distance": "distance", "signed": "signed", "nearest site": "nearest", **LABELS},
                t.over_plain_and_indices,
                "ms, in brackets over the plain distance, less half the time of a copy, which writing indices takes.",
                1,
            ),
            t.Table("gpu-host", "Arrays of the host"),
            t.Table("gpu-long", "2000 × 2000 × 2000"),
        ],
    ),
    "python": (
        "Python and PyTorch",
        [
            t.Table("python-2048", "2048 × 2048, from NumPy to NumPy"),
            t.Table("python-256", "256 × 256 × 256, from NumPy to NumPy"),
            t.Table("python-calls", "What a call costs"),
            t.Table("python-batches", "A batch on a GPU"),
            t.Table("torch-cpu", "Losses and metrics on the CPU"),
            t.Table("torch-gpu", "Losses and metrics on a GPU"),
        ],
    ),
    "points": (
        "Points",
        [
            t.Table(
                "points-cpu", "On the CPU", "points", t.points_cpu, "Seconds, in brackets how many times Fathom's time."
            ),
            t.Table("points-faiss", "On the CPU, beside FAISS"),
            t.points_table(
                "points-gpu",
                "1024 queries on a GPU",
                {
                    f"{storage}, {spread}": (spread, storage)
                    for storage in ("plain", "sorted")
                    for spread in ("uniform", "lattice")
                },
                [16384, 65536, 262144, 16777216],
                "float32 points uniform in a cube, int32 points of a lattice; distance and id, ms.",
            ),
            t.Table(
                "points-gpu-builds",
                "Building on a GPU",
                "device_points",
                t.points_builds,
                "Uniform float32 points, ms.",
            ),
            t.Table("points-gpu-many", "Many queries on a GPU", "device_points", t.points_many),
            t.points_table(
                "points-gpu-hard",
                "Hard inputs on a GPU",
                {
                    f"{head}: {storage}": (spread, storage)
                    for head, spread in {
                        "on a sphere": "sphere",
                        "in a hundred clusters": "clustered",
                        "at eight places": "places",
                        "queries far away": "far",
                        "all equal": "equal",
                        "on a sphere, queries in the middle": "middle",
                    }.items()
                    for storage in ("plain", "sorted")
                },
                [16384, 65536, 262144],
                "1024 queries, ms.",
            ),
            t.Table("points-gpu-sphere", "Spheres of other sizes on a GPU"),
            t.Table(
                "points-gpu-peers",
                "Beside CuPy and PyTorch on a GPU",
                "point_peers",
                t.points_peers,
                "ms, builds in brackets.",
            ),
            t.Table("points-edits", "Sites that come and go"),
            t.Table("points-voxels", "Voxels that come and go"),
            t.Table("points-voxel-queries", "Queries of voxels on a GPU"),
            t.Table("points-first", "When a device is worth it"),
        ],
    ),
    "meshes": (
        "Triangle meshes",
        [
            t.Table("mesh-cpu", "On the CPU"),
            t.listed(
                "mesh-gpu",
                "On a GPU",
                "device_mesh",
                {"case": "case", "points": "points", "ms": "ms"},
                "“Mesh” is a torus of 5184 triangles, “fine” a sphere with bumps of 1 M; whole calls.",
            ),
        ],
    ),
    "streams": (
        "Streams",
        [
            t.Table(
                "stream-wide",
                "Wide rasters",
                "stream",
                t.stream_rows("wide"),
                "What `fathom stream` writes into a pipe; its reader counts on the same processors.",
            ),
            t.Table(
                "stream-peers",
                "16,384 × 16,384, beside peers",
                "stream",
                t.stream_rows("square"),
                "Seconds and memory; of peers, which compute whole images in one thread, how many times Fathom's time.",
            ),
            t.listed(
                "stream-gpu",
                "On a GPU",
                "device_stream",
                {
                    "raster": "case",
                    "type": "dtype",
                    "ms": "ms",
                    "copy, ms": "copy_ms",
                    "GB/s written": "gigabytes_per_second",
                },
                "10,240 × 10,240.",
            ),
            t.Table("stream-paper", "The slides that streams come from"),
        ],
    ),
    "apps": (
        "Morphology, axes, Voronoi",
        [
            t.Table("apps-cpu", "On one core"),
            t.Table("morphology-cpu", "Morphology on one core", "morphology", t.morphology_cpu),
            t.Table("axes-cpu", "Medial axes and thickness on one core", "axes", t.axes_cpu),
            t.Table("apps-gpu", "On a GPU"),
            t.listed(
                "morphology-gpu",
                "Morphology, directions, costmaps on a GPU",
                "device_morphology",
                {"operation": "case", "of": "mask", "radius or side": "value", "ms": "ms"},
                "256³, costmaps and directions 4096².",
            ),
            t.listed(
                "axes-gpu",
                "Medial axes and thickness on a GPU",
                "device_axes",
                {"operation": "case", "of": "mask", "size": "shape", "ms": "ms", "as calls, ms": "calls"},
            ),
            t.listed(
                "voronoi-gpu",
                "Voronoi regions and stippling on a GPU",
                "device_voronoi",
                {"operation": "case", "side": "side", "sites": "sites", "ms": "ms"},
            ),
        ],
    ),
}

# Tables that were measured before there were records, and those that stand for them since.
FOLLOWED = {"apps-cpu": ("morphology-cpu", "axes-cpu"), "apps-gpu": ("morphology-gpu", "axes-gpu", "voronoi-gpu")}
