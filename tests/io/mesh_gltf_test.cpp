// Meshes in glTF: buffers, accessors, modes, the transforms of nodes; what is left out and what is refused.
#include <nlohmann/json.hpp>

#include "mesh_support.h"

namespace fathom::io::test {
namespace {

using Json = nlohmann::json;

template <class T>
std::string bytes_of(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

/// A square of 4 vertices and 6 indices, and a document that holds it as one mesh of one node.
const std::string kData =
    bytes_of<float>({0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}) + bytes_of<std::uint16_t>({0, 1, 2, 0, 2, 3});

Json document() {
  return Json::parse(R"({"asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
    "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
    "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
                  {"bufferView": 1, "componentType": 5123, "count": 6, "type": "SCALAR"}],
    "bufferViews": [{"buffer": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 12}],
    "buffers": [{"byteLength": 60}]})");
}

std::string glb(const Json& json, const std::string& data = kData, std::uint32_t version = 2) {
  std::string text = json.dump();
  text.resize((text.size() + 3) / 4 * 4, ' ');
  const auto chunk = [](const std::string& bytes, const char* kind) {
    return bytes_of({static_cast<std::uint32_t>(bytes.size())}) + std::string(kind, 4) + bytes;
  };
  const std::string chunks = chunk(text, "JSON") + chunk(data, "BIN\0");
  return "glTF" + bytes_of({version, static_cast<std::uint32_t>(12 + chunks.size())}) + chunks;
}

/// The document with a member changed, by its JSON pointer.
Json with(const std::string& pointer, const Json& value, Json json = document()) {
  json[Json::json_pointer(pointer)] = value;
  return json;
}

Mesh read_glb(const Json& json, const std::string& data = kData) { return read_text(glb(json, data)); }
std::string error_of(const Json& json, const std::string& data = kData) { return test::error_of(glb(json, data)); }

const std::vector<double> kSquare = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
const std::vector<std::int64_t> kTriangles = {0, 1, 2, 0, 2, 3};

TEST(Gltf, Binary) {
  const Mesh mesh = read_glb(document());
  EXPECT_EQ(mesh.format, MeshFormat::gltf);
  EXPECT_EQ(mesh.unit, "m");
  EXPECT_EQ(vertices(mesh), kSquare);
  EXPECT_EQ(triangles(mesh), kTriangles);
  EXPECT_EQ(mesh.vertices.dtype(), DType::float32);
  EXPECT_TRUE(mesh.face_of_triangle.empty());
  EXPECT_TRUE(mesh.warnings.empty());
}

TEST(Gltf, BuffersInTextAndBesideIt) {
  Json json = with("/buffers/0/uri",
                   "data:application/octet-stream;base64,"
                   "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAACAPwAAgD8AAAAAAAAAAAAAgD8AAAAAAAABAAIAAAACAAMA");
  EXPECT_EQ(vertices(read_text(json.dump())), kSquare);
  EXPECT_EQ(triangles(read_text(json.dump(1))), kTriangles);
  TempDir directory;
  json = with("/buffers/0/uri", "a%20b.bin");
  write_text(directory / "a.gltf", json.dump());
  EXPECT_EQ(message_of<IoError>([&] { read_mesh(directory / "a.gltf"); }),
            (directory / "a b.bin").string() + " cannot be read: No such file or directory");
  write_text(directory / "a b.bin", kData.substr(0, 59));
  EXPECT_EQ(
      message_of<IoError>([&] { read_mesh(directory / "a.gltf"); }),
      (directory / "a b.bin").string() + " is truncated: " + (directory / "a.gltf").string() + " promises 60 bytes");
  write_text(directory / "a b.bin", kData + "more");
  EXPECT_EQ(vertices(read_mesh(directory / "a.gltf")), kSquare);
  EXPECT_EQ(test::error_of(json.dump()),
            "memory keeps buffer 0 in 'a%20b.bin', and standard input has nothing beside it; "
            "name the file, or save it as GLB");
}

TEST(Gltf, Modes) {
  const auto read = [](int mode, bool indexed) {
    Json json = with("/meshes/0/primitives/0/mode", mode);
    if (indexed) json["accessors"][1]["count"] = 4, json["bufferViews"][1]["byteLength"] = 8;
    else json["meshes"][0]["primitives"][0].erase("indices");
    const std::string data = kData.substr(0, 48) + bytes_of<std::uint16_t>({3, 2, 1, 0, 0, 0});
    return triangles(read_glb(json, data));
  };
  EXPECT_EQ(read(5, false), (std::vector<std::int64_t>{0, 1, 2, 2, 1, 3}));
  EXPECT_EQ(read(6, false), (std::vector<std::int64_t>{0, 1, 2, 0, 2, 3}));
  EXPECT_EQ(read(5, true), (std::vector<std::int64_t>{3, 2, 1, 1, 2, 0}));
  EXPECT_EQ(read(6, true), (std::vector<std::int64_t>{3, 2, 1, 3, 1, 0}));
  const Json points = with("/meshes/0/primitives/1", {{"attributes", {{"POSITION", 0}}}, {"mode", 0}});
  EXPECT_EQ(read_glb(points).warnings, std::vector<std::string>{"memory: its 1 sets of points or lines are left out"});
}

/// Two primitives that have their vertices in common keep them so; another node has its own.
TEST(Gltf, PrimitivesShareVertices) {
  const Json json = with("/meshes/0/primitives/1", document()["meshes"][0]["primitives"][0],
                         with("/nodes/1", {{"mesh", 0}}, with("/scenes/1", {{"nodes", {0, 1}}})));
  const Mesh mesh = read_glb(json);
  EXPECT_EQ(mesh.vertices.shape(), (Shape{8, 3}));
  EXPECT_EQ(triangles(mesh),
            (std::vector<std::int64_t>{0, 1, 2, 0, 2, 3, 0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7, 4, 5, 6, 4, 6, 7}));
}

TEST(Gltf, TransformsOfNodes) {
  Json json = document();
  json["scenes"] = {
      {{"nodes", {1}}}};  // node 0 stands below node 1, which is turned by a quarter about z, and mirrored
  json["nodes"][0] = {{"mesh", 0}, {"matrix", {2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 5, 1}}};
  json["nodes"][1] = {
      {"children", {0}}, {"translation", {10, 20, 30}}, {"rotation", {0, 0, 1, 0}}, {"scale", {1, -1, 1}}};
  const Mesh mesh = read_glb(json);
  EXPECT_EQ(vertices(mesh), (std::vector<double>{10, 20, 35, 8, 20, 35, 8, 21, 35, 10, 21, 35}));
  EXPECT_EQ(triangles(mesh), (std::vector<std::int64_t>{0, 2, 1, 0, 3, 2})) << "mirrored, triangles turn back";
  EXPECT_EQ(mesh.vertices.dtype(), DType::float32);
  json["meshes"][0]["primitives"][0]["mode"] = 5;
  json["meshes"][0]["primitives"][0].erase("indices");
  EXPECT_EQ(triangles(read_glb(json)), (std::vector<std::int64_t>{1, 0, 2, 1, 2, 3})) << "also those of strips";
  json["nodes"][1]["translation"] = {1e6, 0.1, 0};
  const Mesh far = read_glb(json);
  EXPECT_EQ(far.vertices.dtype(), DType::float64);
  EXPECT_EQ(vertices(far)[4], 0.1);
  json.erase("scenes");
  EXPECT_EQ(vertices(read_glb(json)), vertices(far)) << "without scenes the nodes without parents begin";
}

TEST(Gltf, Quantized) {
  Json json = with("/extensionsRequired", {"KHR_mesh_quantization", "KHR_texture_transform"});
  json["accessors"][0]["componentType"] = 5120;
  json["accessors"][0]["normalized"] = true;
  json["bufferViews"][0]["byteStride"] = 4;
  json["bufferViews"][0]["byteLength"] = 15;
  const std::string data = bytes_of<std::int8_t>({127, -127, 0, 9, -128, 0, 0, 9, 0, 127, 0, 9, 0, 0, 127}) +
                           std::string(33, 0) + kData.substr(48);
  EXPECT_EQ(vertices(read_glb(json, data)), (std::vector<double>{1, -1, 0, -1, 0, 0, 0, 1, 0, 0, 0, 1}));
}

TEST(Gltf, SparseAccessors) {
  Json json = with("/bufferViews/2", {{"buffer", 0}, {"byteOffset", 60}, {"byteLength", 28}},
                   with("/buffers/0/byteLength", 88));
  json["accessors"][0]["sparse"] = {{"count", 2},
                                    {"indices", {{"bufferView", 2}, {"componentType", 5121}}},
                                    {"values", {{"bufferView", 2}, {"byteOffset", 4}}}};
  const auto data = [](std::uint8_t last) {
    return kData + bytes_of<std::uint8_t>({1, last, 0, 0}) + bytes_of<float>({7, 8, 9, -1, -2, -3});
  };
  EXPECT_EQ(vertices(read_glb(json, data(3))), (std::vector<double>{0, 0, 0, 7, 8, 9, 1, 1, 0, -1, -2, -3}));
  EXPECT_EQ(error_of(json, data(4)),
            "memory is a broken glTF file: a sparse accessor replaces an element that it does not have");
  json["accessors"][0].erase("bufferView");
  EXPECT_EQ(vertices(read_glb(json, data(3))), (std::vector<double>{0, 0, 0, 7, 8, 9, 0, 0, 0, -1, -2, -3}));
  json["accessors"][0]["count"] = 1000000;
  EXPECT_EQ(error_of(json, data(3)), "memory has no bytes for accessor 0; save it without compression");
}

TEST(Gltf, TellsWhatItLeavesOut) {
  Json json = with("/nodes/0/skin", 0, with("/nodes/0/translation", {1, 2, 3}));
  json["nodes"][1] = {{"mesh", 0}};
  json["meshes"][0]["primitives"][0]["targets"] = {{{"POSITION", 0}}};
  const Mesh mesh = read_glb(json);
  EXPECT_EQ(vertices(mesh), kSquare) << "a skinned node's transform does not count";
  EXPECT_EQ(mesh.warnings,
            (std::vector<std::string>{"memory: its 1 nodes with meshes that stand in no scene are left out",
                                      "memory: its 1 sets of morph targets are left out",
                                      "memory: its 1 skins (surfaces are as they lie unposed) are left out"}));
}

TEST(Gltf, RefusesWhatItDoesNotRead) {
  EXPECT_EQ(error_of(with("/extensionsRequired", {"KHR_draco_mesh_compression"})),
            "memory requires the glTF extension KHR_draco_mesh_compression, which is not read; save it without");
  EXPECT_EQ(
      error_of(with("/nodes/0/extensions", {{"EXT_mesh_gpu_instancing", Json::object()}})),
      "memory uses the glTF extension EXT_mesh_gpu_instancing, which is not read; save it with instances applied");
  EXPECT_EQ(error_of(with("/asset/version", "1.0")), "memory is glTF 1.0; save it as glTF 2.0");
  EXPECT_EQ(test::error_of(glb(document(), kData, 1)), "memory is glTF 1.0; save it as glTF 2.0");
  EXPECT_EQ(error_of(with("/buffers/0/uri", "https://a.b/c.bin")),
            "memory has a buffer at 'https://a.b/c.bin'; buffers are read from files beside it");
  EXPECT_EQ(error_of(with("/buffers/0/uri", "/etc/passwd")),
            "memory has a buffer at '/etc/passwd'; buffers are read from files beside it");
  EXPECT_EQ(test::error_of(document().dump()), "memory has no bytes for buffer 0; save it without compression");
}

TEST(Gltf, RefusesBrokenFiles) {
  const std::string broken = "memory is a broken glTF file: ";
  EXPECT_EQ(error_of(with("/accessors/1/count", 7)),
            broken + "it promises 7 elements of an accessor, more than its bytes hold");
  EXPECT_EQ(error_of(with("/accessors/1/count", 1ull << 62)),
            broken + "it promises 4611686018427387904 elements of an accessor, more than its bytes hold");
  EXPECT_EQ(error_of(with("/accessors/1/count", -1)), broken + "'-1' stands where a count should");
  EXPECT_EQ(error_of(with("/accessors/1/count", 1.5)), broken + "'1.5' stands where a count should");
  EXPECT_EQ(error_of(with("/accessors/1/count", 5)), broken + "5 corners make no whole triangles");
  EXPECT_EQ(error_of(with("/accessors/0/count", 3)),
            "memory names vertex 3 of accessor 0; its 3 vertices are counted from 0");
  EXPECT_EQ(error_of(with("/accessors/0/type", "VEC2")), broken + "accessor 0 is no VEC3");
  EXPECT_EQ(error_of(with("/accessors/0/componentType", 5124)), broken + "numbers of type 5124");
  EXPECT_EQ(error_of(with("/bufferViews/1/byteOffset", 49)), broken + "view 1 of a buffer ends behind it");
  EXPECT_EQ(error_of(with("/buffers/0/byteLength", 61)), "memory is truncated: buffer 0 promises 61 bytes and has 60");
  EXPECT_EQ(error_of(with("/nodes/0/mesh", 1)), broken + "it refers to number 1 of its meshes, which is not there");
  EXPECT_EQ(error_of(with("/nodes/0/children", {9})),
            broken + "it refers to number 9 of its nodes, which is not there");
  EXPECT_EQ(error_of(with("/meshes/0/primitives/0/mode", 7)), broken + "primitives of mode 7");
  EXPECT_EQ(error_of(with("/meshes/0/primitives/0/attributes", Json::object())), broken + "key 'POSITION' not found");
  EXPECT_EQ(error_of(with("/scenes", Json::array({Json::object()}))), "memory has no triangles");
  EXPECT_EQ(triangles(read_glb(with("/nodes/0/children", {0}))), kTriangles) << "a node that is its own child";
  EXPECT_TRUE(
      test::error_of("{\"asset\": [}", MeshFormat::gltf).starts_with(broken + "parse error at line 1, column 12: "));
  const std::string whole = glb(document());
  EXPECT_EQ(test::error_of(whole.substr(0, whole.size() - 1)),
            "memory is truncated: a part of the GLB file promises 60 bytes, it holds 59");
  EXPECT_EQ(test::error_of(whole.substr(0, 14)), "memory is truncated: the GLB file ends within a header");
}

}  // namespace
}  // namespace fathom::io::test
