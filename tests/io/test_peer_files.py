"""Files that other programs write, in odd variants, read by Fathom and compared; and Fathom's files read by them.

FATHOM_IO_DUMP names the program that reads one file and writes another.
"""

import gzip
import io
import os
import struct
import subprocess
import zlib

import pytest

np = pytest.importorskip("numpy")

DUMP = os.environ["FATHOM_IO_DUMP"]


def convert(source, target):
    done = subprocess.run([DUMP, str(source), str(target)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def read(path):
    """The array and spacing that Fathom reads."""
    target = str(path) + ".fathom.npy"
    spacing = [float(s) for s in convert(path, target)[1:]]
    return np.load(target), spacing


def error_of(path):
    done = subprocess.run([DUMP, str(path), str(path) + ".out.npy"], capture_output=True, text=True)
    assert done.returncode == 3, (done.returncode, done.stderr)
    assert done.stderr.startswith(str(path)) and done.stderr.count("\n") == 1, done.stderr
    assert not os.path.exists(str(path) + ".out.npy")
    return done.stderr


def check(path, expected):
    actual, _ = read(path)
    assert actual.dtype == expected.dtype.newbyteorder("=")
    assert actual.shape == expected.shape
    np.testing.assert_array_equal(actual, expected)


def sample(dtype, shape, seed=0):
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    if dtype.kind == "f":
        return (random.normal(size=shape) * 1000).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, size=shape, dtype=dtype.newbyteorder("="), endpoint=True).astype(dtype)


def luminance(rgb):
    """Rec. 601 with weights of 16 bits, rounded half up."""
    wide = rgb[..., :3].astype(np.int64)
    if rgb.dtype.kind == "f":
        red, green, blue = np.moveaxis(rgb[..., :3].astype(np.float64), -1, 0)
        return (0.299 * red + 0.587 * green + 0.114 * blue).astype(rgb.dtype)
    return ((wide @ [19595, 38470, 7471] + 32768) >> 16).astype(rgb.dtype)


# ---- NPY ----


NPY_TYPES = ["?"] + [order + kind for order in "<>" for kind in "u1 i1 u2 i2 u4 i4 u8 i8 f2 f4 f8".split()]


@pytest.mark.parametrize("dtype", NPY_TYPES)
@pytest.mark.parametrize("order", "CF")
def test_npy(tmp_path, dtype, order):
    for shape in [(), (0,), (5,), (7, 9), (65, 33), (3, 0, 4), (40, 5, 37), (2, 3, 4, 5)]:
        a = np.asarray(sample(dtype, shape), order=order)
        np.save(tmp_path / "a.npy", a)
        check(tmp_path / "a.npy", a.astype("f4") if a.dtype.itemsize == 2 and a.dtype.kind == "f" else a)


def test_npy_half_specials(tmp_path):
    a = np.arange(65536, dtype="u2").view("f2")
    np.save(tmp_path / "a.npy", a)
    actual, _ = read(tmp_path / "a.npy")
    np.testing.assert_array_equal(actual, a.astype("f4"))


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_npy_versions(tmp_path, version):
    a = sample("f4", (5, 6))
    with open(tmp_path / "a.npy", "wb") as file:
        np.lib.format.write_array(file, a, version=version)
    check(tmp_path / "a.npy", a)


def test_npy_bool_of_any_byte(tmp_path):
    a = np.arange(6, dtype="u1").view("?")
    np.save(tmp_path / "a.npy", a)
    assert read(tmp_path / "a.npy")[0].view("u1").tolist() == [0, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    "a, word",
    [
        (np.zeros(3, "c8"), "c8"),
        (np.zeros(3, [("x", "f4"), ("y", "i2")]), "structured"),
        (np.array(["a"]), "U1"),
        (np.array([{}], dtype=object), "unpickled"),
        (np.zeros(2, "M8[s]"), "M8"),
    ],
)
def test_npy_refused(tmp_path, a, word):
    np.save(tmp_path / "a.npy", a, allow_pickle=True)
    assert word in error_of(tmp_path / "a.npy")


def test_npz_is_named(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.zeros(3))
    assert ".npz" in error_of(tmp_path / "a.npz")


# ---- PNG ----

PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def png_bytes(samples, color, depth, interlace, palette=None):
    """A PNG of samples [height, width, channels], rows unfiltered."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    def packed(row):
        if depth == 16:
            return row.astype(">u2").tobytes()
        if depth == 8:
            return row.astype("u1").tobytes()
        bits = (row.reshape(-1, 1) >> np.arange(depth)[::-1]) & 1
        return np.packbits(bits.astype("u1").reshape(-1)).tobytes()

    height, width, _ = samples.shape
    raw = b""
    for x, y, dx, dy in PASSES if interlace else [(0, 0, 1, 1)]:
        part = samples[y::dy, x::dx]
        if part.size:
            raw += b"".join(b"\0" + packed(row) for row in part)
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlace)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
    if palette is not None:
        data += chunk(b"PLTE", palette.tobytes())
    packed_raw = zlib.compress(raw)
    half = len(packed_raw) // 2
    data += chunk(b"gAMA", struct.pack(">I", 45455))
    return data + chunk(b"IDAT", packed_raw[:half]) + chunk(b"IDAT", packed_raw[half:]) + chunk(b"IEND", b"")


KINDS = [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (3, 1), (3, 2), (3, 4), (3, 8)]
KINDS += [(color, depth) for color in (2, 4, 6) for depth in (8, 16)]


@pytest.mark.parametrize("color, depth", KINDS)
@pytest.mark.parametrize("interlace", [0, 1])
def test_png(tmp_path, color, depth, interlace):
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]
    random = np.random.default_rng(depth)
    for height, width in [(1, 1), (1, 9), (5, 1), (2, 3), (8, 8), (33, 47)]:
        samples = random.integers(0, 1 << depth, size=(height, width, channels))
        palette = random.integers(0, 256, size=(1 << depth, 3), dtype="u1") if color == 3 else None
        (tmp_path / "a.png").write_bytes(png_bytes(samples, color, depth, interlace, palette))
        dtype = "u2" if depth == 16 else "u1"
        if color == 3:
            expected = samples[..., 0].astype("u1")  # indices
        elif color in (2, 6):
            expected = luminance(samples.astype(dtype))
        elif depth == 1:
            expected = samples[..., 0].astype(bool)
        else:
            expected = (samples[..., 0] * (255 // ((1 << min(depth, 8)) - 1))).astype(dtype)
        check(tmp_path / "a.png", expected)


def test_png_of_pillow(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    rgb = sample("u1", (31, 45, 3))
    image = Image.fromarray(rgb)
    variants = {"rgb": image, "palette": image.quantize(7)}
    variants |= {"gray": image.convert("L"), "bits": image.convert("1")}
    variants |= {"rgba": image.convert("RGBA"), "la": image.convert("LA")}
    for name, variant in variants.items():
        path = tmp_path / f"{name}.png"
        variant.save(path, optimize=name == "gray")
        if name in ("bits", "palette"):
            expected = np.asarray(variant)
        elif name in ("gray", "la"):
            expected = np.asarray(variant.convert("L"))
        else:
            expected = luminance(np.asarray(variant.convert("RGB")))
            np.testing.assert_array_equal(expected, np.asarray(variant.convert("RGB").convert("L")))  # Pillow's formula
        check(path, expected)
    wide = sample("u2", (20, 30))
    Image.fromarray(wide).save(tmp_path / "wide.png")
    check(tmp_path / "wide.png", wide)


def test_png_for_pillow(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    for dtype in ("?", "u1", "u2"):
        a = sample(dtype, (17, 23))
        np.save(tmp_path / "a.npy", a)
        convert(tmp_path / "a.npy", tmp_path / "a.png")
        np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "a.png")), a)


# ---- TIFF ----

TIFF_TYPES = "u1 i1 u2 i2 u4 i4 u8 i8 f2 f4 f8".split()


@pytest.mark.parametrize("dtype", TIFF_TYPES)
@pytest.mark.parametrize("byteorder", "<>")
@pytest.mark.parametrize("bigtiff", [False, True])
def test_tiff(tmp_path, dtype, byteorder, bigtiff):
    tifffile = pytest.importorskip("tifffile")
    a = sample(dtype, (70, 53))
    expected = a.astype("f4") if dtype == "f2" else a
    layouts = [{}, {"rowsperstrip": 7}, {"tile": (32, 16)}]
    layouts += [{"compression": "zlib"}, {"tile": (16, 48), "compression": "zlib"}]
    if np.dtype(dtype).kind in "ui" and np.dtype(dtype).itemsize <= 4:
        layouts.append({"compression": "zlib", "predictor": True, "rowsperstrip": 9})
    for layout in layouts:
        options = {"byteorder": byteorder, "bigtiff": bigtiff, "photometric": "minisblack", **layout}
        tifffile.imwrite(tmp_path / "a.tif", a, **options)
        check(tmp_path / "a.tif", expected)
        volume = np.stack([a, a[::-1], a * 0])
        tifffile.imwrite(tmp_path / "v.tif", volume, **options)
        check(tmp_path / "v.tif", volume.astype(expected.dtype))


@pytest.mark.parametrize("dtype", "u1 u2 u4 f4 f8".split())
@pytest.mark.parametrize("samples", [3, 4])
def test_tiff_colors(tmp_path, dtype, samples):
    tifffile = pytest.importorskip("tifffile")
    a = sample(dtype, (37, 41, samples))
    extra = {"extrasamples": ["unassalpha"]} if samples == 4 else {}
    for byteorder in "<>":
        for layout in ({}, {"tile": (16, 16)}, {"rowsperstrip": 5}):
            options = {"photometric": "rgb", "byteorder": byteorder, **layout, **extra}
            tifffile.imwrite(tmp_path / "a.tif", a, planarconfig="contig", **options)
            check(tmp_path / "a.tif", luminance(a))
            tifffile.imwrite(tmp_path / "p.tif", np.moveaxis(a, -1, 0), planarconfig="separate", **options)
            check(tmp_path / "p.tif", luminance(a))


def test_tiff_white_and_bits(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    for dtype in ("u1", "u2", "u4"):
        a = sample(dtype, (20, 31))
        tifffile.imwrite(tmp_path / "a.tif", a, photometric="miniswhite")
        check(tmp_path / "a.tif", a)
    bits = sample("?", (21, 37))
    for layout in ({}, {"tile": (16, 32)}, {"rowsperstrip": 4}):
        tifffile.imwrite(tmp_path / "a.tif", bits, photometric="minisblack", **layout)
        check(tmp_path / "a.tif", bits)
        tifffile.imwrite(tmp_path / "a.tif", bits, photometric="miniswhite", **layout)
        check(tmp_path / "a.tif", bits)


def test_tiff_of_pillow(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    image = Image.fromarray(sample("u1", (31, 45, 3)))
    gray = image.convert("L")
    for compression in (None, "tiff_lzw", "packbits", "tiff_deflate", "tiff_adobe_deflate"):
        options = {"compression": compression} if compression else {}
        image.save(tmp_path / "a.tif", **options)
        check(tmp_path / "a.tif", luminance(np.asarray(image)))
        gray.save(tmp_path / "a.tif", **options)
        check(tmp_path / "a.tif", np.asarray(gray))
        gray.convert("LA").save(tmp_path / "a.tif", **options)
        check(tmp_path / "a.tif", np.asarray(gray))
    for compression in ("group3", "group4", None):
        bits = image.convert("1")
        bits.save(tmp_path / "a.tif", **({"compression": compression} if compression else {}))
        check(tmp_path / "a.tif", np.asarray(bits))
    palette = image.quantize(9)
    palette.save(tmp_path / "a.tif")
    check(tmp_path / "a.tif", np.asarray(palette))
    image.save(tmp_path / "a.tif", compression="jpeg", quality=100)
    actual, _ = read(tmp_path / "a.tif")
    assert abs(actual.astype(int) - luminance(np.asarray(Image.open(tmp_path / "a.tif"))).astype(int)).max() <= 3
    image.convert("CMYK").save(tmp_path / "a.tif")
    assert "CMYK" in error_of(tmp_path / "a.tif")


def test_tiff_pages(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    with tifffile.TiffWriter(tmp_path / "a.tif") as tiff:
        tiff.write(np.zeros((4, 5), "u1"))
        tiff.write(np.zeros((4, 6), "u1"))
    assert "pages" in error_of(tmp_path / "a.tif")
    with tifffile.TiffWriter(tmp_path / "a.tif") as tiff:
        tiff.write(np.zeros((4, 5), "u1"))
        tiff.write(np.zeros((4, 5), "u2"))
    assert "pages" in error_of(tmp_path / "a.tif")
    frames = sample("u1", (3, 4, 5))
    with tifffile.TiffWriter(tmp_path / "a.tif") as tiff:  # each says that it is alone
        for frame in frames:
            tiff.write(frame)
    check(tmp_path / "a.tif", frames)
    big = sample("u2", (64, 64))
    with tifffile.TiffWriter(tmp_path / "a.tif") as tiff:  # an image with its overviews
        tiff.write(big, photometric="minisblack")
        tiff.write(big[::2, ::2], photometric="minisblack", subfiletype=1)
    check(tmp_path / "a.tif", big)


def test_tiff_refused(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    tifffile.imwrite(tmp_path / "a.tif", np.zeros((4, 5, 2), "f2"), photometric="minisblack", planarconfig="contig")
    assert "samples" in error_of(tmp_path / "a.tif")
    tifffile.imwrite(tmp_path / "a.tif", np.zeros((4, 5), "c8"))
    assert "complex" in error_of(tmp_path / "a.tif")


@pytest.mark.parametrize("dtype", ["?"] + "u1 i1 u2 i2 u4 i4 f4 f8".split())
def test_tiff_for_peers(tmp_path, dtype):
    tifffile = pytest.importorskip("tifffile")
    for shape in [(17, 23), (4, 70, 31), (3, 700, 900)]:
        a = sample(dtype, shape)
        np.save(tmp_path / "a.npy", a)
        convert(tmp_path / "a.npy", tmp_path / "a.tif")
        np.testing.assert_array_equal(tifffile.imread(tmp_path / "a.tif"), a)


# ---- NIfTI ----

NIFTI_TYPES = "u1 i1 u2 i2 u4 i4 u8 i8 f4 f8".split()


def nifti_image(kind, order, dtype, a, zooms):
    header = kind.header_class(endianness=order)
    header.set_data_dtype(np.dtype(dtype).newbyteorder(order))
    affine = np.diag([*(list(zooms) + [1, 1, 1])[:3], 1.0])
    image = kind(a, affine, header)
    image.header.set_zooms(zooms)
    return image


@pytest.mark.parametrize("dtype", ["bool", "u1", "u2", "f4"])
@pytest.mark.parametrize("ending", [".tiled.tif", ".deflated.tiled.tif"])
@pytest.mark.parametrize("shape", [(1, 1), (32, 32), (75, 130)])
def test_tiled_tiff_for_peers(tmp_path, dtype, ending, shape):
    tifffile = pytest.importorskip("tifffile")
    a = np.random.default_rng(7).integers(0, 2 if dtype == "bool" else 251, shape).astype(dtype)
    np.save(tmp_path / "a.npy", a)
    convert(tmp_path / "a.npy", tmp_path / ("a" + ending))
    with tifffile.TiffFile(tmp_path / ("a" + ending)) as file:
        assert file.pages[0].is_tiled and file.pages[0].tile == (32, 32)
        read_back = file.pages[0].asarray()
    assert read_back.dtype == a.dtype and np.array_equal(read_back, a)
    image = pytest.importorskip("PIL.Image")
    if dtype != "f4":
        assert np.array_equal(np.asarray(image.open(tmp_path / ("a" + ending))), a)



@pytest.mark.parametrize("dtype", NIFTI_TYPES)
@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("ending", [".nii", ".nii.gz"])
def test_nifti(tmp_path, dtype, order, version, ending):
    nibabel = pytest.importorskip("nibabel")
    kind = nibabel.Nifti1Image if version == 1 else nibabel.Nifti2Image
    shapes = {(7, 5, 3): (0.5, 2, 4), (6, 1, 2): (1, 1, 3), (4, 3, 2, 5): (1, 2, 3, 4), (30, 40): (2, 3)}
    for shape, zooms in shapes.items():
        a = sample(dtype, shape)
        path = tmp_path / f"a{ending}"
        nibabel.save(nifti_image(kind, order, dtype, a, zooms), path)
        actual, spacing = read(path)
        assert actual.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(actual, a.T)
        assert spacing == list(zooms[::-1])


@pytest.mark.parametrize("dtype, result", [("u1", "f4"), ("i2", "f4"), ("f4", "f4"), ("i4", "f8"), ("f8", "f8")])
@pytest.mark.parametrize("order", "<>")
def test_nifti_scaled(tmp_path, dtype, result, order):
    nibabel = pytest.importorskip("nibabel")
    a = sample(dtype, (6, 5, 4))
    data = bytearray(nifti_image(nibabel.Nifti1Image, order, dtype, a, (1, 1, 1)).to_bytes())
    struct.pack_into(order + "ff", data, 112, 0.25, -3)
    (tmp_path / "a.nii").write_bytes(data)
    actual, _ = read(tmp_path / "a.nii")
    assert actual.dtype == np.dtype(result)
    np.testing.assert_array_equal(actual, (a.astype("f8") * 0.25 - 3).astype(result).T)


def test_nifti_colors_and_refused(tmp_path):
    nibabel = pytest.importorskip("nibabel")
    for names in ("RGB", "RGBA"):
        channels = sample("u1", (5, 4, 3, len(names)))
        rgb = channels.view([(n, "u1") for n in names])[..., 0]
        nibabel.save(nibabel.Nifti1Image(rgb, np.eye(4)), tmp_path / "a.nii")
        check(tmp_path / "a.nii", luminance(channels).T)
    nibabel.save(nibabel.Nifti1Image(np.zeros((2, 2), "c8"), np.eye(4)), tmp_path / "a.nii")
    assert "NIfTI type 32" in error_of(tmp_path / "a.nii")
    nibabel.save(nibabel.Nifti1Pair(np.zeros((2, 2), "f4"), np.eye(4)), tmp_path / "a.img")
    assert ".img" in error_of(tmp_path / "a.hdr")
    nibabel.save(nibabel.AnalyzeImage(np.zeros((2, 2), "f4"), np.eye(4)), tmp_path / "b.img")
    assert "Analyze" in error_of(tmp_path / "b.hdr")


def test_nifti_members_and_extensions(tmp_path):
    nibabel = pytest.importorskip("nibabel")
    a = sample("i2", (9, 8, 7))
    image = nifti_image(nibabel.Nifti1Image, "<", "i2", a, (1, 2, 3))
    image.header.extensions.append(nibabel.nifti1.Nifti1Extension("comment", b"between header and elements" * 20))
    data = image.to_bytes()
    (tmp_path / "a.nii").write_bytes(data)
    check(tmp_path / "a.nii", a.T)
    (tmp_path / "a.nii.gz").write_bytes(gzip.compress(data[:400]) + gzip.compress(data[400:]) + b"\0" * 100)
    check(tmp_path / "a.nii.gz", a.T)
    out = io.BytesIO()
    np.save(out, a)
    (tmp_path / "b.npy.gz").write_bytes(gzip.compress(out.getvalue()))
    check(tmp_path / "b.npy.gz", a)


@pytest.mark.parametrize("ending", [".nii", ".nii.gz"])
def test_nifti_keeps_its_place(tmp_path, ending):
    nibabel = pytest.importorskip("nibabel")
    affine = np.array([[0, -1.5, 0, 10], [2, 0, 0, -20], [0, 0, 2.5, 30], [0, 0, 0, 1]])
    a = sample("i2", (9, 8, 7))
    image = nibabel.Nifti1Image(a, affine)
    image.header.set_xyzt_units("mm", "sec")
    nibabel.save(image, tmp_path / "a.nii")
    convert(tmp_path / "a.nii", tmp_path / f"b{ending}")
    again = nibabel.load(tmp_path / f"b{ending}")
    np.testing.assert_allclose(again.affine, affine)
    np.testing.assert_allclose(again.get_qform(), image.get_qform(), atol=1e-5)
    assert again.header.get_xyzt_units() == ("mm", "sec")
    assert again.get_data_dtype() == np.int16
    np.testing.assert_array_equal(np.asarray(again.dataobj), a)


@pytest.mark.parametrize("dtype", ["?"] + NIFTI_TYPES)
def test_nifti_for_peers(tmp_path, dtype):
    nibabel = pytest.importorskip("nibabel")
    for shape in [(5,), (17, 23), (4, 7, 5), (2, 3, 4, 5), (2, 33000)]:
        a = sample(dtype, shape)
        np.save(tmp_path / "a.npy", a)
        convert(tmp_path / "a.npy", tmp_path / "a.nii.gz")
        image = nibabel.load(tmp_path / "a.nii.gz")
        np.testing.assert_array_equal(np.asarray(image.dataobj), a.T)
        assert image.header["sizeof_hdr"] == (540 if max(shape) > 32767 else 348)
