"""TIFF: what ImageJ, OME and tifffile say of pages, compression and bits."""

import struct

import numpy as np
import pytest
import tifffile
from meaning import distance, info, mask, per_plane
from scipy import ndimage


@pytest.mark.parametrize("unit", ["um", "micron", "\\u00B5m", "µm"])
def test_imagej_spacing(fathom, unit):
    a = mask(6, 20, 30)
    if not unit.isascii():
        unit = unit.encode("unicode-escape").decode().replace("xb5", "u00B5")
    metadata = {"axes": "ZYX", "spacing": 1.5, "unit": unit}
    tifffile.imwrite(fathom.directory / "a.tif", a, imagej=True, resolution=(5, 5), metadata=metadata)
    told = info(fathom, "a.tif")
    assert (told["spacing"], told["unit"]) == ([1.5, 0.2, 0.2], "µm")
    lost = "out.npy: NPY does not hold what the input says: spacing (1.5, 0.2, 0.2 µm)"
    got = distance(fathom, "a.tif", warnings=[lost])
    assert np.allclose(got, ndimage.distance_transform_edt(a, sampling=(1.5, 0.2, 0.2)), rtol=1e-6)


def test_imagej_planes_that_nobody_named(fathom):
    """tifffile then says that they are channels."""
    a = mask(6, 20, 30)
    tifffile.imwrite(fathom.directory / "a.tif", a, imagej=True, resolution=(5, 5), metadata={"spacing": 1.5, "unit": "um"})
    got = distance(fathom, "a.tif", out="out.tif", warnings=[
        "a.tif has a spacing of slices, but only channels: they are taken as slices; as axes cyx they are apart"])
    got = tifffile.imread(fathom.directory / "out.tif")
    assert np.allclose(got, ndimage.distance_transform_edt(a, sampling=(1.5, 0.2, 0.2)), rtol=1e-6)


def test_imagej_unequal_pixels_and_odd_sizes(fathom):
    a = mask(4, 9, 11)
    tifffile.imwrite(fathom.directory / "a.tif", a, imagej=True, resolution=(1 / 0.337891, 1 / 0.5),
                     metadata={"axes": "ZYX", "spacing": 0.337891, "unit": "mm"})
    assert info(fathom, "a.tif")["spacing"] == [0.337891, 0.5, 0.337891]


def test_imagej_without_spacing(fathom):
    tifffile.imwrite(fathom.directory / "a.tif", mask(4, 9, 11), imagej=True)
    assert info(fathom, "a.tif")["spacing"] is None


def test_imagej_channels_and_time_are_apart(fathom):
    a = mask(2, 3, 4, 10, 12)  # t, z, c, y, x
    tifffile.imwrite(fathom.directory / "a.tif", a, imagej=True, metadata={"axes": "TZCYX"})
    told = info(fathom, "a.tif")
    assert (told["axes"], told["shape"]) == ("tzcyx", [2, 3, 4, 10, 12])
    lost = "out.npy: NPY does not hold what the input says: names of axes (tzcyx)"
    got = distance(fathom, "a.tif", warnings=[lost])
    assert np.allclose(got, per_plane(a, [0, 2]))
    one = distance(fathom, "a.tif", "--channel", "2",
                   warnings=["out.npy: NPY does not hold what the input says: names of axes (tzyx)"])
    assert np.array_equal(one, got[:, :, 2])
    assert fathom("distance", "a.tif", "-o", "b.npy").text.splitlines()[0] == "a.tif: 8 arrays along t, c, each by itself"


@pytest.mark.parametrize(("axes", "shape"), [("ZYX", (5, 9, 8)), ("TYX", (5, 9, 8)), ("CYX", (3, 9, 8)),
                                             ("ZCYX", (4, 3, 9, 8)), ("TZYX", (2, 4, 9, 8))])
def test_imagej_kinds(fathom, axes, shape):
    a = mask(*shape)
    tifffile.imwrite(fathom.directory / "a.tif", a, imagej=True, metadata={"axes": axes})
    apart = [k for k, c in enumerate(axes) if c in "TC"]
    got = distance(fathom, "a.tif", "--quiet")
    assert np.allclose(got, per_plane(a, apart) if apart else ndimage.distance_transform_edt(a))


def test_imagej_in_one_block(fathom):
    """Larger than 4 GiB ImageJ writes one directory, and the planes behind one another."""
    a = mask(5, 12, 14)
    for order in "<>":
        tifffile.imwrite(fathom.directory / "a.tif", a.astype(np.uint16) * 300, imagej=True, byteorder=order,
                         metadata={"axes": "ZYX"})
        data = bytearray((fathom.directory / "a.tif").read_bytes())
        at = struct.unpack(order + "I", data[4:8])[0]
        count = struct.unpack(order + "H", data[at:at + 2])[0]
        link = at + 2 + 12 * count
        data[link:link + 4] = bytes(4)  # no second directory
        (fathom.directory / "b.tif").write_bytes(data)
        assert info(fathom, "b.tif")["shape"] == [5, 12, 14]
        assert np.array_equal(distance(fathom, "b.tif"), ndimage.distance_transform_edt(a).astype(np.float32))
        (fathom.directory / "cut.tif").write_bytes(data[:len(data) // 2])
        fathom.refuses(3, "info", "cut.tif")


@pytest.mark.parametrize("axes", ["ZYX", "TCZYX", "CTYX", "TZCYX", "ZCTYX"])
def test_ome(fathom, axes):
    extents = {"T": 2, "C": 3, "Z": 4, "Y": 9, "X": 8}
    a = mask(*(extents[c] for c in axes))
    sizes = {"PhysicalSizeX": 0.2, "PhysicalSizeXUnit": "µm", "PhysicalSizeY": 200, "PhysicalSizeYUnit": "nm",
             "PhysicalSizeZ": 1.5, "PhysicalSizeZUnit": "µm"}
    if "C" in axes:
        sizes["Channel"] = {"Name": ["DAPI", "GFP", "RFP"]}
    tifffile.imwrite(fathom.directory / "a.ome.tif", a, ome=True, metadata={"axes": axes, **sizes})
    told = info(fathom, "a.ome.tif")
    assert (told["axes"], told["unit"]) == (axes.lower(), "µm")
    assert told["spacing"][-2:] == [0.2, 0.2]
    apart = [k for k, c in enumerate(axes) if c in "TC"]
    sampling = (1.5, 0.2, 0.2) if "Z" in axes else (0.2, 0.2)
    got = distance(fathom, "a.ome.tif", "--quiet")
    expected = per_plane(a, apart, sampling) if apart else ndimage.distance_transform_edt(a, sampling)
    assert np.allclose(got, expected, rtol=1e-6)
    if "C" in axes:
        one = distance(fathom, "a.ome.tif", "--channel", "GFP", "--quiet")
        assert np.array_equal(one, np.take(got, 1, axes.index("C")))
        assert fathom.refuses(2, "distance", "a.ome.tif", "-o", "x.npy", "--channel", "Cy5") == (
            "--channel takes 0 to 2, DAPI, GFP, RFP, not 'Cy5'")


def test_ome_series_and_files(fathom):
    with tifffile.TiffWriter(fathom.directory / "a.ome.tif", ome=True) as writer:
        writer.write(mask(3, 9, 8), metadata={"axes": "ZYX"})
        writer.write(mask(2, 5, 6), metadata={"axes": "ZYX"})
    assert info(fathom, "a.ome.tif")["shape"] == [3, 9, 8]
    assert fathom("info", "a.ome.tif").err.decode() == (
        "fathom: warning: a.ome.tif holds 2 images (OME): the first is taken\n")
    xml = ('<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0"><Pixels ID="Pixels:0" '
           'DimensionOrder="XYZCT" Type="uint8" SizeX="8" SizeY="9" SizeZ="4" SizeC="1" SizeT="1"/></Image></OME>')
    tifffile.imwrite(fathom.directory / "b.tif", mask(9, 8), description=xml, metadata=None)
    assert fathom.refuses(3, "info", "b.tif") == (
        "b.tif says that it has more planes (OME) than the 1 pages it holds; are they in several files? Save them as one")


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint32"])
@pytest.mark.parametrize("axes", ["ZYX", "TZCYX", "YX"])
def test_tiff_written_for_others(fathom, axes, dtype):
    """Spacing, unit and axes come back in tifffile, by ImageJ's rules or OME's."""
    extents = {"T": 2, "C": 3, "Z": 4, "Y": 9, "X": 8}
    a = mask(*(extents[c] for c in axes))
    metadata = {"axes": axes, "PhysicalSizeX": 0.3, "PhysicalSizeY": 0.2, "PhysicalSizeZ": 1.5}
    tifffile.imwrite(fathom.directory / "a.ome.tif", a, ome=True, metadata=metadata)
    squared = ["--squared", "--spacing", "1"] if dtype == "uint32" else ["--dtype", dtype]
    distance(fathom, "a.ome.tif", *squared, out="out.tif")
    with tifffile.TiffFile(fathom.directory / "out.tif") as file:
        series = file.series[0]
        assert series.axes == axes and series.shape == a.shape and series.dtype == dtype
        assert file.is_imagej == (dtype == "float32") and file.is_ome == (dtype != "float32")
        if dtype == "float32":
            assert file.imagej_metadata["unit"] == "micron"
            assert file.imagej_metadata.get("spacing") == (1.5 if "Z" in axes else None)
            x = file.pages[0].tags["XResolution"].value
            assert x[1] / x[0] == pytest.approx(0.3)
        elif dtype == "float64":
            assert 'PhysicalSizeX="0.3"' in file.ome_metadata
    told = info(fathom, "out.tif")
    assert told["axes"] == axes.lower()
    assert told["spacing"][-2:] == ([1, 1] if dtype == "uint32" else [0.2, 0.3])


def test_tifffile_shapes(fathom):
    a = mask(2, 3, 9, 8)
    tifffile.imwrite(fathom.directory / "a.tif", a, photometric="minisblack", metadata={"axes": "CZYX"})
    assert np.allclose(distance(fathom, "a.tif", "--quiet"), per_plane(a, [0]))
    tifffile.imwrite(fathom.directory / "b.tif", a, photometric="minisblack")
    assert info(fathom, "b.tif")["shape"] == [2, 3, 9, 8]
    assert np.allclose(distance(fathom, "b.tif", "--axes", "tzyx", "--quiet"), per_plane(a, [0]))


def test_bands_are_channels(fathom):
    a = mask(9, 8, 5)
    a[0, 0] = 0
    tifffile.imwrite(fathom.directory / "a.tif", a, photometric="minisblack", planarconfig="contig", metadata=None)
    told = info(fathom, "a.tif")
    assert (told["axes"], told["shape"]) == ("cyx", [5, 9, 8])
    got = distance(fathom, "a.tif", "--quiet")
    assert np.allclose(got, per_plane(np.moveaxis(a, 2, 0), [0]))
    tifffile.imwrite(fathom.directory / "b.tif", np.moveaxis(a, 2, 0), photometric="minisblack",
                     planarconfig="separate", metadata=None)
    assert np.array_equal(distance(fathom, "b.tif", "--quiet"), got)


def test_compressed_tiff(fathom):
    for name, extra in (("f.tif", []), ("s.tif", ["--squared"])):
        np.save(fathom.directory / "a.npy", mask(40, 50, 60))
        plain = fathom("distance", "a.npy", "-o", "plain.tif", *extra)
        assert plain.code == 0
        distance(fathom, "a.npy", "--compress", *extra, out=name)
        with tifffile.TiffFile(fathom.directory / name) as file:
            assert file.pages[0].compression == tifffile.COMPRESSION.ADOBE_DEFLATE
            assert np.array_equal(file.asarray(), tifffile.imread(fathom.directory / "plain.tif"))
        assert (fathom.directory / name).stat().st_size < (fathom.directory / "plain.tif").stat().st_size / 2
    assert fathom.refuses(2, "distance", "a.npy", "-o", "x.npy", "--compress") == (
        "compression is a choice of TIFF and NRRD, not of NPY; leave it out, or write .tif or .nrrd")


def test_unread_compression_is_named(fathom):
    tifffile.imwrite(fathom.directory / "a.tif", mask(9, 8), metadata=None)
    data = bytearray((fathom.directory / "a.tif").read_bytes())
    at = data.index(struct.pack("<HHI", 259, 3, 1))
    data[at + 8:at + 10] = struct.pack("<H", 33005)
    (fathom.directory / "a.tif").write_bytes(data)
    assert fathom.refuses(3, "info", "a.tif") == (
        "a.tif holds elements in JPEG 2000 compression; save it with deflate, LZW or none")


def test_time_in_milliseconds(fathom):
    sizes = {"PhysicalSizeX": 1, "PhysicalSizeY": 1, "TimeIncrement": 40, "TimeIncrementUnit": "ms"}
    tifffile.imwrite(fathom.directory / "a.ome.tif", mask(3, 9, 8), ome=True, metadata={"axes": "TYX", **sizes})
    distance(fathom, "a.ome.tif", out="out.tif")
    with tifffile.TiffFile(fathom.directory / "out.tif") as file:
        assert (file.imagej_metadata["finterval"], file.imagej_metadata["tunit"]) == (40, "ms")


def test_white_is_told(fathom):
    tifffile.imwrite(fathom.directory / "a.tif", mask(9, 8).astype(bool), photometric="miniswhite", metadata=None)
    distance(fathom, "a.tif", warnings=[
        "a.tif shows 0 as white (MINISWHITE): values are taken as they are stored, so that black is largest"])


def test_channels_by_imagej_labels(fathom):
    a = mask(2, 3, 9, 8)
    for order in "<>":
        options = {"imagej": True, "byteorder": order}
        tifffile.imwrite(fathom.directory / "a.tif", a[0], **options, metadata={
            "axes": "CYX", "Labels": ["DAPI", "GFP µ", "𝒳"], "Info": "of the microscope"})
        assert "channels DAPI, GFP µ, 𝒳" in fathom("info", "a.tif").text
        one = distance(fathom, "a.tif", "--channel", "GFP µ")
        assert np.allclose(one, ndimage.distance_transform_edt(a[0, 1]))
        tifffile.imwrite(fathom.directory / "b.tif", a, **options, metadata={"axes": "ZCYX", "Labels": ["R", "G", "B"] * 2})
        assert "channels R, G, B" in fathom("info", "b.tif").text
        tifffile.imwrite(fathom.directory / "c.tif", a, **options, metadata={"axes": "ZCYX", "Labels": list("abcdef")})
        assert "channels" not in fathom("info", "c.tif").text


def test_channels_without_names(fathom):
    a = mask(3, 9, 8)
    tifffile.imwrite(fathom.directory / "a.ome.tif", a, ome=True, metadata={"axes": "CYX", "Channel": {"Name": ["R", "", "B"]}})
    assert "channels R, 1, B\n" in fathom("info", "a.ome.tif").text
    tifffile.imwrite(fathom.directory / "b.ome.tif", a, ome=True, metadata={"axes": "CYX", "Channel": {"Name": ["", "", ""]}})
    assert "channels" not in fathom("info", "b.ome.tif").text


@pytest.mark.parametrize("photometric", [None, "minisblack", "miniswhite"])
@pytest.mark.parametrize("dtype", ["?", "u1", "u2", "f4"])
def test_what_tifffile_saved(fathom, photometric, dtype):
    """Of bool arrays it writes MINISWHITE without being asked, and reads them as they are stored."""
    a = mask(9, 8).astype(dtype)
    tifffile.imwrite(fathom.directory / "a.tif", a, photometric=photometric)
    assert np.array_equal(tifffile.imread(fathom.directory / "a.tif"), a)
    assert np.array_equal(distance(fathom, "a.tif"), ndimage.distance_transform_edt(a).astype(np.float32))
