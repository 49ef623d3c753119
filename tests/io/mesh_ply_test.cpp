// Meshes in PLY: text and binary, whatever else the elements hold; what is refused.
#include "mesh_support.h"

namespace fathom::io::test {
namespace {

/// Numbers of one type after the other, in a byte order.
class Packed {
 public:
  explicit Packed(bool big) : big_(big) {}
  template <class T>
  Packed& add(std::initializer_list<T> values) {
    for (T value : values) {
      if (big_) value = swap_bytes(value);
      text.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    return *this;
  }
  std::string text;

 private:
  bool big_;
};

std::string header(const std::string& format, const std::string& elements) {
  return "ply\nformat " + format + " 1.0\ncomment made here\n" + elements + "end_header\n";
}

const std::string kVertices = "element vertex 4\nproperty float x\nproperty float y\nproperty float z\n";
const std::string kFaces = "element face 2\nproperty list uchar int vertex_indices\n";
const std::string kSquare = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n";

TEST(Ply, Text) {
  const Mesh mesh = read_text(header("ascii", kVertices + "property uchar red\nelement edge 1\nproperty int a\n" +
                                                  kFaces + "property int material\n") +
                              "0 0 0 255\n1 0 0 0\n\n1 1 0.123456789 0\n0 1 0 0\n5\n3 0 1 2 7\n4 0 1 2 3 8\n");
  EXPECT_EQ(mesh.format, MeshFormat::ply);
  EXPECT_EQ(vertices(mesh)[8], 0.123456789f) << "the file says float";
  EXPECT_EQ(mesh.vertices.dtype(), DType::float32);
  EXPECT_EQ(triangles(mesh), (std::vector<std::int64_t>{0, 1, 2, 0, 1, 2, 0, 2, 3}));
  EXPECT_EQ(mesh.face_of_triangle, (std::vector<std::int64_t>{0, 1, 1}));
  EXPECT_TRUE(mesh.warnings.empty());
}

TEST(Ply, BinaryOfEitherOrder) {
  for (const bool big : {false, true}) {
    Packed body(big);
    body.add<std::uint8_t>({2}).add<std::int16_t>({3, 4});  // the camera's list
    for (const double x : {0.0, 1.0, 2.5})
      body.add<std::uint8_t>({1}).add<float>({9}).add<double>({x}).add<double>({x * x, 0.1});
    body.add<float>({0.5}).add<std::uint8_t>({3}).add<std::uint32_t>({2, 1, 0}).add<std::uint8_t>({2}).add<float>(
        {0, 1});
    const Mesh mesh = read_text(
        header(big ? "binary_big_endian" : "binary_little_endian",
               "element camera 1\nproperty list uchar short l\nelement vertex 3\nproperty list uchar float n\n"
               "property double z\nproperty double x\nproperty double y\nelement face 1\nproperty float quality\n"
               "property list uint8 uint32 vertex_index\nproperty list uchar float texcoord\n") +
        body.text);
    EXPECT_EQ(mesh.vertices.dtype(), DType::float64);
    EXPECT_EQ(vertices(mesh), (std::vector<double>{0, 0.1, 0, 1, 0.1, 1, 6.25, 0.1, 2.5}));
    EXPECT_EQ(triangles(mesh), (std::vector<std::int64_t>{2, 1, 0}));
  }
}

TEST(Ply, Integers) {
  const auto type = [](const std::string& x) {
    return read_text(header("ascii", "element vertex 3\nproperty " + x + " x\nproperty " + x +
                                         " y\nproperty float z\n"
                                         "element face 1\nproperty list uchar int vertex_indices\n") +
                     "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")
        .vertices.dtype();
  };
  EXPECT_EQ(type("short"), DType::float32);
  EXPECT_EQ(type("int"), DType::float64);
}

TEST(Ply, Strips) {
  const Mesh mesh =
      read_text(header("ascii", kVertices + "element tristrips 1\nproperty list int int vertex_indices\n") + kSquare +
                "8 0 1 2 3 -1 3 2 1\n");
  EXPECT_EQ(triangles(mesh), (std::vector<std::int64_t>{0, 1, 2, 2, 1, 3, 3, 2, 1}));
  EXPECT_TRUE(mesh.face_of_triangle.empty());
}

TEST(Ply, FacesWithoutTriangles) {
  const Mesh mesh = read_text(header("ascii", kVertices + "element face 4\nproperty list uchar int vertex_indices\n") +
                              kSquare + "2 0 1\n0\n3 0 1 2\n3 1 2 3\n");
  EXPECT_EQ(mesh.face_of_triangle, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(mesh.warnings, std::vector<std::string>{"memory: 2 faces with fewer than 3 corners are left out"});
}

TEST(Ply, Refuses) {
  const auto text = [](const std::string& elements, const std::string& body) {
    return error_of(header("ascii", elements) + body);
  };
  EXPECT_EQ(text(kVertices, kSquare), "memory has no triangles, only vertices");
  EXPECT_EQ(text(kVertices + kFaces, kSquare + "3 0 1 2\n"),
            "memory is truncated: the PLY file ends before its elements do");
  EXPECT_EQ(text(kVertices + kFaces, kSquare + "3 0 1 2\n3 0 1 4\n"),
            "memory names vertex 4 in face 1; its 4 vertices are counted from 0");
  EXPECT_EQ(text(kVertices + kFaces, kSquare + "3 0 1 2\n3 0 1 -1\n"),
            "memory names vertex -1 in face 1; its 4 vertices are counted from 0");
  EXPECT_EQ(text(kVertices + kFaces, kSquare + "3 0 1 2\n3 0 1 0.5\n"),
            "memory has in face 1 what is no number of a vertex");
  EXPECT_EQ(text(kVertices + kFaces, kSquare + "3 0 1 2\n3 0 1\n"), "memory has in face 1 '', which is no number");
  EXPECT_EQ(text(kVertices + kFaces, kSquare + "3 0 1 2\n3 0 1 2 3\n"),
            "memory has in face 1 more values than it has properties");
  EXPECT_EQ(text(kVertices + kFaces, kSquare + "3 0 1 2\n-3 0 1 2\n"),
            "memory has in face 1 a list whose length is no count");
  EXPECT_EQ(text(kFaces + kVertices, "3 0 1 2\n3 0 1 2\n" + kSquare),
            "memory has its faces before its vertices, which is not read");
  EXPECT_EQ(text(kVertices + "element face 1\nproperty list uchar int corners\n", kSquare + "3 0 1 2\n"),
            "memory has a broken PLY header: its element 'face' has no list 'vertex_indices'");
  EXPECT_EQ(text("element vertex 1\nproperty float x\nproperty float y\n" + kFaces, "0 0\n"),
            "memory has a broken PLY header: its vertices have no property 'z'");
  EXPECT_EQ(text(kVertices + kFaces, kSquare + "3 0 1 2\n3 0 1 2\n3 0 1 2\n"),
            "memory announces 2 faces and holds more lines");
  EXPECT_EQ(text(kFaces, ""), "memory has a broken PLY header: there is no element 'vertex'");
  const std::string many =
      "element vertex 999999999999\nproperty float x\nproperty float y\nproperty float z\n" + kFaces;
  EXPECT_EQ(error_of(header("binary_little_endian", many) + "abcd"),
            "memory is truncated: 0 of 4 bytes of the elements are there");
  Packed body(false);
  body.add<float>({0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}).add<std::uint32_t>({4000000000u, 0, 1});
  EXPECT_EQ(
      error_of(header("binary_little_endian", kVertices + "element face 1\nproperty list uint int vertex_indices\n") +
               body.text),
      "memory is truncated: 0 of 4 bytes of the elements are there");
}

}  // namespace
}  // namespace fathom::io::test
