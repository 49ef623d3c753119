// glTF 2.0, as JSON with buffers in files or base64, and as GLB: the triangles of all nodes of all scenes, placed by
// the nodes' transforms. Points and lines, and what moves or bends surfaces – skins, morph targets, animations – are
// left out.
// Source: Khronos, "glTF 2.0 Specification", 2021.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <string>

#include "io/convert.h"
#include "io/gltf_buffers.h"

namespace fathom::io::gltf {

namespace {

/// Beginnings of extensions that a file may require and that leave the places of vertices alone.
constexpr std::array<std::string_view, 5> kHarmless = {"KHR_mesh_quantization", "KHR_materials_", "KHR_texture_",
                                                       "KHR_lights_", "EXT_texture_"};

/// Rows of an affine map.
using Transform = std::array<std::array<double, 4>, 3>;

constexpr Transform kIdentity = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};

Transform operator*(const Transform& a, const Transform& b) {
  Transform product{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      product[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j] + (j == 3 ? a[i][3] : 0);
  return product;
}

Point apply(const Transform& t, const double* p) {
  Point result;
  for (std::size_t i = 0; i < 3; ++i) result[i] = t[i][0] * p[0] + t[i][1] * p[1] + t[i][2] * p[2] + t[i][3];
  return result;
}

/// Whether it turns surfaces inside out.
bool mirrors(const Transform& t) {
  return t[0][0] * (t[1][1] * t[2][2] - t[1][2] * t[2][1]) - t[0][1] * (t[1][0] * t[2][2] - t[1][2] * t[2][0]) +
             t[0][2] * (t[1][0] * t[2][1] - t[1][1] * t[2][0]) <
         0;
}

struct Visit {
  std::int64_t node = 0;
  Transform transform = kIdentity;
};

class SceneReader {
 public:
  SceneReader(const Json& document, Buffers& buffers, MeshBuilder& mesh)
      : document_(document), buffers_(buffers), mesh_(mesh), source_(mesh.source()) {}

  void read() {
    for (const std::int64_t root : roots()) stack_.push_back({root});
    std::reverse(stack_.begin(), stack_.end());
    std::vector<bool> seen(list("nodes").size());
    while (!stack_.empty()) {
      const Visit visit = stack_.back();
      stack_.pop_back();
      const Json& node = buffers_.item("nodes", visit.node);
      if (seen[static_cast<std::size_t>(visit.node)]) continue;
      seen[static_cast<std::size_t>(visit.node)] = true;
      read_node(node, visit.transform * transform_of(node));
    }
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (!seen[i] && list("nodes")[i].contains("mesh")) ++left_out_["nodes with meshes that stand in no scene"];
    for (const auto& [what, count] : left_out_)
      mesh_.warn("its " + std::to_string(count) + " " + what + " are left out");
  }

 private:
  const Json& list(const char* key) const {
    static const Json kNone = Json::array();
    const auto found = document_.find(key);
    return found == document_.end() || !found->is_array() ? kNone : *found;
  }

  /// Nodes of the scenes; without scenes, those that are no node's child.
  std::vector<std::int64_t> roots() {
    std::vector<std::int64_t> roots;
    for (const Json& scene : list("scenes"))
      for (const Json& node : scene.value("nodes", Json::array())) roots.push_back(count_of(source_, node));
    if (!list("scenes").empty()) return roots;
    std::vector<bool> is_child(list("nodes").size());
    for (const Json& node : list("nodes"))
      for (const Json& child : node.value("children", Json::array()))
        if (const auto number = static_cast<std::size_t>(count_of(source_, child)); number < is_child.size())
          is_child[number] = true;
    for (std::size_t i = 0; i < is_child.size(); ++i)
      if (!is_child[i]) roots.push_back(static_cast<std::int64_t>(i));
    return roots;
  }

  template <std::size_t n>
  std::array<double, n> numbers(const Json& node, const char* key, std::array<double, n> otherwise) const {
    return node.contains(key) ? node[key].get<std::array<double, n>>() : otherwise;
  }

  Transform transform_of(const Json& node) const {
    Transform t = kIdentity;
    if (node.contains("matrix")) {
      const auto m = numbers<16>(node, "matrix", {});
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 4; ++j) t[i][j] = m[4 * j + i];
      return t;
    }
    const auto move = numbers<3>(node, "translation", {0, 0, 0}), scale = numbers<3>(node, "scale", {1, 1, 1});
    const auto [x, y, z, w] = numbers<4>(node, "rotation", {0, 0, 0, 1});
    const double norm = x * x + y * y + z * z + w * w, s = norm > 0 ? 2 / norm : 0;  // files have rounded quaternions
    t = {{{1 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w), move[0]},
          {s * (x * y + z * w), 1 - s * (x * x + z * z), s * (y * z - x * w), move[1]},
          {s * (x * z - y * w), s * (y * z + x * w), 1 - s * (x * x + y * y), move[2]}}};
    for (auto& row : t)
      for (std::size_t j = 0; j < 3; ++j) row[j] *= scale[j];
    return t;
  }

  void read_node(const Json& node, const Transform& transform) {
    if (node.contains("extensions") && node["extensions"].contains("EXT_mesh_gpu_instancing"))
      source_.fail(
          "uses the glTF extension EXT_mesh_gpu_instancing, which is not read; save it with instances applied");
    if (node.contains("mesh")) {
      const bool skinned = node.contains("skin");
      if (skinned) ++left_out_["skins (surfaces are as they lie unposed)"];
      const Json& mesh = buffers_.item("meshes", count_in(source_, node, "mesh"));
      begins_.clear();
      for (const Json& primitive : mesh.at("primitives")) read_primitive(primitive, skinned ? kIdentity : transform);
    }
    const Json children = node.value("children", Json::array());
    for (auto child = children.rbegin(); child != children.rend(); ++child)
      stack_.push_back({count_of(source_, *child), transform});
  }

  void read_primitive(const Json& primitive, const Transform& transform) {
    constexpr std::int64_t kTriangles = 4, kStrip = 5, kFan = 6;
    const std::int64_t mode = count_in(source_, primitive, "mode", kTriangles);
    if (mode < kTriangles) ++left_out_["sets of points or lines"];
    if (mode < kTriangles) return;
    if (mode > kFan) source_.fail("is a broken glTF file: primitives of mode " + std::to_string(mode));
    if (!primitive.value("targets", Json::array()).empty()) ++left_out_["sets of morph targets"];
    const std::int64_t positions = count_in(source_, primitive.at("attributes"), "POSITION");
    const auto [begin, count] = place_vertices(positions, transform);
    std::vector<std::int64_t> corners = indices_of(primitive, count);
    for (std::int64_t& corner : corners) {
      if (corner >= count)
        source_.fail("names vertex " + std::to_string(corner) + " of accessor " + std::to_string(positions) + "; its " +
                     std::to_string(count) + " vertices are counted from 0");
      corner += begin;
    }
    if (mode == kTriangles && corners.size() % 3 != 0)
      source_.fail("is a broken glTF file: " + std::to_string(corners.size()) + " corners make no whole triangles");
    const Where where{"accessor", positions};
    const bool mirrored = mirrors(transform);
    if (mode == kStrip) return mesh_.add_strip(corners, where, mirrored);
    for (std::size_t i = 2; i < corners.size(); i += mode == kFan ? 1 : 3) {
      const std::int64_t first = corners[mode == kFan ? 0 : i - 2], second = corners[i - 1], third = corners[i];
      mesh_.add_face(mirrored ? Corners{first, third, second} : Corners{first, second, third}, where);
    }
  }

  std::vector<std::int64_t> indices_of(const Json& primitive, std::int64_t vertices) {
    std::vector<std::int64_t> indices;
    if (!primitive.contains("indices")) {
      indices.resize(static_cast<std::size_t>(vertices));
      std::iota(indices.begin(), indices.end(), 0);
      return indices;
    }
    for (const double index : buffers_.read(count_in(source_, primitive, "indices"), 1)) {
      if (!(index >= 0 && index <= UINT32_MAX && index == std::floor(index)))
        source_.fail("is a broken glTF file: an index that is no number of a vertex");
      indices.push_back(static_cast<std::int64_t>(index));
    }
    return indices;
  }

  /// Where a node's vertices of an accessor begin, and how many they are. Primitives of a mesh share them.
  std::pair<std::int64_t, std::int64_t> place_vertices(std::int64_t accessor, const Transform& transform) {
    const auto [found, is_new] = begins_.try_emplace(accessor);
    if (!is_new) return found->second;
    found->second.first = mesh_.vertex_count();
    const std::vector<double> values = buffers_.read(accessor, 3);
    for (std::size_t i = 0; i < values.size(); i += 3) {
      const Point placed =
          transform == kIdentity ? Point{values[i], values[i + 1], values[i + 2]} : apply(transform, &values[i]);
      for (const double x : placed)
        if (std::isfinite(x) && static_cast<double>(static_cast<float>(x)) != x) mesh_.widen();
      mesh_.add_vertex(placed);
    }
    found->second.second = mesh_.vertex_count() - found->second.first;
    return found->second;
  }

  const Json& document_;
  Buffers& buffers_;
  MeshBuilder& mesh_;
  const ByteSource& source_;
  std::vector<Visit> stack_;
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> begins_;  // of the node's mesh, by accessor
  std::map<std::string, std::int64_t> left_out_;
};

/// GLB's two parts, or all of a text.
struct Parts {
  std::string_view text;
  std::optional<Bytes> binary;
};

Parts parts_of(const ByteSource& source, Bytes bytes) {
  constexpr std::size_t kHeader = 12, kChunkHeader = 8;
  constexpr std::uint32_t kJson = 0x4e4f534a, kBinary = 0x004e4942;
  if (!text_of(bytes).starts_with("glTF")) return {text_of(bytes), std::nullopt};
  const auto number = [&](std::size_t at) {
    if (bytes.size() < at + 4) source.fail("is truncated: the GLB file ends within a header");
    const auto value = fathom::io::load<std::uint32_t>(bytes.data() + at);
    return std::endian::native == std::endian::little ? value : swap_bytes(value);
  };
  if (number(4) != 2) source.fail("is glTF " + std::to_string(number(4)) + ".0; save it as glTF 2.0");
  Parts parts;
  for (std::size_t at = kHeader; at < bytes.size();) {
    const std::size_t size = number(at), kind = number(at + 4);
    at += kChunkHeader;
    if (size > bytes.size() - at)
      source.fail("is truncated: a part of the GLB file promises " + std::to_string(size) + " bytes, it holds " +
                  std::to_string(bytes.size() - at));
    if (kind == kJson && parts.text.empty()) parts.text = text_of(bytes.subspan(at, size));
    if (kind == kBinary && !parts.binary) parts.binary = bytes.subspan(at, size);
    at += size;
  }
  return parts;
}

void check_version(const ByteSource& source, const Json& document) {
  const std::string version = document.at("asset").at("version").get<std::string>();
  if (!version.starts_with("2.")) source.fail("is glTF " + one_line(version) + "; save it as glTF 2.0");
  for (const Json& required : document.value("extensionsRequired", Json::array())) {
    const auto name = required.get<std::string>();
    if (std::none_of(kHarmless.begin(), kHarmless.end(), [&](auto known) { return name.starts_with(known); }))
      source.fail("requires the glTF extension " + one_line(name) + ", which is not read; save it without");
  }
}

}  // namespace

void read(Bytes bytes, const std::optional<std::filesystem::path>& folder, MeshBuilder& mesh) {
  const ByteSource& source = mesh.source();
  const Parts parts = parts_of(source, bytes);
  try {
    const Json document = Json::parse(parts.text);
    check_version(source, document);
    Buffers buffers(source, document, parts.binary, folder, mesh.limit());
    SceneReader(document, buffers, mesh).read();
  } catch (const Json::exception& error) {
    const std::string_view text = error.what();
    source.fail("is a broken glTF file: " + one_line(text.substr(text.find("] ") + 2)));  // behind the kind of error
  }
  mesh.set_unit("m");
}

}  // namespace fathom::io::gltf
