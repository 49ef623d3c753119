"""fathom render: what is seen from where, every way in, the same picture for every step; what it refuses."""

import io
import json

import nibabel
import numpy as np
import pytest
from PIL import Image


def corner():
    """An arm along each axis, all of different lengths: no two views are the same."""
    volume = np.zeros((20, 26, 32), np.uint8)
    volume[4:16, 5:8, 6:9] = 1
    volume[4:7, 5:21, 6:9] = 1
    volume[4:7, 5:8, 6:28] = 1
    return volume


def silhouette(volume, up, size):
    """Which pixels of an orthographic view along an axis show something: up z looks along y, x along z, y along x."""
    rows, columns = {"z": (0, 2), "y": (1, 0), "x": (2, 1)}[up[-1]]
    if up[0] == "-":  # half a turn around the axis to the right
        volume = np.flip(volume, [axis for axis in range(3) if axis != columns])
    seen = volume.any(3 - rows - columns)
    if rows > columns:
        seen = seen.T
    solid = np.argwhere(volume)
    low, high = solid.min(0), solid.max(0)
    middle, widest = 0.5 * (low + high), (high - low + 1)[[rows, columns]].max()
    offset = (np.arange(size) + 0.5 - size / 2) * widest / (0.92 * size)
    v, u = np.rint(middle[rows] - offset).astype(int), np.rint(middle[columns] + offset).astype(int)
    inside = ((v >= 0) & (v < seen.shape[0]))[:, None] & ((u >= 0) & (u < seen.shape[1]))[None]
    return inside & seen[v.clip(0, seen.shape[0] - 1)[:, None], u.clip(0, seen.shape[1] - 1)[None]]


@pytest.fixture
def scene(fathom):
    np.save(fathom.directory / "v.npy", corner())
    return fathom


def picture(fathom, *options, name="v.npy"):
    fathom.ok("render", name, "-o", "out.png", "--quiet", *options)
    return np.array(Image.open(fathom.directory / "out.png"))


@pytest.mark.parametrize("up", ["z", "y", "x", "-z", "-y", "-x"])
def test_shows_what_is_there(scene, up):
    found = picture(scene, "--up", up, "--azimuth", 0, "--elevation", 0, "--projection", "orthographic",
                    "--size", "101x101", "--antialias", 1)
    np.testing.assert_array_equal(found != 255, silhouette(corner(), up, 101))


def test_turns(scene):
    """A quarter around the up axis is the view along another axis; from above, the first axis is along the view."""
    options = ["--projection", "orthographic", "--size", "101x101", "--antialias", 1]
    right = picture(scene, *options, "--azimuth", 90, "--elevation", 0)
    turned = np.flip(corner().transpose(0, 2, 1), 1)  # what was at the right is in front
    np.testing.assert_array_equal(right != 255, silhouette(turned, "z", 101))
    above = picture(scene, *options, "--azimuth", 0, "--elevation", 90)
    np.testing.assert_array_equal(above != 255, silhouette(np.flip(corner().transpose(1, 0, 2), 1), "z", 101))


def test_says_what_it_did(scene):
    said = scene.ok("render", "v.npy", "-o", "o.png", "--samples", "s.png", "--step", "cone").splitlines()
    solid = np.count_nonzero(corner())
    assert said[0] == f"o.png: 512 × 512, {solid} of {corner().size} voxels are solid"
    assert said[1].startswith("s.png: samples per ray, white for 1, black for ")
    assert said[2].startswith("cone: ") and said[2].endswith(" frames per second")
    assert Image.open(scene.directory / "o.png").size == (512, 512)


def test_every_step_draws_the_same(scene):
    pictures, samples = [], []
    for step in (["unit"], ["field"], ["pointwise"], ["cone"], ["cone", "--cone", "36"], ["cone", "--cone", "180"]):
        said = json.loads(scene.ok("render", "v.npy", "-o", "o.png", "--samples", "s.npy", "--json", "--step", *step,
                                   "--size", "200x150"))
        pictures.append((scene.directory / "o.png").read_bytes())
        samples.append(said["mean_samples"])
        assert said["rays"] >= said["hits"] > 0
        assert said["samples"] == pytest.approx(said["rays"] * said["mean_samples"])
        shown = np.load(scene.directory / "s.npy")
        assert shown.max() == 255 and (shown.min() == 0 or said["most_samples"] == 1)
    assert len(set(pictures)) == 1
    assert samples[0] > 3 * samples[3] and samples[2] == samples[5] >= samples[4] >= samples[3]


def test_options_change_the_view(scene):
    views = [[], ["--azimuth", 31], ["--elevation", 21], ["--fov", 60], ["--zoom", 2], ["--up", "y"],
             ["--projection", "orthographic"], ["--spacing", "2,1,1"]]
    assert len({picture(scene, *view, "--size", "90x60").tobytes() for view in views}) == len(views)
    assert picture(scene, "--size", "90x60").shape == (60, 90)


def test_fills_the_picture(scene):
    """From anywhere: 4 % of a side are free on both sides of what is solid, and no less at the others."""
    ball = np.indices((40, 50, 60)) - np.array([20, 22, 30])[:, None, None, None]
    np.save(scene.directory / "ball.npy", ((ball ** 2).sum(0) < 15 ** 2).astype(np.uint8))
    for name in ("v.npy", "ball.npy"):
        for view in ([], ["--projection", "orthographic"], ["--azimuth", 200, "--elevation", -70, "--fov", 60],
                     ["--spacing", "1,3,0.5"]):
            seen = picture(scene, *view, "--size", "300x200", "--antialias", 1, name=name) != 255
            rows, columns = np.flatnonzero(seen.any(1)), np.flatnonzero(seen.any(0))
            free = [rows[0] / 200, 1 - (rows[-1] + 1) / 200, columns[0] / 300, 1 - (columns[-1] + 1) / 300]
            assert min(free) > 0.035
            assert max(free[:2]) < 0.055 or max(free[2:]) < 0.055


def test_antialiasing_averages(scene):
    """The mean of N × N rays is that of N × N pixels in the larger picture."""
    for n in (2, 3):
        larger = picture(scene, "--size", f"{60 * n}x{40 * n}", "--antialias", 1).astype(float)
        mean = larger.reshape(40, n, 60, n).mean((1, 3))
        assert np.abs(picture(scene, "--size", "60x40", "--antialias", n) - mean).max() <= 0.5
    assert picture(scene, "--size", "60x40").tobytes() == picture(scene, "--size", "60x40", "--antialias", 3).tobytes()


def test_samples_are_those_of_the_pixels_middle(scene):
    shown = []
    for n in (1, 2, 3):
        said = json.loads(scene.ok("render", "v.npy", "--samples", "s.npy", "--size", "60x40", "--antialias", n, "--json"))
        shown.append((said["most_samples"], np.load(scene.directory / "s.npy").tobytes()))
    assert shown[0] == shown[1] == shown[2]


def test_backgrounds(scene):
    size = ["--size", "60x40"]
    white = picture(scene, *size).astype(float)
    black = picture(scene, *size, "--background", "black").astype(float)
    level = picture(scene, *size, "--background", "100").astype(float)
    assert (white[0, 0], black[0, 0], level[0, 0]) == (255, 0, 100)
    free = (white - black) / 255  # of the pixel
    assert np.abs(black + 100 * free - level).max() <= 1.5
    scene.ok("render", "v.npy", "-o", "out.png", *size, "--background", "transparent")
    image = Image.open(scene.directory / "out.png")
    assert image.mode == "RGBA"
    grey, opacity = np.array(image)[..., 0].astype(float), np.array(image)[..., 3].astype(float)
    assert np.abs(255 * (1 - free) - opacity).max() <= 1.5
    assert np.abs(grey * opacity / 255 - black).max() <= 1.5


def test_plan(scene):
    assert scene.ok("render", "v.npy", "-o", "o.png", "--plan", "--spacing", "2,1,1") == (
        "read     v.npy: npy, uint8, 20 × 26 × 32\nsolid    all but 0\nspacing  2, 1, 1\n"
        "draw     512 × 512 pixels, 9 rays each, --step field\nwrite    o.png: picture\n"
        f"memory   1553KiB for volume and picture, {field_memory(scene)} for --step field\n")
    assert scene.ok("render", "v.npy", "-o", "o.png", "--samples", "s.png", "--plan", "--step", "cone", "--antialias", 1,
                    "--size", "100x50", "--threshold", "1.5") == (
        "read     v.npy: npy, uint8, 20 × 26 × 32\nsolid    not less than 1.5\n"
        "draw     100 × 50 pixels, 1 ray each, --step cone\nwrite    o.png: picture\nwrite    s.png: samples per ray\n"
        "memory   41640B for volume and picture, 8256B for --step cone and 46B for each voxel of the surface\n")
    raw = ["--shape", "20,26,32", "--dtype", "int16", "--step", "unit"]
    (scene.directory / "v.raw").write_bytes(bytes(2 * 20 * 26 * 32))
    said = json.loads(scene.ok("render", "v.raw", "-o", "o.png", "--plan", "--json", *raw))
    assert said == {
        "operation": "plan", "verb": "render", "input": {"path": "v.raw", "dtype": "int16", "shape": [20, 26, 32]},
        "outputs": [{"path": "o.png", "content": "picture", "shape": [512, 512]}], "spacing": None, "solid": "all but 0",
        "step": "unit", "rays": 9 * 512 * 512,
        "bytes": {"arrays": 2 * 20 * 26 * 32 + 10 * 512 * 512, "marcher": 20 * 26 * 8, "per_voxel": 0}}
    assert sorted(path.name for path in scene.directory.iterdir()) == ["v.npy", "v.raw"]


def field_memory(scene):
    """As --plan says it in JSON, which depends on the processors."""
    said = json.loads(scene.ok("render", "v.npy", "-o", "o.png", "--plan", "--json"))["bytes"]["marcher"]
    assert said > (4 * 32 + 8) * 20 * 26
    return f"{-(-said // 1024)}KiB"


def test_reads_volumes_of_every_kind(scene):
    size = ["--size", "90x80"]
    expected = picture(scene, "--spacing", "3,2,1", *size)
    image = nibabel.Nifti1Image(corner().T, np.diag([1.0, 2, 3, 1]))
    nibabel.save(image, scene.directory / "v.nii.gz")
    np.testing.assert_array_equal(picture(scene, *size, name="v.nii.gz"), expected)
    levels = np.where(corner(), 1843, 1842)
    (scene.directory / "little.raw").write_bytes(levels.astype("<i2").tobytes())
    (scene.directory / "big.raw").write_bytes(levels.astype(">f4").tobytes())
    raw = ["--shape", "20,26,32", "--threshold", 1843, "--spacing", "3,2,1", *size]
    np.testing.assert_array_equal(picture(scene, *raw, "--dtype", "int16", name="little.raw"), expected)
    np.testing.assert_array_equal(picture(scene, *raw, "--dtype", "float32", "--big-endian", name="big.raw"), expected)


def test_standard_input_and_output(scene):
    whole = scene("render", "-", "-o", "-", stdin=(scene.directory / "v.npy").read_bytes())
    assert whole.code == 0 and whole.err.startswith(b"standard output: 512 ")
    np.testing.assert_array_equal(np.load(io.BytesIO(whole.out)), picture(scene))


def test_memory_is_kept(scene):
    message = scene.refuses(2, "render", "v.npy", "-o", "o.png", "--memory", "100KB")
    assert message.startswith("--memory 100000B is too small: volume and picture need ")
    for plan in ([], ["--plan"]):
        message = scene.refuses(2, "render", "v.npy", "-o", "o.png", "--memory", "1600KB", *plan)
        assert message.startswith("--memory 1563KiB is too small: volume and picture need 1553KiB, --step field ")
    message = scene.refuses(2, "render", "v.npy", "-o", "o.png", "--memory", "1610KB", "--step", "cone")
    assert message.startswith("the marcher's memory limit of ") and " is too small; what works here is " in message
    for step in ("field", "cone"):
        scene.ok("render", "v.npy", "-o", "o.png", "--memory", "3MB", "--step", step)


@pytest.mark.parametrize("arguments, message", [
    ("", "no output was asked for; give -o FILE or --samples FILE"),
    ("-o out.jpg",
     "the name 'out.jpg' does not say which format to write; end it in .npy, .tif, .tiff, .nii, .nii.gz, .png, "
     ".nrrd, .mha or .vti"),
    ("-o o.png --samples ./o.png", "-o and --samples name the same file './o.png'; give each its own"),
    ("-o o.png --step far", "--step takes unit, field, pointwise or cone, not 'far'"),
    ("-o o.png --cone 181", "--cone takes degrees from 0 to 180, not '181'"),
    ("-o o.png --cone 36", "--cone is the half-angle of --step cone; give that, too"),
    ("-o o.png --size 100", "--size takes WIDTHxHEIGHT, such as 640x480, not '100'"),
    ("-o o.png --size 0x100", "--size takes a whole number from 1 to 32768, not '0'"),
    ("-o o.png --elevation 91", "--elevation takes degrees from -90 to 90, not '91'"),
    ("-o o.png --azimuth 1,2", "--azimuth takes degrees from -360 to 360, not '1,2'"),
    ("-o o.png --up w", "--up takes x, y, z, -x, -y or -z, not 'w'"),
    ("-o o.png --projection flat", "--projection takes perspective or orthographic, not 'flat'"),
    ("-o o.png --fov 180", "--fov takes degrees from 0.1 to 170, not '180'"),
    ("-o o.png --zoom 0", "--zoom takes a number from 0.001 to 1e+06, not '0'"),
    ("-o o.png --antialias 17", "--antialias takes a whole number from 1 to 16, not '17'"),
    ("-o o.png --background 256", "--background takes white, black, transparent or a level from 0 to 255, not '256'"),
    ("-o o.npy --background transparent", "--background transparent is for PNG; 'o.npy' does not end in .png"),
    ("-o o.png --background transparent --size 32768x1",
     "--background transparent takes a --size of up to 32767 pixels a side"),
    ("-o o.png --plan --spacing 1,2", "2 spacings given for 3 axes; give one for all axes or one per axis"),
    ("-o o.png --threshold x", "--threshold takes a number, not 'x'"),
    ("-o o.png --threshold 1,2", "--threshold takes a number, not '1,2'"),
    ("-o o.png --spacing 1,2", "2 spacings given for 3 axes; give one for all axes or one per axis"),
    ("-o o.png --shape 2,3,4", "a file without a header needs both --shape and --dtype"),
    ("-o o.png --shape 2,3.5,4 --dtype int8",
     "--shape takes three whole numbers, slowest axis first, not '2,3.5,4'"),
    ("-o o.png --repeat 0", "--repeat takes a whole number from 1 to 1000, not '0'"),
    ("-o - --json", "--json and -o - both want standard output; write the result to a file"),
])
def test_refuses(scene, arguments, message):
    assert scene.refuses(2, "render", "v.npy", *arguments.split()) == message


def test_refuses_what_is_no_volume(scene):
    np.save(scene.directory / "flat.npy", corner()[0])
    assert scene.refuses(3, "render", "flat.npy", "-o", "o.png") == "flat.npy has 2 axes, 26 × 32; a volume has 3"
    (scene.directory / "v.raw").write_bytes(bytes(23))
    for plan in ([], ["--plan"]):
        assert scene.refuses(3, "render", "v.raw", "-o", "o.png", "--shape", "2,3,4", "--dtype", "uint8", *plan) == (
            "v.raw holds 23 bytes, but 2 × 3 × 4 of uint8 are 24")


def test_cuda_without_a_device(scene):
    for plan in ([], ["--plan"]):
        message = scene.refuses(4, "render", "v.npy", "-o", "o.png", "--backend", "cuda", *plan)
        assert "use backend auto or cpu" in message
