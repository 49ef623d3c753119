"""JPEG, PNM, NRRD, MetaImage and VTI: what other programs write is read as they read it, and the other way round.

Files are made and read by Pillow and SimpleITK, and by hand where these do not make them.
"""

import gzip
import json
import struct
import xml.etree.ElementTree as ET

import nibabel
import numpy as np
import pytest
import SimpleITK as sitk
import tifffile
from PIL import Image
from scipy import ndimage

RANDOM = np.random.default_rng(11)
TYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"]
# The file's axes x, y, z in the patient: columns; neither symmetric nor along the axes.
TURN = np.array([[0.0, -1, 0], [0.8, 0, 0.6], [-0.6, 0, 0.8]])


def mask(*shape):
    a = (RANDOM.random(shape) < 0.9).astype(np.uint8)
    a.reshape(-1, shape[-2] * shape[-1])[:, 0] = 0  # each plane has a site
    return a


def sample(dtype, *shape):
    return (RANDOM.integers(-100, 100, shape) if dtype[0] == "i" else RANDOM.integers(0, 200, shape)).astype(dtype)


def told(fathom, name, *arguments):
    outcome = fathom("info", name, "--json", *arguments)
    assert outcome.code == 0, outcome
    return json.loads(outcome.out)["input"]


def warnings(outcome):
    assert outcome.code == 0, outcome
    return [line.removeprefix("fathom: warning: ") for line in outcome.err.decode().splitlines()]


def elements(fathom, name):
    """What the command reads, element by element: the values `info` knows are too few to tell a turned axis."""
    nearest = fathom("distance", name, "-o", "field.npy", "--sites", "==0", "--quiet")
    assert nearest.code == 0, nearest
    return np.load(fathom.directory / "field.npy")


def image_of(a, spacing=(2, 3, 4), origin=(10, -20, 30), direction=TURN, vector=False):
    image = sitk.GetImageFromArray(a, isVector=vector)
    n = image.GetDimension()
    image.SetSpacing(list(map(float, spacing[:n])))
    image.SetOrigin(list(map(float, origin[:n])))
    if n == 3:
        image.SetDirection(direction.flatten().tolist())
    return image


def same_place(a, b):
    assert np.allclose(a.GetSpacing(), b.GetSpacing()) and np.allclose(a.GetOrigin(), b.GetOrigin())
    assert np.allclose(a.GetDirection(), b.GetDirection())


# ---- NRRD and MetaImage, beside SimpleITK ----

ENDINGS = ["nrrd", "nhdr", "mha", "mhd"]


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("ending", ENDINGS)
def test_volumes_of_simpleitk(fathom, ending, compress):
    for dtype in TYPES:
        a = sample(dtype, 4, 5, 6)
        a[1, 2, 3] = 0
        sitk.WriteImage(image_of(a), str(fathom.directory / f"a.{ending}"), compress)
        saw = told(fathom, f"a.{ending}")
        assert (saw["shape"], saw["dtype"], saw["spacing"]) == ([4, 5, 6], np.dtype(dtype).name, [4, 3, 2])
        expected = ndimage.distance_transform_edt(a != 0, sampling=(4, 3, 2))
        assert np.allclose(elements(fathom, f"a.{ending}"), expected, rtol=1e-6), dtype


@pytest.mark.parametrize("written", ["nrrd", "mha"])
@pytest.mark.parametrize("read", ["nrrd", "mha", "nii"])
def test_place_is_kept(fathom, read, written):
    a = mask(4, 5, 6)
    image = image_of(a)
    sitk.WriteImage(image, str(fathom.directory / f"a.{read}"))
    assert warnings(fathom("distance", f"a.{read}", "-o", f"out.{written}")) == []
    out = sitk.ReadImage(str(fathom.directory / f"out.{written}"))
    same_place(out, image)
    expected = ndimage.distance_transform_edt(a, sampling=(4, 3, 2)).astype(np.float32)
    assert np.allclose(sitk.GetArrayFromImage(out), expected, rtol=1e-6)
    assert warnings(fathom("distance", f"a.{read}", "-o", f"part.{written}", "--region", "1:4,2:5,3:6")) == []
    part = sitk.ReadImage(str(fathom.directory / f"part.{written}"))
    assert np.allclose(part.GetOrigin(), image.TransformIndexToPhysicalPoint((3, 2, 1)))
    assert np.allclose(part.GetDirection(), image.GetDirection())


@pytest.mark.parametrize("read", ["nrrd", "mha"])
def test_place_reaches_nifti(fathom, read):
    image = image_of(mask(4, 5, 6))
    sitk.WriteImage(image, str(fathom.directory / f"a.{read}"))
    assert fathom("distance", f"a.{read}", "-o", "out.nii").code == 0
    same_place(sitk.ReadImage(str(fathom.directory / "out.nii")), image)
    affine = nibabel.load(fathom.directory / "out.nii").affine
    lps = np.diag([-1, -1, 1])  # ITK's x and y point the other way
    assert np.allclose(affine[:3, :3], lps @ TURN @ np.diag([2, 3, 4]), atol=1e-5)
    assert np.allclose(affine[:3, 3], lps @ [10, -20, 30], atol=1e-5)


@pytest.mark.parametrize("ending", ENDINGS)
def test_images_of_two_axes(fathom, ending):
    a = mask(5, 6)
    sitk.WriteImage(image_of(a), str(fathom.directory / f"a.{ending}"))
    assert told(fathom, f"a.{ending}")["spacing"] == [3, 2]
    for written in ("nrrd", "mha"):
        assert fathom("distance", f"a.{ending}", "-o", f"out.{written}").code == 0
        out = sitk.ReadImage(str(fathom.directory / f"out.{written}"))
        assert out.GetSpacing() == (2, 3) and out.GetOrigin() == (10, -20)
        assert np.allclose(sitk.GetArrayFromImage(out), ndimage.distance_transform_edt(a, sampling=(3, 2)), rtol=1e-6)


@pytest.mark.parametrize("ending", ["nrrd", "mha"])
def test_channels(fathom, ending):
    a = np.moveaxis(mask(3, 4, 5, 6), 0, 3)
    sitk.WriteImage(image_of(a, vector=True), str(fathom.directory / f"a.{ending}"))
    saw = told(fathom, f"a.{ending}")
    assert (saw["axes"], saw["shape"]) == ("zyxc", [4, 5, 6, 3])
    per_channel = [ndimage.distance_transform_edt(a[..., c], sampling=(4, 3, 2)) for c in range(3)]
    assert np.allclose(elements(fathom, f"a.{ending}"), np.stack(per_channel, -1), rtol=1e-6)
    for written in ("nrrd", "mha"):
        assert warnings(fathom("distance", f"a.{ending}", "-o", f"out.{written}")) == []
        out = sitk.ReadImage(str(fathom.directory / f"out.{written}"))
        assert out.GetNumberOfComponentsPerPixel() == 3 and out.GetSpacing() == (2, 3, 4)
        assert np.allclose(sitk.GetArrayFromImage(out), np.stack(per_channel, -1), rtol=1e-6)
        assert fathom("distance", f"a.{ending}", "-o", f"one.{written}", "--channel", "1").code == 0
        one = sitk.ReadImage(str(fathom.directory / f"one.{written}"))
        same_place(one, image_of(a[..., 1]))
        assert np.allclose(sitk.GetArrayFromImage(one), per_channel[1], rtol=1e-6)


@pytest.mark.parametrize("ending", ["nrrd", "mha"])
def test_a_fourth_axis_is_time(fathom, ending):
    a = mask(3, 4, 5, 6)
    sitk.WriteImage(sitk.GetImageFromArray(a, isVector=False), str(fathom.directory / f"a.{ending}"))
    said = f"a.{ending} has more than three axes of space: the slowest are taken for time, not measured along"
    assert warnings(fathom("distance", f"a.{ending}", "-o", "out.nrrd")) == [said]
    assert told(fathom, "out.nrrd")["axes"] == "tzyx"
    got = sitk.GetArrayFromImage(sitk.ReadImage(str(fathom.directory / "out.nrrd")))
    assert np.allclose(got, [ndimage.distance_transform_edt(plane) for plane in a])
    assert fathom("distance", f"a.{ending}", "-o", "all.npy", "--ndim", "4").code == 0
    assert np.allclose(np.load(fathom.directory / "all.npy"), ndimage.distance_transform_edt(a))


def test_names_and_unit_reach_nrrd(fathom):
    a = mask(2, 3, 4, 9, 8)
    sizes = {"PhysicalSizeX": 0.25, "PhysicalSizeXUnit": "µm", "PhysicalSizeY": 0.5, "PhysicalSizeYUnit": "µm",
             "PhysicalSizeZ": 1.5, "PhysicalSizeZUnit": "µm"}
    tifffile.imwrite(fathom.directory / "a.ome.tif", a, ome=True, metadata={"axes": "TCZYX", **sizes})
    assert warnings(fathom("distance", "a.ome.tif", "-o", "out.nrrd")) == []
    header = (fathom.directory / "out.nrrd").read_bytes().split(b"\n\n")[0].decode().splitlines()
    assert {"sizes: 8 9 4 3 2", "kinds: domain domain domain vector time", "spacings: 0.25 0.5 1.5 nan nan",
            'units: "um" "um" "um" "" ""'} <= set(header)
    saw = told(fathom, "out.nrrd")
    assert (saw["axes"], saw["shape"], saw["unit"]) == ("tczyx", [2, 3, 4, 9, 8], "µm")
    assert saw["spacing"][2:] == [1.5, 0.5, 0.25]
    assert fathom.refuses(2, "distance", "a.ome.tif", "-o", "out.mha") == (
        "MetaImage holds time before the axes of space and channels behind them, not tczyx; write .nrrd or .npy")
    assert warnings(fathom("distance", "a.ome.tif", "-o", "out.mha", "--channel", "1")) == []
    out = sitk.ReadImage(str(fathom.directory / "out.mha"))
    assert out.GetSpacing() == (0.25, 0.5, 1.5, 1)
    assert told(fathom, "out.mha")["unit"] == "µm"


def test_a_slice_in_a_volume(fathom):
    """Its place has three coordinates; NRRD can say so, MetaImage cannot."""
    nrrd(fathom.directory / "a.nrrd", mask(5, 6), "space: left-posterior-superior", "space directions: (0,2,0) (0,0,3)",
         "space origin: (1,2,3)")
    assert fathom("distance", "a.nrrd", "-o", "out.nrrd").code == 0
    header = (fathom.directory / "out.nrrd").read_bytes().split(b"\n\n")[0].decode().splitlines()
    assert {"space: left-posterior-superior", "space directions: (0,2,0) (0,0,3)", "space origin: (1,2,3)"} <= set(header)
    assert fathom.refuses(2, "distance", "a.nrrd", "-o", "out.mha") == (
        "MetaImage cannot say where an image of 2 axes of space lies in a volume; write .nrrd or .npy")


def test_time_of_nifti(fathom):
    image = nibabel.Nifti1Image(mask(3, 4, 5, 6).T, np.diag([2, 3, 4, 1]))
    image.header.set_zooms((2, 3, 4, 0.5))
    image.header.set_xyzt_units("mm", "sec")
    nibabel.save(image, fathom.directory / "a.nii")
    for ending in ("nrrd", "mha"):
        assert warnings(fathom("distance", "a.nii", "-o", f"out.{ending}")) == []
        out = sitk.ReadImage(str(fathom.directory / f"out.{ending}"))
        assert out.GetSize() == (6, 5, 4, 3) and out.GetSpacing() == (2, 3, 4, 0.5)
    saw = told(fathom, "out.nrrd")
    assert (saw["axes"], saw["spacing"], saw["unit"]) == ("tzyx", [0.5, 4, 3, 2], "mm")


def test_compressed_nrrd(fathom):
    np.save(fathom.directory / "a.npy", np.pad(np.zeros((20, 21, 22), np.uint8), 9, constant_values=1))
    assert fathom("distance", "a.npy", "-o", "plain.nrrd").code == 0
    assert fathom("distance", "a.npy", "-o", "small.nrrd", "--compress").code == 0
    names = [str(fathom.directory / f"{name}.nrrd") for name in ("plain", "small")]
    plain, small = (sitk.GetArrayFromImage(sitk.ReadImage(name)) for name in names)
    assert np.array_equal(plain, small)
    assert (fathom.directory / "small.nrrd").stat().st_size < (fathom.directory / "plain.nrrd").stat().st_size / 2


# ---- NRRD by hand ----


def nrrd(path, a, *fields, encoding="raw", data=None):
    types = {"u1": "uchar", "i2": "short", "f4": "float", "f8": "double", "u2": "unsigned short int"}
    order = {"<": "little", ">": "big"}.get(a.dtype.str[0])
    lines = ["NRRD0005", "# by hand", f"type: {types[a.dtype.str[1:]]}", f"dimension: {a.ndim}",
             "sizes: " + " ".join(map(str, a.shape[::-1])), f"encoding: {encoding}", *fields, "key:=a value: of no use"]
    lines += [f"endian: {order}"] if order else []
    raw = a.tobytes() if data is None else data
    path.write_bytes("\n".join([*lines, "", ""]).encode() + (gzip.compress(raw) if encoding.startswith("gz") else raw))


def test_nrrd_orders_and_encodings(fathom):
    a = mask(4, 5, 6).astype(">f4")
    expected = ndimage.distance_transform_edt(a, sampling=(4, 3, 2))
    text = " ".join(str(float(v)) for v in a.ravel()).encode()
    for name, array, options in [("be", a, {}), ("le", a.astype("<f4"), {}), ("gz", a, {"encoding": "gzip"}),
                                 ("text", a, {"encoding": "ascii", "data": text})]:
        nrrd(fathom.directory / "a.nrrd", array, "spacings: 2 3 4", **options)
        assert np.allclose(elements(fathom, "a.nrrd"), expected, rtol=1e-6), name
        data = (fathom.directory / "a.nrrd").read_bytes()
        outcome = fathom("distance", "-", "-o", "-", stdin=data)
        assert outcome.out == (fathom.directory / "field.npy").read_bytes(), name


def test_nrrd_kinds_and_spaces(fathom):
    a = mask(4, 5, 6)
    directory = fathom.directory
    nrrd(directory / "a.nrrd", a, "kinds: domain domain time", "spacings: 2 3 0.1", 'units: "mm" "cm" "s"')
    saw = told(fathom, "a.nrrd")
    assert (saw["axes"], saw["spacing"], saw["unit"]) == ("tyx", [0.1, 30, 2], "mm")
    nrrd(directory / "a.nrrd", a, "space: left-anterior-superior", "space directions: (2,0,0) (0,3,0) none",
         "space origin: (1,2,3)", 'space units: "um" "um" "um"', "kinds: space space list")
    saw = told(fathom, "a.nrrd")
    assert (saw["axes"], saw["spacing"], saw["unit"]) == ("cyx", [1, 3, 2], "µm")
    assert fathom("distance", "a.nrrd", "-o", "out.nrrd").code == 0
    header = (directory / "out.nrrd").read_bytes().split(b"\n\n")[0].decode().splitlines()
    assert {"space: right-anterior-superior", "space directions: (-2,0,0) (0,3,0) none", "space origin: (-1,2,3)",
            'space units: "um" "um" "um"', "kinds: domain domain vector"} <= set(header)
    nrrd(directory / "a.nrrd", a, "axis mins: 0 0 0", "space dimension: 3", "space directions: (2,0,0) (1,3,0) (0,0,4)")
    assert warnings(fathom("info", "a.nrrd")) == [
        "a.nrrd has axes that are not perpendicular: distances are measured as if they were",
        "a.nrrd states 'axismins', which is not used"]


def test_nrrd_colours(fathom):
    rgb = RANDOM.integers(0, 2, (5, 6, 3)).astype(np.uint8) * 100
    nrrd(fathom.directory / "a.nrrd", rgb, "kinds: RGB-color domain domain")
    Image.fromarray(rgb).save(fathom.directory / "a.png")
    for rule in ("zero", "labels", ">=50"):
        got = []
        for name in ("a.nrrd", "a.png"):
            assert fathom("distance", name, "-o", "out.npy", "--sites", rule, "--quiet").code == 0
            got.append(np.load(fathom.directory / "out.npy"))
        assert np.array_equal(*got), rule
    assert fathom("distance", "a.nrrd", "-o", "out.npy", "--channel", "green").err == b""


@pytest.mark.parametrize(("field", "message"), [
    ("encoding: bzip2", "holds elements in the encoding 'bzip2'; save it as raw, gzip or ascii"),
    ("data file: LIST", "names several files for its elements; save it as one file (.nrrd)"),
    ("data file: none.raw", "names a file for its elements that is not there: none.raw"),
    ("spacings: 1 2", "has an absurd NRRD header: 'spacings' has 2 values, not 3"),
])
def test_nrrd_refused(fathom, field, message):
    encoding = field.removeprefix("encoding: ") if field.startswith("enc") else "raw"
    nrrd(fathom.directory / "a.nrrd", mask(4, 5, 6), *([] if encoding != "raw" else [field]), encoding=encoding)
    assert fathom.refuses(3, "info", "a.nrrd") == f"a.nrrd {message}"


def test_headers_in_a_pipe_have_no_other_file(fathom):
    a = mask(4, 5, 6)
    sitk.WriteImage(image_of(a), str(fathom.directory / "a.mhd"))
    (fathom.directory / "other").mkdir()
    data = (fathom.directory / "a.mhd").read_bytes()
    assert fathom.refuses(3, "info", "-", stdin=data) == (
        "standard input names another file for its elements (a.raw), which what comes out of a pipe has not; "
        "give the file's path")


# ---- VTI ----


def vti(path):
    """An own reader: the array [z, y, x], origin, spacing and direction."""
    data = path.read_bytes()
    head, rest = data.split(b'<AppendedData encoding="raw">\n   _', 1)
    root = ET.fromstring(head + b"</VTKFile>")
    image = root.find("ImageData")
    extent = list(map(int, image.get("WholeExtent").split()))
    assert image.find("Piece").get("Extent") == image.get("WholeExtent")
    array = image.find("Piece/PointData/DataArray")
    assert (root.get("type"), root.get("byte_order"), root.get("header_type"), array.get("format")) == (
        "ImageData", "LittleEndian", "UInt64", "appended")
    count = struct.unpack("<Q", rest[:8])[0]
    assert rest[8 + count:] == b"\n  </AppendedData>\n</VTKFile>\n"
    values = np.frombuffer(rest[8:8 + count], np.dtype(array.get("type").lower()))
    shape = [extent[2 * k + 1] + 1 for k in (2, 1, 0)]
    numbers = {name: np.array(list(map(float, image.get(name).split()))) for name in ("Origin", "Spacing", "Direction")
               if image.get(name)}
    return values.reshape(shape), numbers


@pytest.mark.parametrize("option", [[], ["--dtype", "float64"], ["--squared", "--spacing", "1"]])
def test_vti(fathom, option):
    a = mask(4, 5, 6)
    image = image_of(a)
    sitk.WriteImage(image, str(fathom.directory / "a.mha"))
    lost = "out.vti: VTI does not hold what the input says: unit (mm)"
    assert warnings(fathom("distance", "a.mha", "-o", "out.vti", *option)) == [lost]
    got, numbers = vti(fathom.directory / "out.vti")
    sampling = None if "--squared" in option else (4, 3, 2)
    expected = ndimage.distance_transform_edt(a, sampling=sampling)
    assert np.allclose(got, np.rint(expected**2) if "--squared" in option else expected, rtol=1e-6)
    assert got.dtype == {"--dtype": "f8", "--squared": "u4"}.get(option[0] if option else "", "f4")
    assert np.allclose(numbers["Origin"], (10, -20, 30))
    assert np.allclose(numbers["Spacing"], (1, 1, 1) if "--squared" in option else (2, 3, 4))
    assert np.allclose(numbers["Direction"], TURN.flatten())


def test_vti_of_fewer_axes(fathom):
    np.save(fathom.directory / "a.npy", mask(5, 6))
    assert warnings(fathom("distance", "a.npy", "-o", "out.vti", "--spacing", "3,2")) == []
    got, numbers = vti(fathom.directory / "out.vti")
    assert got.shape == (1, 5, 6) and list(numbers["Spacing"]) == [2, 3, 1] and "Direction" not in numbers
    assert fathom("distance", "a.npy", "-o", "row.vti", "--region", "2:3,0:6").code == 0
    np.save(fathom.directory / "b.npy", mask(2, 5, 6))
    assert fathom.refuses(2, "distance", "b.npy", "--axes", "cyx", "-o", "out.vti") == (
        "VTI holds axes of space alone, not cyx; take one channel, or write .nrrd or .npy")


# ---- JPEG ----


def jpeg(path, a, **options):
    Image.fromarray(a).save(path, "JPEG", **options)


@pytest.mark.parametrize("progressive", [False, True])
def test_jpeg_gray(fathom, progressive):
    a = ndimage.gaussian_filter(RANDOM.random((37, 45)), 2)
    a = np.uint8(255 * (a - a.min()) / (a.max() - a.min()))
    jpeg(fathom.directory / "a.jpg", a, quality=90, progressive=progressive)
    decoded = np.asarray(Image.open(fathom.directory / "a.jpg"))
    assert fathom("distance", "a.jpg", "-o", "out.npy", "--sites", ">=128").err == b""
    assert np.allclose(np.load(fathom.directory / "out.npy"), ndimage.distance_transform_edt(decoded < 128))
    assert told(fathom, "a.jpg")["shape"] == [37, 45]


def test_jpeg_colours(fathom):
    rgb = np.kron(RANDOM.integers(0, 2, (4, 5, 3)), np.ones((16, 16, 1))).astype(np.uint8) * 200
    jpeg(fathom.directory / "a.jpg", rgb, quality=95, subsampling=0)
    assert warnings(fathom("info", "a.jpg", "--sites", ">=100")) == [
        "a.jpg holds colours: their luminance is taken, and not one channel (red, green, blue)"]
    for k, name in enumerate(("red", "green", "blue")):
        assert fathom("distance", "a.jpg", "-o", "out.npy", "--sites", ">=100", "--channel", name).err == b""
        assert np.allclose(np.load(fathom.directory / "out.npy"), ndimage.distance_transform_edt(rgb[..., k] < 100))


def test_jpeg_that_is_to_be_turned(fathom):
    exif = Image.Exif()
    exif[0x112] = 6
    jpeg(fathom.directory / "a.jpg", mask(20, 30) * 255, exif=exif, dpi=(254, 254))
    said = "a.jpg says that it is to be shown turned or mirrored (Exif orientation 6): it is taken as it is stored"
    assert warnings(fathom("info", "a.jpg")) == [said]
    assert told(fathom, "a.jpg")["spacing"] is None
    outcome = fathom("distance", "a.jpg", "-o", "o.nrrd", "--spacing", "print", "--json", "--quiet")
    assert json.loads(outcome.out)["input"]["spacing"] == pytest.approx([0.1, 0.1])
    exif[0x112] = 1
    jpeg(fathom.directory / "a.jpg", mask(20, 30) * 255, exif=exif)
    assert fathom("info", "a.jpg").err == b""
    assert fathom.refuses(3, "distance", "a.jpg", "-o", "o.npy", "--spacing", "print").startswith(
        "a.jpg states no resolution")


def test_jpeg_refused(fathom):
    Image.fromarray(mask(20, 30)).convert("CMYK").save(fathom.directory / "a.jpg")
    assert fathom.refuses(3, "info", "a.jpg") == "a.jpg holds the colours of a press (CMYK); save it as RGB"
    jpeg(fathom.directory / "a.jpg", mask(20, 30) * 255)
    data = (fathom.directory / "a.jpg").read_bytes()
    at = data.index(b"\xff\xc0")
    (fathom.directory / "b.jpg").write_bytes(data[:at + 4] + b"\x0c" + data[at + 5:])
    assert fathom.refuses(3, "info", "b.jpg") == (
        "b.jpg holds 12 bits a sample, and JPEG is read with 8; save it as TIFF")
    for share in (0.1, 0.5, 0.9, 0.999):
        (fathom.directory / "cut.jpg").write_bytes(data[:int(len(data) * share)])
        assert fathom.refuses(3, "distance", "cut.jpg", "-o", "o.npy").startswith("cut.jpg is no JPEG that can be read")
    rows = bytearray(data)
    start = data.index(b"\xff\xda") + 20
    rows[start:start + 40] = b"\xff\xd9" + bytes(38)  # the image ends early
    (fathom.directory / "damaged.jpg").write_bytes(rows)
    assert fathom.refuses(3, "distance", "damaged.jpg", "-o", "o.npy").startswith("damaged.jpg is no JPEG that can be")


# ---- PNM ----


@pytest.mark.parametrize(("ending", "image"), [
    ("pbm", Image.fromarray(mask(11, 13) * 255).convert("1")),
    ("pgm", Image.fromarray(mask(11, 13) * 7)),
    ("pgm", Image.fromarray(mask(11, 13).astype(np.uint16) * 700)),
    ("ppm", Image.fromarray(np.stack([mask(11, 13)] * 3, -1) * 7)),
])
def test_pnm_of_pillow(fathom, ending, image):
    image.save(fathom.directory / f"a.{ending}")
    a = np.asarray(Image.open(fathom.directory / f"a.{ending}"))
    a = a if a.ndim == 2 else a.any(-1)
    assert np.array_equal(elements(fathom, f"a.{ending}"), ndimage.distance_transform_edt(a != 0).astype(np.float32))
    data = (fathom.directory / f"a.{ending}").read_bytes()
    outcome = fathom("distance", "-", "-o", "-", "--sites", "==0", "--quiet", stdin=data)
    assert outcome.out == (fathom.directory / "field.npy").read_bytes()


def test_pnm_as_text(fathom):
    a = RANDOM.integers(0, 3, (5, 6))
    rows = "\n".join(" ".join(map(str, row)) for row in a)
    (fathom.directory / "a.pgm").write_text(f"P2\n# made by hand\n6 5\n2\n{rows}\n")
    assert np.allclose(elements(fathom, "a.pgm"), ndimage.distance_transform_edt(a))
    bits = "\n".join("".join(map(str, row)) for row in (a > 0).astype(int))
    (fathom.directory / "a.pbm").write_text(f"P1 6 5\n{bits}\n")
    assert np.allclose(elements(fathom, "a.pbm"), ndimage.distance_transform_edt(a == 0))  # 1 is black
    (fathom.directory / "b.pgm").write_text(f"P2 6 5 2\n{rows}\nP2 6 5 2\n{rows}\n")
    assert fathom.refuses(3, "distance", "b.pgm", "-o", "o.npy") == (
        "b.pgm holds several images; split them (pamsplit), or save them as TIFF")
    (fathom.directory / "c.pgm").write_text(f"P2 6 5 1\n{rows}\n")
    assert fathom.refuses(3, "distance", "c.pgm", "-o", "o.npy") == (
        "c.pgm has a broken PNM file: a value is no number of 0 to 1")


# ---- refused by name ----


def test_zarr_folders_are_named(fathom):
    (fathom.directory / "a.zarr").mkdir()
    (fathom.directory / "a.zarr" / "zarr.json").write_text("{}")
    assert fathom.refuses(3, "info", "a.zarr") == (
        "a.zarr is a Zarr folder, which is not read; save the array with numpy.save")
