"""Writes small files of every kind that the readers know, as starting points for the fuzzers.

Usage: make_seeds.py DIRECTORY; makes a directory there for each fuzzer. Kinds whose writer is not installed are left
out.
"""

import gzip
import io
import sys
from pathlib import Path


def save(directory, name, data):
    directory.mkdir(parents=True, exist_ok=True)
    (directory / name).write_bytes(data)


def npy_seeds(directory):
    import numpy as np

    a = np.arange(24).reshape(2, 3, 4)
    for dtype in ("?", "<f2", ">f2", "<f4", ">f8", "u1", ">u2", "<i4", ">i8"):
        for order in "CF":
            out = io.BytesIO()
            np.save(out, np.asarray(a % 5, dtype=dtype, order=order))
            save(directory, f"{np.dtype(dtype).name}_{dtype[0] == '>'}_{order}.npy", out.getvalue())
    for version in ((2, 0), (3, 0)):
        out = io.BytesIO()
        np.lib.format.write_array(out, a, version=version)
        save(directory, f"version{version[0]}.npy", out.getvalue())
    for name, odd in {"scalar": np.float32(1), "empty": np.zeros((0, 3)), "structured": np.zeros(2, "f4,i2")}.items():
        out = io.BytesIO()
        np.save(out, odd)
        save(directory, f"{name}.npy", out.getvalue())


def png_seeds(directory):
    import struct
    import zlib

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    width, height = 9, 7
    kinds = [(0, d, 1) for d in (1, 2, 4, 8, 16)] + [(3, d, 1) for d in (1, 2, 4, 8)]
    kinds += [(2, 8, 3), (2, 16, 3), (4, 8, 2), (4, 16, 2), (6, 8, 4), (6, 16, 4)]
    for color, depth, channels in kinds:
        for interlace in (0, 1):
            raw = b""
            for x0, y0, dx, dy in passes if interlace else [(0, 0, 1, 1)]:
                w, h = (width - x0 + dx - 1) // dx, (height - y0 + dy - 1) // dy
                row_bytes = (w * channels * depth + 7) // 8
                for y in range(h if w else 0):
                    raw += bytes([y % 5]) + bytes((7 * i + y) % 251 for i in range(row_bytes))
            header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlace)
            png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
            if color == 3:
                png += chunk(b"PLTE", bytes(range(3 * min(1 << depth, 80))))
            png += chunk(b"tEXt", b"Title\0seed") + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")
            save(directory, f"color{color}_depth{depth}_interlace{interlace}.png", png)


def tiff_seeds(directory):
    import numpy as np
    import tifffile

    a = np.arange(40 * 36).reshape(40, 36)

    def write(name, array, **options):
        bigtiff, byteorder = options.pop("bigtiff", False), options.pop("byteorder", "<")
        out = io.BytesIO()
        with tifffile.TiffWriter(out, bigtiff=bigtiff, byteorder=byteorder) as tiff:
            tiff.write(array, metadata=None, **options)
        save(directory, f"{name}.tif", out.getvalue())

    for dtype in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"):
        write(dtype, a.astype(dtype), photometric="minisblack")
        tiled = {"bigtiff": True, "byteorder": ">", "tile": (16, 16)}
        write(f"{dtype}_big_tiled", a.astype(dtype), photometric="minisblack", **tiled)
    write("white", a.astype("u1"), photometric="miniswhite")
    write("bits", (a % 2).astype(bool), photometric="minisblack", rowsperstrip=7)
    write("zlib_predictor", a.astype("u2"), compression="zlib", predictor=True, photometric="minisblack")
    rgb = np.stack([a, a + 1, a + 2], axis=-1).astype("u1")
    write("rgb", rgb, photometric="rgb")
    write("rgb_planar", np.moveaxis(rgb, -1, 0).copy(), photometric="rgb", planarconfig="separate", tile=(16, 16))
    write("pages", np.stack([a, a]).astype("u1"), photometric="minisblack")
    write("bands", np.stack([a, a], axis=-1).astype("u1"), photometric="minisblack", planarconfig="contig")
    described_tiff_seeds(directory)
    from PIL import Image

    for name, image, compression in [
        ("jpeg", Image.fromarray(rgb), "jpeg"),
        ("lzw", Image.fromarray(rgb), "tiff_lzw"),
        ("packbits", Image.fromarray(a.astype("u1")), "packbits"),
        ("fax3", Image.fromarray(a % 3 == 0), "group3"),
        ("fax4", Image.fromarray(a % 3 == 0), "group4"),
        ("palette", Image.fromarray(rgb).quantize(16), None),
        ("gray_alpha", Image.fromarray(a.astype("u1")).convert("LA"), None),
    ]:
        out = io.BytesIO()
        image.save(out, "TIFF", **({"compression": compression} if compression else {}))
        save(directory, f"{name}.tif", out.getvalue())


def described_tiff_seeds(directory):
    """What ImageJ, OME, tifffile and GeoTIFF say of arrays."""
    import numpy as np
    import tifffile

    a = np.arange(2 * 3 * 5 * 6, dtype="u1").reshape(2, 3, 5, 6)
    sizes = {"PhysicalSizeX": 0.2, "PhysicalSizeZ": 1.5, "PhysicalSizeZUnit": "nm"}
    geo = [(33550, "d", 3, (10.0, 20.0, 0.0), True), (33922, "d", 6, (0.0, 0.0, 0.0, 5e5, 4e6, 0.0), True),
           (34735, "H", 16, (1, 1, 0, 3, 1024, 0, 1, 2, 1026, 34737, 7, 0, 2054, 0, 1, 9102), True),
           (34737, "s", 8, "WGS 84|", True), (42113, "s", 4, "255", True)]
    for name, array, options in [
        ("imagej", a, {"imagej": True, "resolution": (5, 5), "metadata": {"axes": "ZCYX", "spacing": 1.5, "unit": "um"}}),
        ("ome", a, {"ome": True, "metadata": {"axes": "CZYX", "Channel": {"Name": ["a", "b"]}, **sizes}}),
        ("shaped", a, {"photometric": "minisblack", "metadata": {"axes": "TZYX"}}),
        ("geo", a[0, 0], {"metadata": None, "extratags": geo}),
    ]:
        out = io.BytesIO()
        tifffile.imwrite(out, array, **options)
        save(directory, f"{name}.tif", out.getvalue())
        if name == "imagej":  # larger than 4 GiB it would be one directory, and the planes behind one another
            data = bytearray(out.getvalue())
            at = int.from_bytes(data[4:8], "little")
            link = at + 2 + 12 * int.from_bytes(data[at:at + 2], "little")
            data[link:link + 4] = bytes(4)
            save(directory, "imagej_block.tif", bytes(data))


def raster_seeds(directory):
    tiff_seeds(directory)
    npy_seeds(directory)


def nifti_seeds(directory):
    import nibabel
    import numpy as np

    a = np.arange(24).reshape(2, 3, 4)
    for kind in (nibabel.Nifti1Image, nibabel.Nifti2Image):
        for order in "<>":
            for dtype in ("u1", "i2", "u4", "f4", "f8", "i8"):
                header = kind.header_class(endianness=order)
                header.set_data_dtype(np.dtype(dtype).newbyteorder(order))
                image = kind(a.astype(dtype), np.diag([1, 2, 3, 1]), header)
                image.header.set_slope_inter(2, 1) if dtype in ("i2", "u4") else None
                data = image.to_bytes()
                version = kind.__name__[5]
                save(directory, f"v{version}_{order == '>'}_{dtype}.nii", data)
                save(directory, f"v{version}_{order == '>'}_{dtype}.nii.gz", gzip.compress(data))
    rgb = np.zeros((3, 2, 2), [("R", "u1"), ("G", "u1"), ("B", "u1")])
    save(directory, "rgb.nii", nibabel.Nifti1Image(rgb, np.eye(4)).to_bytes())


def nrrd_seeds(directory):
    import zlib

    import numpy as np

    a = np.arange(24).reshape(2, 3, 4)
    types = {"u1": "uchar", "i2": "short", "u4": "uint32", "f4": "float", ">f8": "double", "i8": "long long int"}
    spacing = 'spacings: 1 2 nan\nunits: "mm" "cm" "s"\nkinds: domain domain time\n'
    places = ("space: left-posterior-superior\nspace directions: (1,0,0) (0,2,0) none\nspace origin: (1,2,3)\n"
              'space units: "um" "um" "um"\nkinds: space space list\nkey:=value\n')
    for dtype, name in types.items():
        endian = "big" if dtype.startswith(">") else "little"
        header = f"NRRD0004\n# seed\ntype: {name}\ndimension: 3\nsizes: 4 3 2\nendian: {endian}\n"
        raw = a.astype(dtype).tobytes()
        text = " ".join(map(str, a.astype(dtype).ravel())).encode()
        for encoding, data in {"raw": raw, "gzip": gzip.compress(raw), "ascii": text}.items():
            for number, more in enumerate((spacing, places)):
                start = f"{header}{more}encoding: {encoding}\n\n".encode()
                save(directory, f"{dtype[-2:]}_{encoding}_{number}.nrrd", start + data)
    colours = "NRRD0005\ntype: uint8\ndimension: 3\nsizes: {} 4 2\nkinds: {} domain domain\n"
    skips = "encoding: raw\nline skip: 1\nbyte skip: {}\n\nline\n"
    save(directory, "rgb.nrrd", (colours.format(3, "RGB-color") + skips.format(-1)).encode() + bytes(24))
    save(directory, "rgba.nrrd", (colours.format(4, "RGBA-color") + skips.format(2)).encode() + bytes(34))
    save(directory, "zlib.nrrd", (colours.format(3, "vector") + "encoding: gz\n\n").encode() + zlib.compress(bytes(24)))


def mha_seeds(directory):
    import zlib

    import numpy as np

    a = np.arange(24).reshape(2, 3, 4)
    types = {"u1": "MET_UCHAR", "i2": "MET_SHORT", "u4": "MET_UINT", "f4": "MET_FLOAT", ">f8": "MET_DOUBLE",
             "i8": "MET_LONG_LONG"}
    for dtype, name in types.items():
        raw = a.astype(dtype).tobytes()
        text = " ".join(map(str, a.astype(dtype).ravel())).encode()
        fields = f"ObjectType = Image\nNDims = 3\nBinaryDataByteOrderMSB = {dtype.startswith('>')}\n"
        fields += "TransformMatrix = 1 0 0 0 1 0 0 0 1\nOffset = 1 2 3\nElementSpacing = 1 2 3\nDimSize = 4 3 2\n"
        for kind, more, data in (("raw", "", raw), ("zlib", "CompressedData = True\n", zlib.compress(raw)),
                                 ("text", "BinaryData = False\n", text)):
            start = f"{fields}{more}ElementType = {name}\nElementDataFile = LOCAL\n".encode()
            save(directory, f"{dtype[-2:]}_{kind}.mha", start + data)
    fields = "NDims = 4\nDimSize = 2 2 2 2\nElementNumberOfChannels = 2\nDistanceUnits = um\nElementSize = 1 1 1 1\n"
    save(directory, "four.mha", (fields + "ElementType = MET_CHAR\nElementDataFile = LOCAL\n").encode() + bytes(32))


def pnm_seeds(directory):
    for kind, most in ((1, ""), (2, "255\n"), (2, "65535\n"), (3, "9\n")):
        pixels = "1 0 1 1\n0 1 0 1\n" * (3 if kind == 3 else 1)
        save(directory, f"p{kind}_{most.strip()}.pnm", f"P{kind}\n# seed\n4 2\n{most}{pixels}".encode())
    for kind, most, size in ((4, "", 2), (5, "255\n", 8), (5, "65535\n", 16), (6, "9\n", 24), (6, "999\n", 48)):
        save(directory, f"p{kind}_{most.strip()}.pnm", f"P{kind} 4 2\n{most}".encode() + bytes(size))


def jpeg_seeds(directory):
    from PIL import Image

    image = Image.linear_gradient("L").resize((21, 19)).convert("RGB")
    exif = Image.Exif()
    exif[0x112] = 6
    kinds = {"plain": {}, "progressive": {"progressive": True}, "exif": {"exif": exif, "dpi": (72, 72)},
             "restart": {"restart_marker_rows": 1, "subsampling": 2}}
    for mode in ("L", "RGB", "CMYK"):
        for name, options in kinds.items():
            image.convert(mode).save(directory / f"{mode}_{name}.jpg", **options)


def points_seeds(directory):
    import struct

    header = "ply\nformat {} 1.0\ncomment seed\nelement vertex 2\n{}element face 0\nend_header\n"
    names = {"char": "b", "ushort": "H", "int": "i", "uint": "I", "float": "f", "double": "d"}
    for name, code in names.items():
        properties = "".join(f"property {name} {axis}\n" for axis in "xyz") + "property uchar red\n"
        text = header.format("ascii", properties) + "1 2 3 4\n5 6 7 8\n"
        save(directory, f"{name}.ply", text.encode())
        for order, form in {"<": "binary_little_endian", ">": "binary_big_endian"}.items():
            rows = b"".join(struct.pack(f"{order}3{code}B", *row) for row in ((1, 2, 3, 4), (5, 6, 7, 8)))
            save(directory, f"{name}_{form}.ply", header.format(form, properties).encode() + rows)
    camera = "element camera 1\nproperty list uchar short l\nproperty float f\n"
    listed = "ply\nformat {} 1.0\n" + camera + "element vertex 1\nproperty float x\nproperty list char int n\n"
    listed += "property float y\nelement face 1\nproperty list uchar int i\nend_header\n"
    body = struct.pack("<Bhff", 1, 2, 3, 4) + struct.pack("<bif", 1, 2, 3)
    save(directory, "listed.ply", listed.format("binary_little_endian").encode() + body)
    save(directory, "listed_text.ply", (listed.format("ascii") + "1 2 3\n4 1 2 3\n3 0 0 0\n").replace("\n", "\r").encode())
    for number, text in enumerate(POINT_TEXTS):
        save(directory, f"{number}.csv", text.encode())
    save(directory, "gzip.csv.gz", gzip.compress(POINT_TEXTS[1].encode()))
    import numpy as np

    fields = [("name", "U3"), ("y", ">f4"), ("x", "<f8"), ("more", "i2", (3,))]
    for name, array in {"structured": np.zeros(2, fields), "aligned": np.zeros(2, np.dtype("u1,f8,f4", align=True))}.items():
        out = io.BytesIO()
        np.save(out, array)
        save(directory, f"{name}.npy", out.getvalue())
    for dtype in ("u1", "<i8", ">f4", "f8"):
        out = io.BytesIO()
        np.save(out, np.arange(6).reshape(2, 3).astype(dtype))
        save(directory, f"{np.dtype(dtype).name}.npy", out.getvalue())


POINT_TEXTS = [
    "0,0\n3,4\n", "x,y,z\n0,1,2\n", "name;y;x\na;1;-2e3\n", "x,y,Y,z\n1,2,3,4\n",
    "# comment\n\n1 2 3 255\r\n+.5\t6 7 0 # end", "\ufeffX;Y\r\n1,5;2,5\r\n", "id,lon,lat\n1,8.5,47.4\n",
    '"","x (m)","y (m)"\n"1",1.5,2\n"a ""b""\nc",3,4\n', '"x" "y"\n"1" 0.1 1.0D+03\n', ",0,1\n0,1.5,2.5\n",
    "sep=;\nx;y\n1.234,5;2\n", "//X Y Z R G B\n2\n1 2 3 4 5 6\n1 2 3 4 5 6\n", "2\n1 2 3 0\n4 5 6 0\n",
    "2\nwater\nO 0 0 0\nH 1 0 0\n", "1\nLattice=\"5\" Properties=species:S:1:pos:R:3\nO 1 2 3\n",
    "% x  y  T (K)\n1 2 3\n", "x|y|color\n1|2|#ff0000\n", "a\tb\n\t1\nNA\t-\n", "1,234;1'234 567\n", "0,1,2\n.5,.5,.5\n",
]


def text_records_seeds(directory):
    for number, text in enumerate(POINT_TEXTS):
        save(directory, f"{number}.csv", text.encode())


def mesh_obj_seeds(directory):
    texts = ["v 0 0 0\nv 1 0 0\nv 0 1e0 0.123456789\nf 1 2 3\n",
             "# c\r\no a\r\nv 0 0 0 1\r\nv 1 0 0\r\nv 1 1 0\r\nv .5 .5 0\r\nv 0 1 nan\r\nvt 0 0\r\nvn 0 0 1\r\n"
             "f 1/1/1 2//1 \\\r\n 3/1 4 -1\r\nl 1 2\r\np 1\r\ncstype bspline\r\ncurv 0 1 1 2\r\nend\r\n"]
    corners = "".join(f"v {(7 * i) % 11} {(5 * i) % 13} {i % 2}\n" for i in range(40))
    texts.append(corners + "f " + " ".join(map(str, range(1, 41))))
    for number, text in enumerate(texts):
        save(directory, f"{number}.obj", text.encode())
    save(directory, "gzip.obj.gz", gzip.compress(texts[1].encode()))


def mesh_off_seeds(directory):
    body = "4 2 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1.5 255 0 0\n3 0 1 2 0.5 0.5 0.5\n4 0 1 2 3 # end\n"
    for number, start in enumerate(("OFF\n", "COFF ", "STCNOFF\n# c\n", "", "4OFF\n", "OFF BINARY\n")):
        save(directory, f"{number}.off", (start + body).encode())


def mesh_stl_seeds(directory):
    import struct

    facet = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 -1.5e-3\n"
    facet += "{}endloop\nendfacet\n"
    for number, more in enumerate(("", "vertex .1 .1 0\n")):
        save(directory, f"{number}.stl", f"solid a facet\n{facet.format(more) * 2}endsolid a\n".encode())
    for number, start in enumerate((b"solid", b"binary")):
        record = struct.pack("<12fH", *range(12), 0)
        save(directory, f"binary{number}.stl", start.ljust(80) + struct.pack("<I", 2) + record * 2)


def mesh_ply_seeds(directory):
    import struct

    header = "ply\nformat {} 1.0\nelement vertex 4\nproperty {} x\nproperty float y\nproperty short z\n"
    header += "{}end_header\n"
    corners = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 9))
    faces = "element face 2\nproperty uchar red\nproperty list uchar {} vertex_indices\n"
    strips = "element tristrips 1\nproperty list int int vertex_indices\n"
    for dtype, code in (("float", "f"), ("double", "d")):
        for order, form in {"<": "binary_little_endian", ">": "binary_big_endian"}.items():
            vertices = b"".join(struct.pack(f"{order}{code}fh", *row) for row in corners)
            body = struct.pack(f"{order}BB3iBB4i", 7, 3, 0, 1, 2, 7, 4, 0, 1, 2, 3)
            start = header.format(form, dtype, faces.format("int")).encode()
            save(directory, f"{dtype}_{form}.ply", start + vertices + body)
            body = struct.pack(f"{order}8i", 7, 0, 1, 2, 3, -1, 0, 1)
            start = header.format(form, dtype, strips).encode()
            save(directory, f"{dtype}_{form}_strips.ply", start + vertices + body)
        text = header.format("ascii", dtype, "element edge 1\nproperty int a\n" + faces.format("uint"))
        text += "0 0 0\n1 0 0\n1 1 0\n0 1 9\n5\n1 3 0 1 2\n1 4 0 1 2 3\n"
        save(directory, f"{dtype}.ply", text.encode())


def mesh_gltf_seeds(directory):
    import base64
    import json
    import struct

    positions = struct.pack("<12f", 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0.5)
    data = positions + struct.pack("<6H", 0, 1, 2, 0, 2, 3)
    document = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}, {"nodes": [2]}],
        "nodes": [{"mesh": 0, "children": [1], "translation": [1, 2, 3], "rotation": [0, 0, 0.6, 0.8],
                   "scale": [1, -2, 1]},
                  {"mesh": 0, "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 5, 6, 7, 1]}, {"mesh": 0, "skin": 0}],
        "meshes": [{"primitives": [
            {"attributes": {"POSITION": 0}, "indices": 1}, {"attributes": {"POSITION": 0}, "mode": 5},
            {"attributes": {"POSITION": 0}, "mode": 6}, {"attributes": {"POSITION": 2}, "mode": 0}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
                      {"bufferView": 1, "componentType": 5123, "count": 6, "type": "SCALAR"},
                      {"componentType": 5126, "count": 4, "type": "VEC3",
                       "sparse": {"count": 1, "indices": {"bufferView": 1, "componentType": 5123},
                                  "values": {"bufferView": 0, "byteOffset": 12}}}],
        "bufferViews": [{"buffer": 0, "byteLength": 48, "byteStride": 12},
                        {"buffer": 0, "byteOffset": 48, "byteLength": 12}],
        "buffers": [{"byteLength": len(data)}],
    }

    def glb(text):
        text += b" " * (-len(text) % 4)
        parts = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(data), b"BIN\0") + data
        return struct.pack("<4sII", b"glTF", 2, 12 + len(parts)) + parts

    save(directory, "a.glb", glb(json.dumps(document).encode()))
    document["accessors"][0].update(componentType=5122, normalized=True)
    document["extensionsRequired"] = ["KHR_mesh_quantization"]
    save(directory, "quantized.glb", glb(json.dumps(document).encode()))
    document["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    save(directory, "a.gltf", json.dumps(document).encode())
    document["buffers"][0]["uri"] = "a%20b.bin"
    save(directory, "file.gltf", json.dumps(document, indent=1).encode())


def main():
    root = Path(sys.argv[1])
    makers = {"png": png_seeds, "tiff": tiff_seeds, "npy": npy_seeds, "nifti": nifti_seeds, "nrrd": nrrd_seeds,
              "mha": mha_seeds, "pnm": pnm_seeds, "jpeg": jpeg_seeds, "points": points_seeds, "raster": raster_seeds,
              "text_records": text_records_seeds, "mesh_gltf": mesh_gltf_seeds, "mesh_obj": mesh_obj_seeds,
              "mesh_off": mesh_off_seeds, "mesh_ply": mesh_ply_seeds, "mesh_stl": mesh_stl_seeds}
    for name, make in makers.items():
        (root / name).mkdir(parents=True, exist_ok=True)
        try:
            make(root / name)
        except ImportError as missing:
            print(f"no seeds for {name}: {missing}")


if __name__ == "__main__":
    main()
