"""How records of benchmarks become rows of tables, and which runs of device_bench a table takes."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import stream_tables

CASES = {"one": "one site", "ring": "ring, shell", "plane": "one row, plane"}  # how tables call the benchmarks' cases

CPU_CASES = ["one", "1e-4", "1%", "10%", "50%", "blobs", "objects", "plane", "diagonal", "all", "none"]

Records = list[dict]
Rows = Iterable[list[str]]  # the first is the head


# --- Cells -----------------------------------------------------------------------------------------------------------


def digits(value):
    """To three digits, of milliseconds below 0.1 to what differs from run to run."""
    if value >= 1000 or value < 0.001:
        return f"{value:.0f}" if value >= 1000 else f"{value:.2g}"
    return f"{value:#.3g}".rstrip(".") if value >= 0.1 else f"{value:.{4 if value < 0.02 else 3}f}"


def times(quotient):
    return f"{quotient:.0f}×" if quotient >= 9.95 else f"{quotient:.1f}×"


def elements(size):
    return math.prod(map(int, size.split("x")))


def shown(size, batch=0):
    """“4096 × 4096”; of batches “10,000 of 64 × 64”."""
    extents = [f"{int(n):,}" if int(n) > 9999 else n for n in size.split("x")]
    return ((f"{extents[0]} of " if batch else "") + " × ".join(extents[batch:])).strip()


def alone(record, plain):
    return digits(record["ms"])


def over_copy(record, plain):
    return f"{digits(record['ms'])} ({times(record['ms'] / record['copy_ms'])})"


def over_plain(record, plain):
    return f"{digits(record['ms'])} ({times(record['ms'] / plain['ms'])})" if plain else digits(record["ms"])


def over_plain_and_indices(record, plain):
    """In brackets less the writing of indices, which is half of what a copy of as many distances moves."""
    if not plain:
        return digits(record["ms"])
    return f"{digits(record['ms'])} ({times((record['ms'] - record['copy_ms'] / 2) / plain['ms'])})"


def per_element(record, plain):
    return f"{digits(record['ms'])} ({record['ms'] * 1e9 / elements(record['size']):.3g})"


# --- Tables ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """A table: of which benchmark's records, and how they become rows. Without a benchmark it is one of those kept."""

    name: str
    title: str
    benchmark: str = ""
    rows: Callable[[Records], Rows] | None = None
    note: str = ""
    runs: list[tuple] = field(default_factory=list)  # of device_bench: (size, case, operation, batch axes)


def of_cases(sizes, operations, batch):
    """What device_bench measures for a table: the plain distance of each, too, which others are compared with."""
    return [
        (size, case, operation, batch)
        for size, cases in sizes.items()
        for case in cases
        for operation in dict.fromkeys(["distance", *operations])
    ]


def by_task(records):
    return {(r["size"], r["case"], r["operation"], r["batch_axes"]): r for r in records if r["right"]}


def by_size(name, title, sizes, operation="distance", cell=over_copy, note=""):
    """A row for each case, a column for each size."""

    def rows(records):
        found = by_task(records)
        yield ["case", *map(shown, sizes)]
        for case in dict.fromkeys(case for cases in sizes.values() for case in cases):
            tasks = [(size, case, operation, 0) for size in sizes]
            cells = [cell(found[t], found.get((t[0], case, "distance", 0))) if t in found else "" for t in tasks]
            if any(cells):
                yield [CASES.get(case, case), *cells]
        copies = {size: r["copy_ms"] for (size, *_), r in found.items() if size in sizes}
        if copies:
            yield ["*copy*", *(digits(copies[size]) if size in copies else "" for size in sizes)]

    return Table(name, title, "device_bench", rows, note, of_cases(sizes, [operation], 0))


def by_operation(name, title, sizes, operations, cell=over_plain, note="", batch=0):
    """A row for each size and case, a column for each operation."""

    def rows(records):
        found = by_task(records)
        yield ["", *operations]
        for size, cases in sizes.items():
            for case in cases:
                plain = found.get((size, case, "distance", batch))
                of = [found.get((size, case, operation, batch)) for operation in operations.values()]
                if any(of):
                    cells = [(alone if r is plain else cell)(r, plain) if r else "" for r in of]
                    yield [f"{shown(size, batch)}, {CASES.get(case, case)}", *cells]

    return Table(name, title, "device_bench", rows, note, of_cases(sizes, operations.values(), batch))


def beside_peers(name, size, cases):
    """Ours, a copy of the output and peers, for each case of a size."""

    def rows(records):
        columns = {"Fathom": "ms", "copy": "copy_ms", "NPP": "npp_ms", "CuPy": "cupy_ms", "cuCIM": "cucim_ms"}
        found = [r for r in records if r["size"] == size and r["operation"] == "distance" and not r["batch_axes"]]
        columns = {head: key for head, key in columns.items() if any(r.get(key) for r in found)}
        yield ["case", *columns]
        for r in (r for r in found if r["right"] and r["case"] in cases):
            yield [
                CASES.get(r["case"], r["case"]),
                *(
                    digits(r[key]) if r.get(key) and r.get(key[:-3] + "_right", True) else ""
                    for key in columns.values()
                ),
            ]

    return Table(
        name,
        f"{shown(size)}, beside a copy of the output and peers",
        "device_bench",
        rows,
        "ms.",
        of_cases({size: cases}, [], 0),
    )


def shapes(name, title, sizes, batches, cases, note):
    def rows(records):
        found = by_task(records)
        yield ["shape", *cases, "scratch per element"]
        for size, batch in [*((s, 0) for s in sizes), *((s, 1) for s in batches)]:
            of = [found.get((size, case, "distance", batch)) for case in cases]
            known = [r for r in of if r]
            if known:
                scratch = f"{known[0]['scratch_bytes'] / elements(size):.2g} B"
                yield [shown(size, batch), *(per_element(r, None) if r else "" for r in of), scratch]

    runs = of_cases({s: cases for s in sizes}, [], 0) + of_cases({s: cases for s in batches}, [], 1)
    return Table(name, title, "device_bench", rows, note, runs)


def factors(name, title, sizes, operations, note=""):
    """A row for each operation: its time over the plain distance, mean and most of all cases, and its scratch."""

    def rows(records):
        found = by_task(records)
        yield ["", *(shown(size) for size in sizes), "scratch per element"]
        for head, operation in operations.items():
            cells, scratch = [], []
            for size, cases in sizes.items():
                pairs = [(found.get((size, c, operation, 0)), found.get((size, c, "distance", 0))) for c in cases]
                of = [r["ms"] / plain["ms"] for r, plain in pairs if r and plain]
                scratch += [r["scratch_bytes"] / elements(size) for r, _ in pairs if r]
                cells.append(f"{math.prod(of) ** (1 / len(of)):.1f}, {max(of):.1f}" if of else "")
            if any(cells):
                yield [
                    head,
                    *cells,
                    " to ".join(dict.fromkeys(f"{n:.2g}" for n in (min(scratch), max(scratch)))) + " B",
                ]

    return Table(name, title, "device_bench", rows, note, of_cases(sizes, operations.values(), 0))


def listed(name, title, benchmark, columns, note=""):
    """A row for each record, and of it what the columns say."""

    def text(value):
        return digits(value) if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)

    def rows(records):
        used = {head: key for head, key in columns.items() if any(r.get(key) is not None for r in records)}
        yield [*used]
        for r in records:
            if r.get("right", r.get("same", True)):
                yield [text(r[key]) if r.get(key) else "" for key in used.values()]

    return Table(name, title, benchmark, rows, note)


# --- Of the CPU's benchmarks -----------------------------------------------------------------------------------------


def grid_cpu(name, size, peers):
    def rows(records):
        found = {
            (r["case"], r["isa"]): r
            for r in records
            if r["feature"] == "plain" and r["threads"] == 1 and "x".join(map(str, r["size"])) == size
        }
        sets = [isa for isa in ("avx512", "avx2", "baseline") if any(key[1] == isa for key in found)]
        names = [p for p in peers if any(p in r["peers"] for r in found.values())]
        if not sets:
            return
        yield ["case", *(s.upper().replace("AVX512", "AVX-512") for s in sets), "copy", *names]
        for case in (case for case in CPU_CASES if (case, sets[0]) in found):
            first = found[case, sets[0]]
            ours = first["ours"]["min"]
            yield [
                CASES.get(case, case),
                *(digits(found[case, s]["ours"]["min"] * 1e3) for s in sets),
                digits(first["copy"]["min"] * 1e3),
                *(
                    f"{digits(first['peers'][p]['min'] * 1e3)} ({times(first['peers'][p]['min'] / ours)})"
                    if p in first["peers"]
                    else ""
                    for p in names
                ),
            ]

    return Table(
        name,
        f"{shown(size)}, one thread",
        "grid",
        rows,
        "Mask of bytes to float32 distances; minimum of the runs in ms, of peers how many times Fathom's time.",
    )


def grid_threads(name, sizes):
    def rows(records):
        found = {
            ("x".join(map(str, r["size"])), r["case"], r["threads"]): r["ours"]["min"] * 1e3
            for r in records
            if r["feature"] == "plain" and r["isa"] == "avx512"
        }
        sizes_here = [s for s in sizes if any(key[0] == s and key[2] == 2 for key in found)]
        if not sizes_here:
            return
        yield ["case", *(f"{shown(s)}: {what}" for s in sizes_here for what in ("one thread", "two", "gain"))]
        for case in CPU_CASES:
            cells = []
            for s in sizes_here:
                one, two = (found.get((s, case, n)) for n in (1, 2))
                cells += [digits(one), digits(two), f"{one / two:.2f}×"] if one and two else ["", "", ""]
            if any(cells):
                yield [CASES.get(case, case), *cells]

    return Table(name, "Two threads", "grid", rows, "AVX-512, ms.")


def grid_features(name, title, sizes, features, peer=None, note=""):
    """Other questions, in brackets over the plain distance of the same run, or of a peer how many times ours."""

    def rows(records):
        found = {
            ("x".join(map(str, r["size"])), r["case"], r["feature"]): r
            for r in records
            if r["isa"] == "avx512" and r["threads"] == 1
        }
        columns = [(s, head, f) for s in sizes for head, f in features.items() if any(k[::2] == (s, f) for k in found)]
        if not columns:
            return
        yield ["case", *(f"{shown(s)}: {head}" for s, head, _ in columns)]
        for case in CPU_CASES:
            of = [found.get((s, case, f)) for s, _, f in columns]
            if any(of):
                yield [CASES.get(case, case), *(factor(r, peer) if r else "" for r in of)]
        if not peer:
            of = [
                [r["ours"]["min"] / r["plain"]["min"] for k, r in found.items() if k[::2] == (s, f)]
                for s, _, f in columns
            ]
            yield ["*mean, most*", *(f"{math.prod(n) ** (1 / len(n)):.2f}, {max(n):.2f}" for n in of)]

    return Table(name, title, "grid", rows, note)


def factor(record, peer):
    seconds = record["ours"]["min"]
    if peer:
        theirs = record["peers"].get(peer)
        return digits(seconds * 1e3) + (f" ({times(theirs['min'] / seconds)} {peer})" if theirs else "")
    return f"{digits(seconds * 1e3)} ({seconds / record['plain']['min']:.2f})"


def calls_cpu(records):
    sizes = list(dict.fromkeys(r["size"] for r in records))
    found = {(r["call"], r["size"]): f"{r['mean']:.1f}, {r['most']:.1f}" for r in records}
    yield ["", *map(shown, sizes)]
    for call in dict.fromkeys(r["call"] for r in records):
        yield [call, *(found.get((call, size), "") for size in sizes)]


def stream_rows(kind):
    def rows(records):
        streams = [r for r in records if "rate" in r and "ring" not in r]
        wide, square = ([r for r in streams if (r["height"] == r["width"]) is is_square] for is_square in (False, True))
        if kind == "wide" and wide:
            yield from map(list, stream_tables.wide(wide, False))
        if kind == "square" and square:
            yield from map(list, stream_tables.square(square, "seconds"))

    return rows


def morphology_cpu(records):
    yield ["operation", "of", "size", "radius", "Fathom, ms", "scikit-image"]
    for r in records:
        yield [
            r["operation"],
            r["mask"],
            " × ".join(map(str, r["shape"])),
            f"{r['radius']:g}",
            digits(r["ours"] * 1e3),
            times(r["factor"]),
        ]


def axes_cpu(records):
    yield ["operation", "size", "who", "ms"]
    for r in records:
        yield [
            r["operation"],
            " × ".join(map(str, r["shape"])),
            r["who"].replace("fathom", "Fathom"),
            digits(r["min"] * 1e3),
        ]


# --- Of points on a device -------------------------------------------------------------------------------------------


def points_table(name, title, columns, sites, note):
    """A row for each number of sites, a column for each spread and storage: 1024 queries."""

    def rows(records):
        found = {
            (r["spread"], r["storage"], r["sites"]): r["ms"] for r in records if r["queries"] == 1024 and r["right"]
        }
        used = {head: key for head, key in columns.items() if any((*key, s) in found for s in sites)}
        if not used:
            return
        yield ["sites", *used]
        for s in sites:
            cells = [digits(found[(*key, s)]) if (*key, s) in found else "" for key in used.values()]
            if any(cells):
                yield [f"{s:,}", *cells]

    return Table(name, title, "device_points", rows, note)


def points_builds(records):
    yield ["sites", "plain", "boxed", "sorted"]
    found = {
        (r["sites"], r["storage"]): r["build_ms"] for r in records if r["spread"] == "uniform" and r["queries"] == 1024
    }
    for s in dict.fromkeys(key[0] for key in found):
        yield [
            f"{s:,}",
            *(digits(found[s, kind]) if (s, kind) in found else "" for kind in ("plain", "boxed", "sorted")),
        ]


def points_cpu(records):
    names = list(dict.fromkeys(r["name"] for r in records))
    yield ["queries × sites", "", *names]
    for size in dict.fromkeys(r["size"] for r in records):
        found = {r["name"]: r for r in records if r["size"] == size}
        for part in ("build", "query", "both"):
            ours = found[names[0]][part]
            cells = (
                f"{digits(found[n][part])} ({times(found[n][part] / ours)})" if n in found else "" for n in names[1:]
            )
            yield [shown(size), part, digits(ours), *cells]


def points_peers(records):
    names = list(dict.fromkeys(r["name"] for r in records))
    yield ["queries × sites", *names, "largest relative error"]
    for size in dict.fromkeys(r["size"] for r in records):
        found = {r["name"]: r for r in records if r["size"] == size}
        worst = max(found.values(), key=lambda r: r["error"])
        cells = (f"{digits(found[n]['ms'])} ({digits(found[n]['build_ms'])})" if n in found else "" for n in names)
        yield [shown(size), *cells, f"{worst['error']:.2g} ({worst['name']})"]


def points_many(records):
    yield ["queries", "sites", "spread", "storage", "ms"]
    for r in records:
        if r["queries"] > 1024 and r["right"]:
            yield [f"{r['queries']:,}", f"{r['sites']:,}", r["spread"], r["storage"], digits(r["ms"])]
