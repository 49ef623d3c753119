// Meshes in files: each format's variants, what is told, what is refused, and files that Fathom writes.
#include "fathom/io/mesh.h"

#include <limits>

#include "io/mesh_formats.h"
#include "mesh_support.h"

namespace fathom::io::test {
namespace {

const std::string kCorners = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

TEST(Obj, FacesAndWhatStandsAround) {
  const Mesh mesh = read_text(
      "\xef\xbb\xbf# a comment\nmtllib a.mtl\no thing\nv 0 0 0 1.0\nv 1 0 0 0.5 0.5 0.5 # red\n\tv 1 1 \\\n 0\r\nvt 0 "
      "0\nvn 0 0 1\n"
      "f 1 2 3\nf 1/1 2/1 3/1\nf 1//1 2//1 3//1\nf -3/1/1 -2/1/1 -1/1/1\nv +0 1e0 0\nf 1 -2 \\\n-1\nf 1 2 5\nv 2 2 2");
  EXPECT_EQ(mesh.format, MeshFormat::obj);
  EXPECT_EQ(vertices(mesh), (std::vector<double>{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 2, 2, 2}));
  EXPECT_EQ(triangles(mesh), (std::vector<std::int64_t>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 2, 3, 0, 1, 4}));
  EXPECT_EQ(mesh.vertices.dtype(), DType::float32);
  EXPECT_EQ(mesh.triangles.dtype(), DType::int32);
  EXPECT_TRUE(mesh.face_of_triangle.empty());
  EXPECT_EQ(mesh.unit, "");
  EXPECT_TRUE(mesh.warnings.empty());
}

TEST(Obj, NamesMayEndInABackslash) {
  const Mesh mesh = read_text("# C:\\a\\\nv 0 0 0\nmtllib C:\\b\\\r\nv 1 0 0 # C:\\\nv 0 \\\n1 \\\n0\nf 1 2 3\\");
  EXPECT_EQ(vertices(mesh), (std::vector<double>{0, 0, 0, 1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(triangles(mesh), (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(Obj, TellsWhatItLeavesOut) {
  const Mesh mesh =
      read_text(kCorners + "l 1 2\nl 2 3\np 1\ncstype bspline\nsurf 0 1 0 1 1 2\nend\nF 1 2 4\nQ\nf 1 2\nf 1 2 3\n");
  EXPECT_EQ(mesh.warnings, (std::vector<std::string>{
                               "memory: its 1 curved surfaces are left out", "memory: its 2 lines are left out",
                               "memory: its 1 points are left out",
                               "memory: line 11 begins with 'F', which is no keyword of OBJ; such lines are left out",
                               "memory: a face with fewer than 3 corners is left out"}));
  EXPECT_EQ(mesh.face_of_triangle, std::vector<std::int64_t>{1});
}

TEST(Obj, Refuses) {
  EXPECT_EQ(error_of(kCorners + "f 1 2 5\n"),
            "memory has in line 5 vertex 5, of which there is none: its 4 vertices are counted from 1");
  EXPECT_EQ(error_of(kCorners + "f 1 2 0\n"),
            "memory has in line 5 vertex 0, of which there is none: its 4 vertices are counted from 1");
  EXPECT_EQ(error_of("v 0 0 0\nf 1 1 -2\nv 0 0 0\n"),
            "memory has in line 2 vertex -2, of which there is none: 1 stand before it");
  EXPECT_EQ(error_of(kCorners + "f 1 2 x\n"), "memory has in line 5 'x', which is no number of a vertex");
  EXPECT_EQ(error_of(kCorners + "f 1 2 99999999999999999999\n"),
            "memory has in line 5 '99999999999999999999', which is no number of a vertex");
  EXPECT_EQ(error_of("v 0 0\nf 1 1 1\n"), "memory has in line 1 fewer numbers than belong there");
  EXPECT_EQ(error_of("v 0,5 0 0\n"), "memory has in line 1 '0,5', which is no number");
  EXPECT_EQ(error_of("v 0 1e999 0\n"), "memory has in line 1 '1e999', which is beyond float64");
  EXPECT_EQ(error_of(kCorners), "memory has no triangles, only vertices");
  EXPECT_EQ(error_of("o nothing\n", MeshFormat::obj), "memory has no triangles");
}

/// float32 if each number is what a float32 looks like with as many digits; else float64.
TEST(Text, DigitsDecideTheType) {
  const auto type = [](const std::string& number) {
    return read_text("v 0 0 " + number + "\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").vertices.dtype();
  };
  for (const char* number : {"0", "0.1", "123.456", "1.2345678", "-0.123456791", "1e-3", "500000.125", "1.17549435e-38",
                             "nan", "-inf", "3.40282347E+38", "0.10000000149011612", "178616.12", "480.701782226562"})
    EXPECT_EQ(type(number), DType::float32) << number;
  for (const char* number : {"0.123456789", "500000.123", "123456789", "1.00000001", "1e-50", "1e39", "0.1000000001"})
    EXPECT_EQ(type(number), DType::float64) << number;
}

TEST(Polygons, BecomeFansWhereConvex) {
  const Mesh mesh = read_text(kCorners + "v 0 .5 0\nf 2 3 4 5 1\nf 1 2 3\nf 4 3 2 1\n");
  EXPECT_EQ(triangles(mesh), (std::vector<std::int64_t>{1, 2, 3, 1, 3, 4, 1, 4, 0, 0, 1, 2, 3, 2, 1, 3, 1, 0}));
  EXPECT_EQ(mesh.face_of_triangle, (std::vector<std::int64_t>{0, 0, 0, 1, 2, 2}));
}

/// An arrowhead whose first corner does not see the one behind the notch.
TEST(Polygons, AreCutWhereConcave) {
  const Mesh mesh = read_text("v -2 0 7\nv 0 1 7\nv 2 0 7\nv 0 3 7\nf 1 2 3 4\nf 4 3 2 1\n");
  EXPECT_EQ(triangles(mesh), (std::vector<std::int64_t>{3, 0, 1, 3, 1, 2, 3, 2, 1, 3, 1, 0}));
}

Array array_of(const std::vector<float>& values) {
  Array array(DType::float32, {static_cast<std::int64_t>(values.size() / 3), 3});
  std::memcpy(array.data(), values.data(), values.size() * sizeof(float));
  return array;
}

std::string stl_text(const std::string& vertices) {
  return "solid a name\n facet normal 0 -nan(ind) 1.#QNAN\n  outer loop\n" + vertices +
         "  endloop\n endfacet\nendsolid a name\n";
}

std::string binary_stl(const std::string& start, std::uint32_t count, std::size_t held) {
  std::string bytes = start;
  bytes.resize(80);
  bytes.append(reinterpret_cast<const char*>(&count), 4);
  for (std::size_t i = 0; i < held; ++i) {
    const float numbers[12] = {0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1.25f, static_cast<float>(i)};
    bytes.append(reinterpret_cast<const char*>(numbers), 48).append("ab");
  }
  return bytes;
}

TEST(Stl, Text) {
  const Mesh mesh = read_text(stl_text("vertex 0 0 0\n VERTEX 1 0 0\nvertex 0 1.5e0 0\n"));
  EXPECT_EQ(mesh.format, MeshFormat::stl);
  EXPECT_EQ(vertices(mesh), (std::vector<double>{0, 0, 0, 1, 0, 0, 0, 1.5, 0}));
  EXPECT_EQ(triangles(mesh), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_TRUE(mesh.warnings.empty());
  const std::string one =
      "facet normal 0 0 1 outer loop vertex 0 0 0 vertex 1 0 0 vertex 0 1 0.123456789 endloop endfacet ";
  const Mesh two = read_text("solid\n" + one + one + "\nendsolid\nsolid b\n" + one);
  EXPECT_EQ(two.triangles.shape(), (Shape{3, 3}));
  EXPECT_EQ(two.vertices.dtype(), DType::float64);
  EXPECT_EQ(two.warnings, std::vector<std::string>{"memory: ends without 'endsolid'; perhaps triangles are missing"});
}

TEST(Stl, BinaryWhateverItBeginsWith) {
  for (const char* start : {"", "solid facet", "COLOR=abcd"}) {
    const Mesh mesh = read_text(binary_stl(start, 2, 2));
    EXPECT_EQ(mesh.format, MeshFormat::stl);
    EXPECT_EQ(vertices(mesh), (std::vector<double>{0, 0, 0, 1, 0, 0, 0, 1.25, 0, 0, 0, 0, 1, 0, 0, 0, 1.25, 1}));
    EXPECT_EQ(triangles(mesh), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  }
  EXPECT_EQ(read_text(binary_stl("", 1, 2), MeshFormat::stl).warnings,
            std::vector<std::string>{"memory: the 50 bytes behind its last triangle are left out"});
}

TEST(Stl, Refuses) {
  EXPECT_EQ(error_of(binary_stl("solid", 3, 2), MeshFormat::stl),
            "memory is truncated: its header promises 3 triangles, it holds 2");
  EXPECT_EQ(error_of(binary_stl("", 4294967295u, 0), MeshFormat::stl),
            "memory is truncated: its header promises 4294967295 triangles, it holds 0");
  EXPECT_EQ(error_of("short", MeshFormat::stl),
            "memory is truncated, or no STL file: it ends before its count of triangles");
  EXPECT_EQ(error_of(binary_stl("", 0, 0)), "memory has no triangles");
  EXPECT_EQ(error_of("solid\nendsolid\n", MeshFormat::stl), "memory has no triangles");
  EXPECT_EQ(error_of(stl_text("vertex 0 0 zero\n")), "memory has in line 4 'zero', which is no number");
  EXPECT_EQ(error_of(stl_text("vertex 0 0\n")), "memory has in line 4 fewer numbers than belong there");
  EXPECT_EQ(error_of("solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n"),
            "memory is truncated: it ends within a triangle");
  EXPECT_EQ(error_of(stl_text("vertex 0 0 0\nouter loop\n")),
            "memory has in line 5 'outer', which does not belong there in STL");
  EXPECT_EQ(error_of("solid\nfacet\nendloop\n"), "memory has in line 3 'endloop', which does not belong there in STL");
  EXPECT_EQ(error_of("solid\nfacet\nvertex 0 0 0\n"),
            "memory has in line 3 'vertex', which does not belong there in STL");
}

TEST(Off, Variants) {
  const std::string body = "4 2 0\n0 0 0 255 0 0\n1 0 0\n\n1 1 0 # c\n0 1 0\n3 0 1 2 0.5 0.5 0.5\n4 0 1 2 3\n";
  for (const char* start : {"OFF\n", "OFF ", "# c\nCOFF # c\n", "NOFF\r\n", "STCNOFF\n", ""}) {
    const Mesh mesh = read_text(start + body, MeshFormat::off);
    EXPECT_EQ(vertices(mesh), (std::vector<double>{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0})) << start;
    EXPECT_EQ(triangles(mesh), (std::vector<std::int64_t>{0, 1, 2, 0, 1, 2, 0, 2, 3})) << start;
    EXPECT_EQ(mesh.face_of_triangle, (std::vector<std::int64_t>{0, 1, 1})) << start;
  }
  EXPECT_EQ(read_text("OFF\r3 1 0\r0 0 0\r1 0 0\r0 1 0\r3 0 1 2\r4 0\r").warnings,
            std::vector<std::string>{"memory: what follows the faces, from line 7, is left out"});
}

TEST(Off, Refuses) {
  EXPECT_EQ(error_of("4OFF\n1 1 0\n"),
            "memory is an OFF file whose vertices do not have 3 dimensions; save it as OFF of 3");
  EXPECT_EQ(error_of("OFF BINARY\n"), "memory is a binary OFF file, which is not read; save it as PLY");
  EXPECT_EQ(error_of("OFF\n"), "memory is truncated: it ends before its counts");
  EXPECT_EQ(error_of("OFF\n-1 2\n"), "memory has in line 2 a count below 0");
  EXPECT_EQ(error_of("OFF\n999999999999 2 0\n0 0 0\n"), "memory is truncated: it ends before its vertices do");
  EXPECT_EQ(error_of("OFF\n1 2 0\n0 0 0\n3 0 0 0\n"), "memory is truncated: it ends before its faces do");
  EXPECT_EQ(error_of("OFF\n1 1 0\n0 0 0\n3 0 0\n"), "memory has in line 4 fewer numbers than belong there");
  EXPECT_EQ(error_of("OFF\n1 1 0\n0 0 0\n3 0 0 1\n"),
            "memory names vertex 1 in line 4; its 1 vertices are counted from 0");
  EXPECT_EQ(error_of("OFF\n1 1 0\n0 0 0\n3 0 0 1.5\n"), "memory has in line 4 '1.5', which is no integer");
}

TEST(Gzip, IsUndone) {
  TempDir directory;
  const std::string text = kCorners + "f 1 2 3 4\n";
  const fs::path path = directory / "a.OBJ.gz";
  write_gzip(path, text);
  EXPECT_TRUE(is_mesh(path));
  EXPECT_EQ(triangles(read_mesh(path)), (std::vector<std::int64_t>{0, 1, 2, 0, 2, 3}));
}

TEST(Front, TellsMeshesFromOtherFiles) {
  TempDir directory;
  const auto holds_mesh = [&](const std::string& name, const std::string& text) {
    write_text(directory / name, text);
    return is_mesh(directory / name);
  };
  EXPECT_TRUE(holds_mesh("a", "ply\nformat ascii 1.0\n"));
  EXPECT_TRUE(holds_mesh("b", "glTF\2"));
  EXPECT_TRUE(holds_mesh("c", "{\"asset\":{}}"));
  EXPECT_TRUE(holds_mesh("d", "# made by x\no a\nv 0 0 0\n"));
  EXPECT_TRUE(holds_mesh("e", "solid x\nfacet normal 0 0 0\n"));
  EXPECT_TRUE(holds_mesh("f", binary_stl("", 2, 2)));
  EXPECT_TRUE(holds_mesh("g", "CNOFF 3 1 0\n"));
  EXPECT_TRUE(holds_mesh("h.STL", "anything"));
  EXPECT_FALSE(holds_mesh("i", "x,y\n1,2\n"));
  EXPECT_FALSE(holds_mesh("j", "P5 4 2\n255\n"));
  EXPECT_FALSE(holds_mesh("k", ""));
}

TEST(Front, Refuses) {
  EXPECT_EQ(error_of(""), "memory is empty; meshes are read from OBJ, PLY, STL, OFF, glTF and GLB files");
  EXPECT_EQ(error_of("x,y\n1,2\n"),
            "memory is no mesh that is known; meshes are read from OBJ, PLY, STL, OFF, glTF and GLB files");
  EXPECT_EQ(error_of("PK\x03\x04"), "memory looks like a ZIP archive, such as 3MF; save it as STL or PLY");
  EXPECT_EQ(message_of<IoError>([] { read_mesh("/nowhere.stl"); }),
            "/nowhere.stl cannot be read: No such file or directory");
  std::string text = kCorners;
  for (int i = 0; i < 40000; ++i) text += "f 1 2 3\n";
  EXPECT_EQ(read_text(text, MeshFormat::automatic, 4 << 20).triangles.shape(), (Shape{40000, 3}));
  EXPECT_EQ(error_of(text, MeshFormat::automatic, 1 << 20),
            "memory holds a mesh that takes more than 711.5 KiB, the memory limit");
  EXPECT_EQ(error_of(text, MeshFormat::automatic, 1 << 18), "memory is larger than the memory limit of 256.0 KiB");
}

TEST(Written, ReadsBack) {
  TempDir directory;
  for (const DType dtype : {DType::float32, DType::float64}) {
    Array points = make_array(dtype, {20, 3});
    if (dtype == DType::float32) points.as<float>().data()[4] = 0.1f;
    else points.as<double>().data()[4] = 0.1000000000000001;
    Array corners(DType::int64, {30, 3});
    for (std::int64_t i = 0; i < 90; ++i) corners.as<std::int64_t>().data()[i] = i * 7 % 20;
    for (const char* name : {"a.ply", "a.obj", "a.off"}) {
      AtomicFile file(directory / name);
      write_mesh(file, points.view(), corners.view(), MeshFormat::automatic);
      file.commit();
      const Mesh mesh = read_mesh(directory / name);
      EXPECT_TRUE(same(points.view(), mesh.vertices.view())) << name;
      for (std::int64_t i = 0; i < 90; ++i) ASSERT_EQ(triangles(mesh)[static_cast<std::size_t>(i)], i * 7 % 20) << name;
    }
  }
}

TEST(Written, StlHasVerticesOfEachTriangle) {
  TempDir directory;
  const Array points = array_of({0, 0, 0, 0, 2, 0, 0, 0, 3, 5, 5, 5});
  Array corners(DType::int32, {2, 3});
  for (int i = 0; i < 6; ++i) corners.as<std::int32_t>().data()[i] = i < 3 ? i : 3;
  AtomicFile file(directory / "a.stl");
  write_mesh(file, points.view(), corners.view(), MeshFormat::automatic);
  file.commit();
  const std::vector<std::byte> bytes = read_bytes(directory / "a.stl");
  ASSERT_EQ(bytes.size(), 84u + 2 * 50);
  const auto number = [&](std::size_t at) { return load<float>(bytes.data() + 84 + 4 * at); };
  EXPECT_EQ((std::vector<float>{number(0), number(1), number(2)}), (std::vector<float>{1, 0, 0}));
  EXPECT_EQ(load<float>(bytes.data() + 84 + 50), 0) << "the normal of a triangle without area";
  EXPECT_EQ(vertices(read_mesh(directory / "a.stl")),
            (std::vector<double>{0, 0, 0, 0, 2, 0, 0, 0, 3, 5, 5, 5, 5, 5, 5, 5, 5, 5}));
}

TEST(Written, Refuses) {
  TempDir directory;
  const Array points = array_of({0, 0, 0});
  Array corners(DType::int32, {1, 3});
  for (int i = 0; i < 3; ++i) corners.as<std::int32_t>().data()[i] = i;
  const auto error = [&](const std::string& name, const Array& v, const Array& t) {
    AtomicFile file(directory / name);
    return message_of<InvalidArgument>([&] { write_mesh(file, v.view(), t.view(), MeshFormat::automatic); });
  };
  EXPECT_EQ(error("a.ply", points, corners), "triangle 0 names vertex 1 of 1");
  EXPECT_EQ(error("a.ply", corners, corners), "vertices are [n, 3] of float32 or float64, and dense");
  EXPECT_EQ(error("a.ply", points, points), "triangles are [m, 3] of int32 or int64, and dense");
  EXPECT_EQ(error("a.glb", points, corners), "glTF is not written; end the name in .stl, .ply, .obj or .off");
  EXPECT_EQ(error("a.stl.gz", points, corners),
            "the name '" + (directory / "a.stl.gz").string() +
                "' does not say which format to write; end it in .stl, .ply, .obj or .off");
  EXPECT_EQ(check_mesh("-", MeshFormat::automatic), MeshFormat::ply);
  EXPECT_EQ(check_mesh("a", MeshFormat::off), MeshFormat::off);
}

}  // namespace
}  // namespace fathom::io::test
