"""What is refused, in which words, with which exit code; nothing is left behind then (Fathom.refuses looks)."""

import gzip
import resource
import struct
import zlib

import nibabel
import numpy as np
import pytest
import tifffile
from PIL import Image

MASK = np.ones((6, 8), np.uint8)
MASK[2, 3] = 0
ENDINGS = "end it in .npy, .tif, .tiff, .nii, .nii.gz, .png, .nrrd, .mha or .vti"
RULES = ("zero, nonzero, labels, or '>=V', '>V', '<=V', '<V', '==V' or '!=V' with a number V "
         "(or '==nan' or '!=nan')")
VERBS = ("use distance, query, mesh, render, voronoi, lloyd, stipple, costmap, sdf, stream, morphology, expand, fill, "
         "medial-axis, thickness, reproduce, info or compare")
READABLE = "NPY, TIFF, NIfTI, PNG, NRRD, MetaImage, JPEG and PNM files are read"


@pytest.fixture
def inputs(fathom):
    np.save(fathom.directory / "in.npy", MASK)
    image = nibabel.Nifti1Image(np.ones((4, 5, 6), np.uint8), np.diag([2, 3, 0.5, 1.0]))
    nibabel.save(image, fathom.directory / "in.nii.gz")
    return fathom


@pytest.mark.parametrize("arguments, message", [
    ([], f"no verb was given; {VERBS}, see fathom --help"),
    (["blur"], f"'blur' is no verb; {VERBS}, see fathom --help"),
    (["distance"], "INPUT is required; see fathom distance --help"),
    (["info"], "FILE is required; see fathom info --help"),
    (["compare"], "A is required; see fathom compare --help"),
    (["distance", "in.npy", "--foo"], "The following argument was not expected: --foo; see fathom distance --help"),
    (["info", "in.npy", "--metric", "taxicab"],
     "The following arguments were not expected: taxicab --metric; see fathom info --help"),
])
def test_command_line(inputs, arguments, message):
    assert inputs.refuses(2, *arguments) == message


@pytest.mark.parametrize("options, message", [
    *[(f"--sites {bad}", f"--sites takes {RULES}, not '{bad}'")
      for bad in ("foo", ">=", "==", ">nan", "<=nan", "=5", "=>5", "<>5", "5", "==5x", "==0x10", "==1e999", "==+5")],
    ("--metric l2", "--metric takes euclidean, taxicab or chessboard, not 'l2'"),
    ("--border wrap", "--border takes open, sites or periodic, not 'wrap'"),
    ("--border open,open,open",
     "--border has 3 values, but the shape 6 × 8 has 2 axes; give one for all axes or one per axis"),
    ("--spacing 1,2,3",
     "--spacing has 3 values, but the shape 6 × 8 has 2 axes; give one for all axes or one per axis"),
    *[(f"--spacing {bad}",
       f"--spacing takes finite numbers above 0, one or one per axis, such as 1,1,2.5; not '{bad}'")
      for bad in ("nan", "1,nan", "-1,1", "0", "inf", "1,", "x", "1;2")],
    ("--signed --surface skin", "--surface takes faces or centers, not 'skin'"),
    ("--signed --spacing 1,2",
     "--signed with the spacing 1,2 has no faces halfway; use --surface centers, or --spacing with one number"),
    ("--surface centers", "--surface says where a signed field is zero; give --signed, too"),
    ("--title Coast", "--title is for the chart of --preview, which is not given"),
    ("--units mm", "--units is for the chart of --preview, which is not given"),
    ("--signed --squared", "squared distances have no sign; leave out --signed or --squared"),
    ("--squared --metric taxicab", "--squared belongs to the Euclidean metric; leave it out for taxicab distances"),
    ("--dtype int8", "--dtype of distances is float32 or float64, not 'int8'"),
    ("--dtype uint32", "--dtype of distances is float32 or float64, not 'uint32'"),
    ("--squared --dtype float32", "--dtype of squared distances is uint32, uint64 or float64, not 'float32'"),
    ("--squared --dtype uint32 --spacing 2",
     "--dtype uint32: squared distances with a spacing other than 1 are float64"),
    ("--max-distance -1", "--max-distance takes a number that is at least 0, not '-1'"),
    ("--max-distance nan", "--max-distance takes a number that is at least 0, not 'nan'"),
    ("--region 1:2", "--region takes one begin:end per axis, 2 for the shape 6 × 8; '1:2' has 1"),
    ("--region 1:2,3", "--region takes begin:end for each axis, such as 0:100,20:; not '3'"),
    ("--region 1:7,:", "--region: '1:7' does not lie in axis 0, which takes begin:end from 0 to 6"),
    ("--region :,-3:", "--region: '-3:' does not lie in axis 1, which takes begin:end from 0 to 8"),
    ("--region 3:1,:", "--region: '3:1' ends before it begins"),
    ("--backend gpu", "--backend takes auto, cpu or cuda, not 'gpu'"),
    ("--threads -1", "--threads takes 1 or more, or 0 for all processors, not '-1'"),
    ("--threads 1.5", "--threads takes 1 or more, or 0 for all processors, not '1.5'"),
    ("--memory 1XB", "--memory takes a size such as 4GiB, 512MB or 1048576, not '1XB'"),
    ("--memory 0", "--memory takes a size such as 4GiB, 512MB or 1048576, not '0'"),
    ("--memory -1GiB", "--memory takes a size such as 4GiB, 512MB or 1048576, not '-1GiB'"),
    ("--format jpg", "--format takes npy, tiff, nifti, png, nrrd, mha or vti, not 'jpg'"),
    ("--nearest n.png", "--nearest: a PNG cannot hold indices as 'n.png'; use .npy, .tif or .nii"),
    ("--nearest n.foo", f"the name 'n.foo' does not say which format to write; {ENDINGS}"),
    ("--nearest - --json", "--json and --nearest - both want standard output; write the result to a file"),
    ("--coordinates -", "--coordinates writes an array with one more axis; '-' does not end in .npy"),
    ("--preview -", "--preview draws a PNG; '-' does not end in .png"),
    ("--nearest ./out.npy", "-o and --nearest name the same file './out.npy'; give each its own"),
    ("--coordinates c.tif", "--coordinates writes an array with one more axis; 'c.tif' does not end in .npy"),
    ("--offset o.tif", "--offset writes an array with one more axis; 'o.tif' does not end in .npy"),
    ("--algorithm pba --offset o.npy", "--algorithm pba has no --offset; leave one of them out"),
    ("--preview c.jpg", "--preview draws a PNG; 'c.jpg' does not end in .png"),
])
def test_options(inputs, options, message):
    assert inputs.refuses(2, "distance", "in.npy", "-o", "out.npy", *options.split()) == message


@pytest.mark.parametrize("arguments, message", [
    ("in.npy", "no output was asked for; give -o FILE, --nearest, --coordinates, --offset or --preview"),
    ("in.npy -o out.xyz", f"the name 'out.xyz' does not say which format to write; {ENDINGS}"),
    ("in.npy -o out", f"the name 'out' does not say which format to write; {ENDINGS}"),
    ("in.npy -o - --json", "--json and -o - both want standard output; write the result to a file"),
    ("in.nii.gz -o out.png", "PNG holds images of 2 axes, not of 3; write .npy, .nii or .tif"),
    ("in.nii.gz -o out.npy --signed",
     "--signed with the spacing 0.5,3,2 has no faces halfway; use --surface centers, or --spacing with one number"),
    ("in.npy --nearest n.npy --format npy", "--format is for the file of -o, which is not given"),
])
def test_outputs(inputs, arguments, message):
    assert inputs.refuses(2, "distance", *arguments.split()) == message


def test_wrong_options_are_told_before_a_missing_file(inputs):
    assert inputs.refuses(2, "distance", "none.npy", "-o", "out.npy", "--metric", "l2").startswith("--metric takes")


def test_cuda_without_a_device(inputs):
    message = inputs.refuses(4, "distance", "in.npy", "-o", "out.npy", "--backend", "cuda")
    assert "CUDA" in message and "auto or cpu" in message


# Memory

def test_memory_names_the_smallest_budget_that_works(inputs):
    message = inputs.refuses(2, "distance", "in.npy", "-o", "out.npy", "--memory", "100")
    assert message.startswith("--memory 100B is too small: input and outputs need 240B, scratch ")
    enough = message.removesuffix(" works").split("; ")[1]
    inputs.ok("distance", "in.npy", "-o", "out.npy", "--memory", enough, "--quiet")
    (inputs.directory / "out.npy").unlink()
    less = f"{int(enough.removesuffix('B')) - 1}B"
    assert less in inputs.refuses(2, "distance", "in.npy", "-o", "out.npy", "--memory", less)


def test_memory_counts_every_output(inputs):
    message = inputs.refuses(2, "distance", "in.npy", "-o", "o.npy", "--nearest", "n.npy", "--coordinates", "c.npy",
                             "--memory", "1")
    assert "input and outputs need 816B" in message  # 48 · (1 + 4 + 4 + 8)


# Files

def test_missing(inputs):
    assert inputs.refuses(3, "distance", "none.npy", "-o", "out.npy") == (
        "none.npy cannot be read: No such file or directory"
    )
    assert inputs.refuses(3, "info", "none.npy") == "none.npy cannot be read: No such file or directory"


@pytest.mark.parametrize("word, shown", [
    ("Größe".encode(), "Größe"), ("距離".encode(), "距離"), ("😀".encode(), "😀"), (b"Gr\xf6\xdfe", "Gr??e"),
    (b"a\xc2\x9bb\x1b", "a??b?"), (b"\xed\xa0\x80", "???"), (b"\xc0\xafx", "??x"), (b"x\xe2\x80\xae", "x???"),
    (b"x" * 159 + "é".encode(), "x" * 159), (b"\xf4\x90\x80\x80 \xe2\x82", "???? ??")])
def test_words_of_other_languages(fathom, word, shown):
    """What is no UTF-8, or would act on a terminal, becomes question marks."""
    (fathom.directory / "p.csv").write_bytes(b"x,y\n1,2\n" + word + b",3\n")
    assert fathom.refuses(3, "query", "p.csv", "p.csv", "-o", "o.csv") == f"p.csv has in line 3 '{shown}', which is no number"


@pytest.mark.parametrize("name", ["cut.npy", "cut.png", "cut.tif", "cut.nii", "cut.nii.gz"])
@pytest.mark.parametrize("share", [0.2, 0.6, 0.95])
def test_truncated(fathom, name, share):
    path = fathom.directory / name
    a = np.random.default_rng(4).integers(0, 255, (60, 70), np.uint8)
    if name.endswith("npy"):
        np.save(path, a)
    elif name.endswith("png"):
        Image.fromarray(a).save(path)
    elif name.endswith("tif"):
        tifffile.imwrite(path, a)
    else:
        nibabel.save(nibabel.Nifti1Image(a, np.eye(4)), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    assert fathom.refuses(3, "distance", name, "-o", "out.npy", "--quiet").startswith(f"{name} ")
    assert fathom.refuses(3, "info", name).startswith(f"{name} ")


@pytest.mark.parametrize("name, data, message", [
    ("a.png", b"", f"is empty; {READABLE}"),
    ("a.png", b"plain text, no image at all\n", f"is no image or array that is known; {READABLE}"),
    ("a.png", b"GIF89a" + b"\0" * 100, f"looks like a GIF image (save it as PNG or TIFF); {READABLE}"),
    ("a.dcm", b"\0" * 128 + b"DICM", "looks like a DICOM file (convert the series to NIfTI with dcm2niix or SimpleITK); "
     + READABLE),
    ("a.h5", b"\x89HDF\r\n\x1a\n", f"looks like an HDF5, NetCDF or Imaris file (save the dataset with numpy.save); {READABLE}"),
    ("a.ply", b"ply\nformat ascii 1.0\n", f"looks like a triangle mesh (fathom mesh makes its field); {READABLE}"),
    ("a.tif", bytes(range(1, 200)), f"is no image or array that is known; {READABLE}"),
])
def test_not_what_its_name_says(fathom, name, data, message):
    (fathom.directory / name).write_bytes(data)
    assert fathom.refuses(3, "distance", name, "-o", "out.npy") == f"{name} {message}"
    assert fathom.refuses(3, "distance", "-", "-o", "out.npy", stdin=data) == f"standard input {message}"


@pytest.mark.parametrize("verb", ["distance", "render", "compare"])
def test_meshes_are_told_from_images(fathom, verb):
    """Binary STL has no mark of its own: its name and its length tell it."""
    (fathom.directory / "part.stl").write_bytes(b"\0" * 80 + struct.pack("<I", 1) + b"\0" * 50)
    more = ["part.stl"] if verb == "compare" else ["-o", "out.npy"]
    assert fathom.refuses(3, verb, "part.stl", *more) == f"part.stl looks like a triangle mesh (fathom mesh makes its field); {READABLE}"


def test_contents_count_not_the_name(fathom):
    """A PNG that calls itself something else is a PNG all the same."""
    Image.fromarray(MASK).save(fathom.directory / "a.png")
    (fathom.directory / "a.png").rename(fathom.directory / "a.dat")
    assert fathom.ok("info", "a.dat").splitlines()[1] == "format   png"


def npy(shape, data=b"\0" * 100) -> bytes:
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + data


def png(width, height, rows=b"\0" * 10**6) -> bytes:
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def nifti(extent) -> bytes:
    header = bytearray(nibabel.Nifti1Image(np.zeros((4, 5, 6), np.uint8), np.eye(4)).header.binaryblock) + b"\0" * 4
    struct.pack_into("<4h", header, 40, 3, extent, extent, extent)
    struct.pack_into("<f", header, 108, 352)
    header[344:348] = b"n+1\0"
    return bytes(header) + b"\0" * 10**6


def tiff(width, height) -> bytes:
    tags = [(256, width), (257, height), (258, 8), (259, 8), (262, 1), (273, 200), (277, 1), (278, height), (279, 1000)]
    directory = struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    return (b"II*\0" + struct.pack("<I", 8) + directory).ljust(200, b"\0") + zlib.compress(b"\0" * 10**6).ljust(1000)


@pytest.mark.parametrize("name, data", [
    ("absurd.npy", npy((2**40, 2**40))),
    ("huge.npy", npy((2**20, 2**20))),
    ("negative.npy", npy((-5, 3))),
    ("bomb.png", png(2**30, 2**30)),
    ("bomb.nii.gz", gzip.compress(nifti(32767))),
    ("absurd.nii", nifti(32767)),
    ("bomb.tif", tiff(2**29, 2**29)),
])
@pytest.mark.parametrize("verb", [["distance", "-o", "out.npy"], ["info"]])
def test_absurd_headers_and_bombs(fathom, name, data, verb):
    """A file of a kilobyte or so that promises terabytes is refused from its header."""
    (fathom.directory / name).write_bytes(data)
    fathom.refuses(3, verb[0], name, *verb[1:])
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 800_000  # KiB, over all runs of this file


def test_a_bomb_within_the_budget_is_an_image(fathom):
    """Zeros compress a thousandfold; the budget decides, not the ratio."""
    (fathom.directory / "zeros.png").write_bytes(png(8000, 3000, b"\0" * (1001 * 3000)))
    message = fathom.refuses(2, "distance", "zeros.png", "-o", "out.npy", "--memory", "10MB")
    assert "is too small" in message
    fathom.ok("distance", "zeros.png", "-o", "out.npy", "--quiet")


@pytest.mark.parametrize("shape, message", [
    ((), "a distance transform needs an array with 1 to 8 axes, not 0"),
    ((1,) * 9, "a distance transform needs an array with 1 to 8 axes, not 9"),
])
def test_rank(fathom, shape, message):
    np.save(fathom.directory / "a.npy", np.zeros(shape))
    assert fathom.refuses(2, "distance", "a.npy", "-o", "out.npy") == message


def test_elements_that_are_no_numbers(fathom):
    np.save(fathom.directory / "a.npy", np.zeros(3, complex))
    assert fathom.refuses(3, "distance", "a.npy", "-o", "out.npy").startswith("a.npy holds elements of the NumPy type")
