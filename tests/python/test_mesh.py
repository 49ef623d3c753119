"""Distances to triangle meshes: against brute force in float64."""

import copy
import multiprocessing
import pickle
import sys
import warnings

import fathom
import numpy as np
import pytest
import solids

RANDOM = np.random.default_rng(0)
ALL = {name: True for name in ("triangle", "closest", "barycentric", "feature", "gradient", "inside")}


def around(vertices, count=150, by=1.0):
    low, high = vertices.min(0) - by, vertices.max(0) + by
    return low + RANDOM.random((count, 3)) * (high - low)


@pytest.mark.parametrize("mesh", [solids.torus(), solids.box(), solids.soup(), solids.soup(300, 1)])
@pytest.mark.parametrize("of_vertices", ["f4", "f8"])
@pytest.mark.parametrize("of_points", ["f4", "f8"])
def test_nearest_is_that_of_brute_force(mesh, of_vertices, of_points):
    vertices, faces = mesh[0].astype(of_vertices), mesh[1]
    points = np.concatenate([around(vertices), vertices[:20]]).astype(of_points)
    found = fathom.TriangleSet(vertices, faces, sign="none").nearest(points, **ALL)
    squared, triangle, weights, kinds = solids.nearest(vertices, faces, points)
    assert {name: getattr(found, name).dtype.str[1:] for name in ("distance", *ALL)} == {
        "distance": of_points, "triangle": "i8", "closest": of_points, "barycentric": of_points, "feature": "u1",
        "gradient": of_points, "inside": "b1",
    }
    np.testing.assert_array_equal(found.distance, np.sqrt(squared).astype(of_points))
    np.testing.assert_array_equal(found.triangle, triangle)
    np.testing.assert_array_equal(found.barycentric, weights.astype(of_points))
    np.testing.assert_array_equal(found.feature, kinds)
    np.testing.assert_array_equal(found.inside, squared == 0)
    closest = (weights[..., None] * vertices.astype(float)[faces[triangle]]).sum(1)
    near = 1e-6 if of_points == "f4" else 1e-9
    np.testing.assert_allclose(found.closest, closest, atol=near)
    away = squared > 1e-6
    ways = (points - closest)[away] / np.sqrt(squared[away])[:, None]
    np.testing.assert_allclose(found.gradient[away], ways, atol=1e-5 if of_points == "f4" else 1e-8)


@pytest.mark.parametrize("of_faces", ["u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4"])
@pytest.mark.parametrize("of_vertices, kind", [("i2", "f8"), ("i8", "f8"), ("f2", "f4"), (">f8", "f8"), ("f4", "f4")])
def test_types(of_faces, of_vertices, kind):
    vertices, faces = solids.box((-3, -2, -1), (1, 2, 3))
    points = np.array([[0, 0, 0], [5, 0, 1], [1, 2, 4]])
    mesh = fathom.TriangleSet(vertices.astype(of_vertices), faces.astype(of_faces))
    assert mesh.vertices.dtype == kind and len(mesh) == 12
    found = mesh.nearest(points.astype(of_vertices))
    assert found.distance.dtype == kind
    np.testing.assert_array_equal(found.distance, [-1, 4, 1])
    assert mesh.nearest(points, dtype="f4").distance.dtype == np.float32


def test_shapes_of_queries():
    vertices, faces = solids.torus()
    mesh = fathom.TriangleSet(vertices, faces)
    grid = around(vertices, 60).reshape(3, 4, 5, 3)
    found, flat = mesh.nearest(grid, **ALL), mesh.nearest(grid.reshape(60, 3), **ALL)
    for name in ("distance", *ALL):
        array, expected = getattr(found, name), getattr(flat, name)
        assert array.shape == ((3, 4, 5, 3) if expected.ndim == 2 else (3, 4, 5)), name
        np.testing.assert_array_equal(array.reshape(expected.shape), expected)
    for view in (grid[::2, ::-1], grid.transpose(2, 1, 0, 3), np.asfortranarray(grid), grid[..., ::-1][..., ::-1]):
        np.testing.assert_array_equal(mesh.nearest(view).distance, mesh.nearest(view.copy()).distance)
    turned = fathom.TriangleSet(np.asfortranarray(vertices), np.asfortranarray(faces[::-1])[::-1])
    np.testing.assert_array_equal(turned.nearest(grid).distance, found.distance)
    one = mesh.nearest(grid[0, 0, 0].tolist(), closest=True)
    assert one.distance.shape == () and one.closest.shape == (3,)
    nothing = mesh.nearest(np.empty((4, 0, 3)), **ALL)
    assert nothing.distance.shape == (4, 0) and nothing.gradient.shape == (4, 0, 3)
    alone = mesh.nearest(grid, distance=False, feature=True)
    assert alone.distance is None and alone.feature.shape == (3, 4, 5)
    assert repr(alone) == "fathom.Nearest(feature=uint8[3, 4, 5])"


NESTED = solids.together(
    solids.box((0, 0, 0), (4, 4, 4)), solids.box((1, 1, 1), (3, 3, 3)), solids.box((3.5, 0, 0), (6, 4, 4))
)
CLOSED = {"torus": solids.torus(), "nested": NESTED, "inside out": (NESTED[0], NESTED[1][:, ::-1])}


@pytest.mark.parametrize("mesh", CLOSED.values(), ids=CLOSED)
@pytest.mark.parametrize("rule", ["nonzero", "even-odd", "positive"])
def test_winding_numbers_make_the_sign(mesh, rule):
    points = around(mesh[0], 1000)
    number = np.rint(solids.winding(*mesh, points)).astype(int)
    inside = {"nonzero": number != 0, "even-odd": number % 2 == 1, "positive": number > 0}[rule]
    for sign in ("auto", "winding"):
        solid = fathom.TriangleSet(*mesh, sign=sign, rule=rule)
        assert solid.sign == "winding"
        found = solid.nearest(points, inside=True)
        np.testing.assert_array_equal(found.inside, inside)
        np.testing.assert_array_equal(found.distance < 0, inside)


def test_other_signs():
    vertices, faces = solids.torus()
    points = around(vertices, 1000)
    inside = solids.winding(vertices, faces, points) > 0.5
    assert 50 < inside.sum() < 950
    plain = fathom.TriangleSet(vertices, faces, sign="none").nearest(points).distance
    for sign in ("pseudonormal", "winding", "fast-winding"):
        distances = fathom.TriangleSet(vertices, faces, sign=sign).nearest(points).distance
        np.testing.assert_array_equal(distances, np.where(inside, -plain, plain))
    holed = fathom.TriangleSet(vertices, faces[7:])
    assert holed.sign == "fast-winding" and not holed.topology.closed
    number = solids.winding(vertices, faces[7:], points)
    clear = abs(number - 0.5) > 0.02
    np.testing.assert_array_equal(holed.nearest(points, inside=True).inside[clear], number[clear] > 0.5)


def test_what_a_mesh_is_like():
    vertices, faces = solids.box((0, 0, 0), (1, 2, 3))
    topology = fathom.TriangleSet(vertices, faces).topology
    assert topology == fathom.Topology(True, 8, 18, 0, 0, 0, 0, 0, 6.0, 22.0)
    assert fathom.TriangleSet(vertices, faces[:, ::-1]).topology.volume == -6
    corners = fathom.TriangleSet(vertices[faces].reshape(-1, 3), np.arange(36).reshape(12, 3))  # as STL has them
    assert corners.topology == topology and corners.sign == "winding"
    assert fathom.TriangleSet(vertices, faces[1:]).topology[:5] == (False, 8, 18, 3, 0)
    faces[0] = faces[0, ::-1]
    assert fathom.TriangleSet(vertices, faces).topology[:5] == (False, 8, 18, 3, 3)
    mesh = fathom.TriangleSet(vertices, faces, sign="none")
    assert mesh.bounds.tolist() == [[0, 0, 0], [1, 2, 3]] and mesh.nbytes > 12 * 130
    assert repr(mesh) == "fathom.TriangleSet(triangles=12, low=(0.0, 0.0, 0.0), high=(1.0, 2.0, 3.0), sign='none')"


def test_doubtful_signs_are_told():
    vertices, faces = solids.box()
    with pytest.warns(UserWarning, match="^the mesh is inside out: the sign pseudonormal makes distances inside it pos"):
        inverted = fathom.TriangleSet(vertices, faces[:, ::-1], sign="pseudonormal")
    assert inverted.nearest([0.5, 0.5, 0.5]).distance == 0.5
    with pytest.warns(UserWarning, match="^the mesh: 3 edges are open, near which pseudonormals may mistake the side; "):
        fathom.mesh_distance(vertices, faces[1:], resolution=3, sign="pseudonormal")
    for made in (fathom.TriangleSet, lambda *mesh, **more: fathom.mesh_distance(*mesh, resolution=3, **more)):
        with pytest.warns(UserWarning) as told:
            made(vertices, faces[1:], rule="even-odd")
        assert [(str(one.message), one.filename) for one in told] == [(
            "the mesh: 3 edges are open, so inside is where the generalised winding number is at least 1/2, whatever "
            "rule says; sign says otherwise, sign='none' does without", __file__)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opened = fathom.TriangleSet(vertices, faces[1:], sign="fast-winding")
        copy.copy(opened).nearest(vertices)
        fathom.TriangleSet(vertices, faces[1:], sign="none")
        fathom.TriangleSet(vertices, faces, sign="pseudonormal")


def places_of(field):
    x, y, z = field.axes
    return np.stack(np.meshgrid(x, y, z, indexing="ij"), -1).transpose(2, 1, 0, 3)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("lattice", [{"resolution": 12}, {"spacing": (0.5, 0.3, 0.4)}, {"spacing": 0.7, "margin": 0}])
def test_fields(dtype, lattice):
    vertices, faces = solids.torus()
    mesh = fathom.TriangleSet(vertices, faces)
    field = fathom.mesh_distance(vertices, faces, **lattice, **ALL, dtype=dtype)
    assert field.distance.dtype == dtype and field.triangle.dtype == np.int32
    places = places_of(field)
    assert field.distance.shape == places.shape[:3] == field.shape[::-1]
    found = mesh.nearest(places, **ALL, dtype=dtype)
    for name in ("distance", *ALL):
        np.testing.assert_array_equal(getattr(field, name), getattr(found, name), name)
    np.testing.assert_array_equal(np.asarray(field), field.distance)
    assert field.sign == "winding" and (field.distance < 0).any()
    np.testing.assert_array_equal(mesh.field(**lattice, dtype=dtype).distance, field.distance)


def test_lattices():
    vertices, faces = solids.box((0.1, 0.2, 0.3), (1.1, 2.2, 4.3))
    field = fathom.mesh_distance(vertices, faces, resolution=9)
    assert field.spacing == (0.5, 0.5, 0.5) and field.shape == (7, 9, 13)
    np.testing.assert_allclose(field.origin, np.array([0.1, 0.2, 0.3]) - 1)
    field = fathom.mesh_distance(vertices, faces, spacing=0.25, margin=1)
    assert field.origin == (-0.25, -0.25, 0.0) and field.shape == (8, 12, 20)
    field = fathom.mesh_distance(vertices, faces, spacing=[1, 2, 3], origin=(-1, -2, -3), shape=np.array([3, 4, 5]))
    assert field.origin == (-1, -2, -3) and field.spacing == (1, 2, 3) and field.shape == (3, 4, 5)
    assert field.distance.shape == (5, 4, 3)
    assert repr(field) == (
        "fathom.Field(shape=(3, 4, 5), origin=(-1.0, -2.0, -3.0), spacing=(1.0, 2.0, 3.0), sign='winding', "
        "distance=float32[5, 4, 3])"
    )
    solid = fathom.mesh_distance(vertices, faces, resolution=20, distance=False, inside=True)
    assert solid.inside.dtype == bool and solid.shape == solid.inside.shape[::-1]
    with pytest.raises(ValueError, match="this field has no distances; compute it with distance=True"):
        np.asarray(solid)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("lattice, limit", [
    ({"resolution": 40, "band": 2}, None), ({"spacing": (0.1, 0.2, 0.15), "band": 1.5}, 0.3),
    ({"spacing": 0.1, "cutoff": 0.21}, 0.21),
])
def test_bands(dtype, lattice, limit):
    vertices, faces = solids.torus()
    band = fathom.mesh_distance(vertices, faces, **lattice, triangle=True, closest=True, dtype=dtype)
    assert band.cutoff == pytest.approx(2 * band.spacing[0] if limit is None else limit) and band.sign == "winding"
    mesh, points = fathom.TriangleSet(vertices, faces), {"spacing": band.spacing, "origin": band.origin, "shape": band.shape}
    dense, exact = mesh.field(**points, triangle=True, closest=True, dtype=dtype), mesh.field(**points, dtype="f8")
    member = abs(exact.distance) <= band.cutoff
    for axis in range(3):  # the margin holds all of it
        assert not np.take(member, [0, -1], axis).any()
    i, j, k = band.coordinates().T
    assert band.coordinates().dtype == np.int32 and len(band) == member.sum() == len(i)
    seen = np.zeros_like(member)
    seen[k, j, i] = True
    np.testing.assert_array_equal(seen, member)
    assert band.values().dtype == dtype
    np.testing.assert_array_equal(band.values(), dense.distance[k, j, i])
    np.testing.assert_array_equal(band.values("triangle"), dense.triangle[k, j, i])
    np.testing.assert_array_equal(band.values("closest"), dense.closest[k, j, i].astype("f4"))
    np.testing.assert_array_equal(band.points(), places_of(dense)[k, j, i])
    whole = np.where(member, dense.distance, np.copysign(np.array(band.cutoff, dtype), dense.distance))
    np.testing.assert_array_equal(band.to_dense(), whole)
    np.testing.assert_array_equal(np.asarray(band), whole)
    assert band.tiles.shape[1:] == (3,) and band.masks.shape == (len(band.tiles), 8) and band.masks.dtype == np.uint64
    assert band.distance.shape == band.triangle.shape == band.active.shape == (len(band.tiles), 8, 8, 8)
    np.testing.assert_array_equal(band.active, band.triangle >= 0)
    np.testing.assert_array_equal(band.active, np.isfinite(band.closest).all(-1))
    np.testing.assert_array_equal(band.distance[band.active], band.values())


@pytest.mark.parametrize("sign", ["auto", "none"])
def test_compact_bands_hold_their_points_alone(sign, tmp_path):
    options = {"spacing": (0.1, 0.05, 0.07), "band": 2, "triangle": True, "closest": True, "sign": sign}
    full = fathom.mesh_distance(*solids.torus(), **options)
    compact = fathom.mesh_distance(*solids.torus(), **options, compact=True)
    assert compact.compact and not full.compact and full.first is None and full.inside is None
    assert repr(compact) == repr(full)[:-1] + ", compact=True)"
    compact.save(tmp_path / "band.npz")
    for band in (compact, pickle.loads(pickle.dumps(compact)), fathom.Band.load(tmp_path / "band.npz")):
        for name in ("distance", "triangle", "closest"):
            np.testing.assert_array_equal(getattr(band, name), full.values(name), name)
            np.testing.assert_array_equal(band.values(name), full.values(name), name)
        np.testing.assert_array_equal(band.tiles, full.tiles)
        np.testing.assert_array_equal(band.active, full.active)
        np.testing.assert_array_equal(band.coordinates(), full.coordinates())
        np.testing.assert_array_equal(band.points(), full.points())
        assert band.to_dense().tobytes() == full.to_dense().tobytes()
        np.testing.assert_array_equal(np.diff(band.first), full.active.sum((1, 2, 3)))
        if sign == "none":
            assert band.inside is None
        else:
            bits = np.unpackbits(band.inside.view("u1"), bitorder="little").reshape(full.distance.shape)
            np.testing.assert_array_equal(bits, full.distance <= 0)
    for one in (full, compact):
        for ending in ("vtu", "npy"):
            one.save(tmp_path / f"{one.compact}.{ending}")
    for ending in ("vtu", "npy"):
        assert (tmp_path / f"True.{ending}").read_bytes() == (tmp_path / f"False.{ending}").read_bytes()
    only = fathom.mesh_distance(*solids.torus(), spacing=0.03, band=3, sign=sign, compact=True)
    assert only.nbytes < 1.1 * 4 * len(only) + only.masks.nbytes + (0 if sign == "none" else only.inside.nbytes)
    with pytest.raises(ValueError, match="^compact is for bands; give band or cutoff, too$"):
        fathom.mesh_distance(*solids.torus(), spacing=1, compact=True)


def test_bands_go_where_their_arrays_go():
    band = fathom.mesh_distance(*solids.box(), resolution=20, band=2, sign="none")
    kept, expected = band.distance, band.distance.copy()
    del band
    np.testing.assert_array_equal(kept, expected)
    points = {"spacing": 0.1, "origin": (5, 5, 5), "shape": (9, 9, 9)}
    nothing = fathom.mesh_distance(*solids.box(), **points, cutoff=0.1, triangle=True)
    assert len(nothing) == 0 and nothing.coordinates().shape == (0, 3) and nothing.values("triangle").shape == (0,)
    assert nothing.closest is None and (nothing.to_dense() == np.float32(0.1)).all()
    with pytest.raises(ValueError, match="read-only"):
        nothing.tiles[...] = 0


def same_bands(one, other):
    for name in ("origin", "spacing", "shape", "cutoff", "sign"):
        assert getattr(one, name) == getattr(other, name), name
    for name in ("tiles", "masks", "distance", "triangle", "closest"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    np.testing.assert_array_equal(one.to_dense(), other.to_dense())


def test_bands_are_saved_and_copied(tmp_path):
    for number, options in enumerate(({}, {"triangle": True}, {"triangle": True, "closest": True, "dtype": "f8"})):
        band = fathom.mesh_distance(*solids.torus(), resolution=30, band=2, **options)
        for again in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
            same_bands(again(band), band)
        path = tmp_path / f"{number}.npz"
        band.save(path)
        same_bands(fathom.Band.load(path), band)
        band.save(tmp_path / "dense.npy")
        np.testing.assert_array_equal(np.load(tmp_path / "dense.npy"), band.to_dense())
    with pytest.raises(ValueError, match=r"band\.vol ends neither in \.npz nor in \.npy"):
        band.save("band.vol")
    band.save(tmp_path / "band.vtu")
    assert f'NumberOfPoints="{len(band)}"'.encode() in (tmp_path / "band.vtu").read_bytes()
    with pytest.raises(OSError, match="nowhere"):
        band.save(tmp_path / "nowhere/band.vtu")
    margins = fathom.mesh_distance(*solids.box(), spacing=(0.5, 0.25, 1), cutoff=0.5)
    assert margins.origin == (-2 * 0.5, -3 * 0.25, -2) and margins.shape == (3 + 4, 5 + 6, 2 + 4)
    steps = fathom.mesh_distance(*solids.torus(), spacing=(1, 1, 2), band=2)
    with pytest.raises(ValueError, match="cubes|this build has no OpenVDB"):
        steps.save(tmp_path / "band.vdb")


def test_spoilt_bands_are_refused(tmp_path):
    band = fathom.mesh_distance(*solids.box(), resolution=30, band=2)
    band.save(tmp_path / "band.npz")
    good = dict(np.load(tmp_path / "band.npz"))
    for name, value, message in [
        ("tiles", good["tiles"][::-1], "tile 1 of the band is out of order or outside the lattice"),
        ("tiles", good["tiles"] + 9, "out of order or outside the lattice"),
        ("tiles", good["tiles"].astype("i8"), "is int64 of the shape"),
        ("masks", good["masks"][1:], "it must be uint64 of"),
        ("distance", good["distance"].astype("i4"), "a band's distances are float32 or float64"),
        ("row_inside", good["row_inside"][1:], "it must be uint8 of"),
        ("shape", np.array([10**6, 10, 10]), "it must be uint8 of|outside the lattice"),
        ("shape", np.array([2**40, 10, 10]), "has the extent 1099511627776; extents are 0 to 2147483647"),
        ("cutoff", np.array(np.nan), "the cutoff of the band is nan"),
        ("masks", None, "bad.npz holds no band: .*masks"),
        ("tiles", np.array(3), "holds no band"),
    ]:
        np.savez(tmp_path / "bad.npz", **{k: v for k, v in {**good, name: value}.items() if v is not None})
        with pytest.raises(ValueError, match=message):
            fathom.Band.load(tmp_path / "bad.npz")
    fathom.mesh_distance(*solids.box(), resolution=30, band=2, compact=True).save(tmp_path / "compact.npz")
    packed = dict(np.load(tmp_path / "compact.npz"))
    for name, value, message in [
        ("first", packed["first"][::-1], "'first' of the band does not count what its masks say"),
        ("first", packed["first"][1:], "it must be int64 of"),
        ("distance", packed["distance"][1:], "it must be float32 of"),
        ("inside", packed["inside"][1:], "it must be uint64 of"),
        ("inside", None, "the inside of a compact band with a sign is missing"),
    ]:
        np.savez(tmp_path / "bad.npz", **{k: v for k, v in {**packed, name: value}.items() if v is not None})
        with pytest.raises(ValueError, match=message):
            fathom.Band.load(tmp_path / "bad.npz")
    whole = (tmp_path / "band.npz").read_bytes()
    for text in (b"", b"nothing", whole[:100], whole[:-100]):
        (tmp_path / "bad.npz").write_bytes(text)
        with pytest.raises(ValueError, match="holds no band"):
            fathom.Band.load(tmp_path / "bad.npz")
    with pytest.raises(FileNotFoundError):
        fathom.Band.load(tmp_path / "none.npz")


def test_fields_are_saved(tmp_path):
    field = fathom.mesh_distance(*solids.box(), resolution=9, closest=True)
    field.save(tmp_path / "field.npz")
    kept = np.load(tmp_path / "field.npz")
    assert sorted(kept) == ["closest", "distance", "origin", "sign", "spacing"]
    np.testing.assert_array_equal(kept["closest"], field.closest)
    assert tuple(kept["origin"]) == field.origin and kept["sign"] == "winding"
    field.save(str(tmp_path / "field.npy"))
    np.testing.assert_array_equal(np.load(tmp_path / "field.npy"), field.distance)
    with pytest.raises(ValueError, match="write the array itself with fathom.write"):
        field.save("field.nii")


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x, 2))])
def test_sets_are_copied(again):
    vertices, faces = solids.torus()
    mesh = fathom.TriangleSet(vertices, faces, sign="winding", rule="even-odd")
    vertices += 1  # the set keeps what it was made of
    made = again(mesh)
    assert type(made) is fathom.TriangleSet and made.sign == "winding" and made.topology == mesh.topology
    points = around(mesh.vertices)
    found, expected = made.nearest(points, **ALL), mesh.nearest(points, **ALL)
    for name in ("distance", *ALL):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    with pytest.raises(ValueError, match="read-only"):
        made.vertices[...] = 0


def ask(mesh):
    return mesh.nearest([[0.5, 0.5, 0.5], [3, 3, 3]]).distance.tolist()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers(method):
    mesh = fathom.TriangleSet(*solids.torus(60, 30))
    mesh.field(resolution=30)  # threads are at work before the fork
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.map(ask, [mesh]) == [ask(mesh)]


def test_threads_do_not_change_bytes():
    vertices, faces = solids.torus(50, 40)
    one, many = (fathom.mesh_distance(vertices, faces, resolution=40, **ALL, threads=n) for n in (1, 3))
    for name in ("distance", *ALL):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name))


def test_progress_and_stop():
    vertices, faces = solids.torus(300, 200)
    shares = []
    fathom.mesh_distance(vertices, faces, resolution=80, sign="none", progress=shares.append)
    assert shares[-1] == 1 and shares == sorted(shares)

    def stop(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fathom.mesh_distance(vertices, faces, resolution=300, progress=stop)


BOX = solids.box()


@pytest.mark.parametrize("call, error, message", [
    (lambda: fathom.TriangleSet(BOX[0][:, :2], BOX[1]), ValueError,
     "vertices has the shape (8, 2); it must have x, y, z in its last axis: (..., 3)"),
    (lambda: fathom.TriangleSet(BOX[0][None], BOX[1]), ValueError,
     "vertices has the shape (1, 8, 3); it must have (v, 3)"),
    (lambda: fathom.TriangleSet(BOX[0], np.zeros((3, 4), int)), ValueError,
     "faces has the shape (3, 4); it must have (f, 3): split polygons into triangles first"),
    (lambda: fathom.TriangleSet(BOX[0], BOX[1] / 2), TypeError,
     "faces has the dtype float64; numbers of vertices are integers"),
    (lambda: fathom.TriangleSet(BOX[0], BOX[1].astype("u8") + 2**63), ValueError,
     "faces has the vertex 9223372036854775815; there are fewer"),
    (lambda: fathom.TriangleSet(BOX[0] * 1j, BOX[1]), TypeError,
     "vertices has the dtype complex128; coordinates are integers or floats of up to 64 bits"),
    (lambda: fathom.TriangleSet("box.stl", BOX[1]), TypeError,
     "vertices is a path or text, not an array; read the file first, with fathom.read()"),
    (lambda: fathom.TriangleSet(*BOX, sign="ray"), ValueError,
     "sign is 'ray'; it must be one of 'auto', 'none', 'pseudonormal', 'winding', 'fast-winding'"),
    (lambda: fathom.TriangleSet(*BOX, rule=2), TypeError,
     "rule is 2; it must be one of 'nonzero', 'even-odd', 'positive'"),
    (lambda: fathom.TriangleSet(*BOX, device_memory=-1), ValueError, "device_memory is -1; it must be 0 or more bytes"),
    (lambda: fathom.TriangleSet(*BOX).nearest([[1, 2]]), ValueError,
     "points has the shape (1, 2); it must have x, y, z in its last axis: (..., 3)"),
    (lambda: fathom.TriangleSet(*BOX).nearest([1, 2, 3], distance=False), ValueError,
     "nothing is wanted; give True for one of distance, triangle, closest, barycentric, feature, gradient, inside"),
    (lambda: fathom.TriangleSet(*BOX).nearest([1, 2, 3], dtype=int), TypeError,
     "dtype is int64; it must be float32 or float64"),
    (lambda: fathom.mesh_distance(*BOX, resolution=9, band=0), ValueError,
     "band is 0.0; it must be finite and above 0"),
    (lambda: fathom.mesh_distance(*BOX, resolution=9, band=1, cutoff=1), ValueError,
     "both of band and cutoff given; give one of them"),
    (lambda: fathom.TriangleSet(*BOX).band(resolution=9), ValueError,
     "neither of band and cutoff given; give one of them"),
    (lambda: fathom.mesh_distance(*BOX, resolution=9, band=1, gradient=True), ValueError,
     "a band has no gradient; ask TriangleSet.nearest() for the band's points()"),
    (lambda: fathom.mesh_distance(*BOX, resolution=9, cutoff=1, distance=False), ValueError,
     "a band has no distance=False; ask TriangleSet.nearest() for the band's points()"),
    (lambda: fathom.mesh_distance(*BOX, resolution=9.5), TypeError, "resolution must be an integer, not 9.5"),
    (lambda: fathom.mesh_distance(*BOX, resolution=9, origin=(1, 2)), TypeError,
     "origin must be three numbers, in the order x, y, z, not (1, 2)"),
    (lambda: fathom.mesh_distance(*BOX, spacing=1, shape=(1, 2.5, 3)), TypeError,
     "shape must be three integers, in the order x, y, z, not (1, 2.5, 3)"),
    (lambda: fathom.mesh_distance(*BOX, spacing=1, origin=(0, 2, 0)), ValueError,
     "the lattice's origin along y, 2, is beyond the mesh, which reaches from 0 to 1; give one before its end, or a shape"),
    (lambda: fathom.mesh_distance(*BOX, spacing=(1, 2)), ValueError,
     "spacing has 2 values; give one number, or one for each of the 3 axes"),
    (lambda: fathom.mesh_distance(*BOX, resolution=9, margin=-1), ValueError,
     "margin is -1; it must be from 0 to 2³¹ − 1"),
    (lambda: fathom.mesh_distance(*BOX, resolution=9, cutoff="x"), TypeError, "cutoff must be a number, not 'x'"),
    (lambda: fathom.mesh_distance(*BOX, resolution=9, band=1).values("gradient"), ValueError,
     "of is 'gradient'; it must be 'distance', 'triangle' or 'closest'"),
    (lambda: fathom.mesh_distance(*BOX, resolution=9, band=1).values("closest"), ValueError,
     "this band has no closest; compute it with closest=True"),
])
def test_errors(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message


@pytest.mark.parametrize("vertices, faces, message", [
    (BOX[0] * np.nan, BOX[1], "finite"), (BOX[0] - np.inf, BOX[1], "finite"), (BOX[0], BOX[1] + 1, "vertex 8"),
    (BOX[0], BOX[1] - 1, "vertex -1"), (BOX[0], BOX[1][:0], "triangle"), (BOX[0][:0], BOX[1][:0], "triangle"),
    (BOX[0] * 1e80, BOX[1], "1e70|coordinate"),
])
def test_meshes_that_are_none(vertices, faces, message):
    with pytest.raises(ValueError, match=message):
        fathom.TriangleSet(vertices, faces)


def test_a_mesh_with_holes_has_no_winding_numbers():
    with pytest.raises(ValueError, match="the mesh has 3 open edges, .*; use the sign fast-winding, or none"):
        fathom.TriangleSet(BOX[0], BOX[1][1:], sign="winding")


def test_points_out_of_reach():
    mesh = fathom.TriangleSet(*BOX)
    with pytest.raises(ValueError, match="point 1 has the coordinate nan"):
        mesh.nearest([[0, 0, 0], [0, np.nan, 0]])
    with pytest.raises(ValueError, match="neither resolution nor spacing was given"):
        mesh.field()
    with pytest.raises(MemoryError):
        mesh.field(resolution=200_000)


class OnDevice:
    def __dlpack_device__(self):
        return (2, 0)


@pytest.mark.parametrize("call", [
    lambda: fathom.TriangleSet(OnDevice(), BOX[1]), lambda: fathom.TriangleSet(BOX[0], OnDevice()),
    lambda: fathom.TriangleSet(*BOX).nearest(OnDevice()),
])
def test_devices_are_refused(call):
    with pytest.raises(fathom.DeviceError, match="lies on a CUDA device, .*; copy it to the host first"):
        call()


def test_sparse_tensors_need_pytorch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ModuleNotFoundError, match=r"to_sparse_coo\(\) needs PyTorch, which is not installed"):
        fathom.mesh_distance(*BOX, resolution=9, band=1).to_sparse_coo()


@pytest.mark.parametrize("offset", [0.3, 0, -0.3])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_surfaces_at_an_offset(offset, dtype):
    vertices, faces = solids.torus()
    mesh = fathom.TriangleSet(vertices, faces)
    field = mesh.field(spacing=0.08, margin=8, dtype=dtype)
    whole = field.offset_surface(offset)
    near = mesh.band(spacing=0.08, band=6, dtype=dtype).offset_surface(offset)
    alone = fathom.offset_surface(vertices, faces, offset, spacing=0.08, dtype=dtype)
    for surface in (whole, near, alone):
        assert surface[0].dtype == dtype and surface[1].dtype == np.int32
        shell = fathom.TriangleSet(*surface)
        assert shell.topology.closed and shell.topology.volume > 0
        np.testing.assert_allclose(mesh.nearest(surface[0]).distance, offset, atol=0.02)
        assert shell.compare(fathom.TriangleSet(*whole), samples=1).hausdorff < 1e-5


def test_surfaces_that_are_not_there():
    vertices, faces = solids.box()
    sheet = fathom.mesh_distance(vertices, faces, spacing=0.25, margin=3, sign="none")
    with pytest.warns(UserWarning, match="^the surface ends at the lattice's border; a larger shape or margin closes it$") as told:
        sheet.offset_surface(0.8)
    assert told[0].filename == __file__
    band = fathom.mesh_distance(vertices, faces, spacing=0.25, band=3)
    band.offset_surface(-0.25)
    for call, error, message in [
        (lambda: sheet.offset_surface(0), ValueError, "distance is 0.0; without a sign there is no inside, so it must be above 0"),
        (lambda: sheet.offset_surface(np.inf), ValueError, "distance is inf; it must be finite"),
        (lambda: sheet.offset_surface("far"), TypeError, "distance must be a number, not 'far'"),
        (lambda: sheet.offset_surface(9), ValueError, "no point of the lattice is on the other side of the distance 9.0; there is no surface"),
        (lambda: band.offset_surface(0.51), ValueError, "distance is 0.51; the band, up to 0.75, holds surfaces up to 0.5, a step of the lattice less"),
        (lambda: fathom.offset_surface(vertices, faces, -3, spacing=0.1), ValueError, "no point of the lattice is on the other side of the distance -3.0; there is no surface"),
        (lambda: fathom.offset_surface(vertices, faces, 1, sapcing=0.1), TypeError, "there is no option 'sapcing'; a lattice has resolution, spacing, origin, shape, margin"),
        (lambda: fathom.mesh_distance(vertices, faces, spacing=1, distance=False, inside=True).offset_surface(1), ValueError,
         "this field has no distances; compute it with distance=True"),
    ]:
        with pytest.raises(error) as caught:
            call()
        assert str(caught.value) == message
