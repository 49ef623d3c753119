"""Many inputs in one call, and folders of slices as volumes."""

import json

import numpy as np
import tifffile
from PIL import Image
from scipy import ndimage

RANDOM = np.random.default_rng(11)


def save(path, *shape):
    a = (RANDOM.random(shape) < 0.9).astype(np.uint8)
    a[0, 0] = 0
    np.save(path, a) if path.suffix == ".npy" else Image.fromarray(a).save(path)
    return a


def edt(a, **options):
    return ndimage.distance_transform_edt(a, **options).astype(np.float32)


def test_many_files(fathom):
    masks = {name: save(fathom.directory / name, 20, 30) for name in ("a.npy", "b.png", "c1.png", "c2.png", "c10.png")}
    (fathom.directory / "out").mkdir()
    text = fathom.ok("distance", "a.npy", "b.png", "c*.png", "-o", "out/{stem}_edt.npy", "--nearest", "out/{name}.n.npy",
                     "--jobs", "3")
    assert len(text.splitlines()) == 10
    for name, a in masks.items():
        stem = name.split(".")[0]
        assert np.array_equal(np.load(fathom.directory / f"out/{stem}_edt.npy"), edt(a))
        assert (fathom.directory / f"out/{name}.n.npy").exists()
    lines = fathom.ok("distance", "c*.png", "-o", "out/{stem}.tif", "--json").splitlines()
    assert [json.loads(line)["input"]["path"] for line in lines] == ["c1.png", "c2.png", "c10.png"]


def test_an_error_does_not_stop_the_others(fathom):
    save(fathom.directory / "a.npy", 20, 30)
    save(fathom.directory / "c.npy", 20, 30)
    (fathom.directory / "b.npy").write_bytes(b"no array")
    for jobs in ("1", "2"):
        outcome = fathom("distance", "a.npy", "b.npy", "none.npy", "c.npy", "-o", "{stem}.tif", "--jobs", jobs)
        assert outcome.code == 3
        assert sorted(outcome.err.decode().splitlines()) == sorted([
            "fathom: b.npy is no image or array that is known; NPY, TIFF, NIfTI, PNG, NRRD, MetaImage, JPEG and PNM files are read",
            "fathom: none.npy cannot be read: No such file or directory",
            "fathom: 2 of 4 files failed"])
        assert len(outcome.text.splitlines()) == 2
        assert (fathom.directory / "a.tif").exists() and (fathom.directory / "c.tif").exists()


def test_names_that_collide(fathom):
    save(fathom.directory / "a.npy", 9, 8)
    save(fathom.directory / "a.png", 9, 8)
    save(fathom.directory / "b.npy", 9, 8)
    assert fathom.refuses(2, "distance", "a.npy", "b.npy", "-o", "out.npy") == (
        "out.npy is the output of a.npy and an output of b.npy; {stem} in its name is the input's name")
    assert fathom.refuses(2, "distance", "a.npy", "a.png", "-o", "{stem}.tif") == (
        "a.tif is the output of a.npy and an output of a.png; {stem} in its name is the input's name")
    assert fathom.refuses(2, "distance", "a.npy", "b.npy", "-o", "{stem}.npy") == (
        "a.npy is an input and an output of a.npy; {stem} in its name is the input's name")
    assert fathom.refuses(2, "distance", "a.npy", "b.npy", "-o", "{base}.npy") == (
        "names of outputs take {stem}, {name} and {folder}, not '{base}'")
    assert fathom.refuses(3, "distance", "x*.tif", "-o", "{stem}.npy") == "x*.tif matches no file"


def test_a_name_with_stars(fathom):
    a = save(fathom.directory / "a[1].npy", 9, 8)
    fathom.ok("distance", "a[1].npy", "-o", "out.npy")
    assert np.array_equal(np.load(fathom.directory / "out.npy"), edt(a))


def test_stack(fathom):
    folder = fathom.directory / "slices"
    folder.mkdir()
    volume = np.stack([save(folder / f"s{k}.png", 12, 14) for k in range(11)])
    fathom.ok("distance", "slices", "--stack", "-o", "out.npy", "--spacing", "2,1,1")
    expected = edt(volume, sampling=(2, 1, 1))
    assert np.allclose(np.load(fathom.directory / "out.npy"), expected, rtol=1e-6)
    fathom.ok("distance", "slices/s*.png", "--stack", "-o", "again.npy", "--spacing", "2,1,1")
    assert np.array_equal(np.load(fathom.directory / "again.npy"), np.load(fathom.directory / "out.npy"))
    assert "shape    11 × 12 × 14" in fathom.ok("info", "slices", "--stack")
    fathom.ok("render", "slices", "--stack", "-o", "o.png", "--size", "32x32")
    save(folder / "s5.png", 12, 13)
    assert fathom.refuses(3, "distance", "slices", "--stack", "-o", "x.npy") == (
        "slices/s5.png is 12 × 13 of uint8, but the first slice is 12 × 14 of uint8; slices of a volume are alike")
    assert fathom.refuses(3, "distance", "slices", "-o", "x.npy") == (
        "slices is a directory; name a file in it, or give --stack for a folder of slices")


def test_stack_whose_slices_have_a_size(fathom):
    folder = fathom.directory / "slices"
    folder.mkdir()
    for k in range(3):
        tifffile.imwrite(folder / f"{k}.tif", np.eye(9, dtype=np.uint8), imagej=True, resolution=(2, 2),
                         metadata={"unit": "um"})
    outcome = fathom("distance", "slices", "--stack", "-o", "out.tif")
    assert outcome.err.decode() == (
        "fathom: warning: slices is a stack whose slices do not say how far apart they are: 1 is taken; --spacing says it\n")


def test_plan(fathom):
    save(fathom.directory / "a.npy", 20, 30)
    text = fathom.ok("distance", "a.npy", "-o", "out.tif", "--nearest", "n.npy", "--ndim", "1", "--spacing", "2", "--plan")
    assert text.startswith("read     a.npy: npy, uint8, 20 × 30\nbatch    20 arrays along axis 0\nsites    zero elements\n"
                           "spacing  2\nwrite    out.tif: distance, tiff, float32, 20 × 30\n"
                           "write    n.npy: nearest site, npy, int32, 20 × 30\nmemory   5400B for arrays, ")
    assert not (fathom.directory / "out.tif").exists()
    line = json.loads(fathom.ok("distance", "a.npy", "-o", "out.tif", "--plan", "--json"))
    assert (line["operation"], line["verb"], line["bytes"]["arrays"]) == ("plan", "distance", 20 * 30 * 5)
