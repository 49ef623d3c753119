#include "fathom/stream/document.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "fathom/core/error.h"
#include "stream/blend.h"
#include "stream/not_finite.h"
#include "stream/reduce.h"

namespace fathom::stream {

namespace {

using Json = nlohmann::json;  // whose fields are found by trees

/// The fields of a node, taken one by one; what is left over in the end is an error.
class Fields {
 public:
  Fields(std::string id, const Json& json) : id_(std::move(id)), json_(json) {}

  [[noreturn]] void fail(const std::string& field, const std::string& text) const {
    throw InvalidArgument("node '" + id_ + "', field '" + field + "': " + text);
  }
  const std::string& id() const { return id_; }
  bool has(const std::string& field) const { return json_.contains(field); }

  const Json& take(const std::string& field, bool (Json::*is)() const noexcept, const char* kind) {
    taken_.push_back(field);
    const auto found = json_.find(field);
    if (found == json_.end()) fail(field, std::string("is missing; it must be ") + kind);
    if (!((*found).*is)()) fail(field, "is " + found->dump().substr(0, 40) + "; it must be " + kind);
    return *found;
  }
  std::int64_t whole(const std::string& field) {
    return whole_of(field, take(field, &Json::is_number_integer, "a whole number"));
  }
  std::int64_t whole_or(const std::string& field, std::int64_t otherwise) {
    return has(field) ? whole(field) : otherwise;
  }
  double number(const std::string& field) { return take(field, &Json::is_number, "a number").get<double>(); }
  double number_or(const std::string& field, double otherwise) { return has(field) ? number(field) : otherwise; }
  /// A pixel's value, which may be one of kNotFinite.
  double value(const std::string& field) {
    const auto found = json_.find(field);
    if (found != json_.end() && found->is_string())
      for (const auto& [word, value] : kNotFinite)
        if (*found == word) return taken_.push_back(field), value;
    return take(field, &Json::is_number, "a number, \"inf\", \"-inf\" or \"nan\"").get<double>();
  }
  double value_or(const std::string& field, double otherwise) { return has(field) ? value(field) : otherwise; }
  std::string text(const std::string& field) { return take(field, &Json::is_string, "a text").get<std::string>(); }
  std::string text_or(const std::string& field, const std::string& otherwise) {
    return has(field) ? text(field) : otherwise;
  }
  bool truth(const std::string& field) {
    return has(field) && take(field, &Json::is_boolean, "true or false").get<bool>();
  }
  template <class T>
  std::vector<T> list(const std::string& field, bool (Json::*is)() const noexcept, const char* kind) {
    std::vector<T> values;
    for (const Json& value : take(field, &Json::is_array, "a list")) {
      if (!(value.*is)()) fail(field, "holds " + value.dump().substr(0, 40) + "; it must hold " + kind);
      if constexpr (std::is_same_v<T, std::int64_t>) values.push_back(whole_of(field, value));
      else values.push_back(value.get<T>());
    }
    return values;
  }
  std::array<std::int64_t, 2> pair(const std::string& field) {
    const auto values = list<std::int64_t>(field, &Json::is_number_integer, "whole numbers");
    if (values.size() != 2) fail(field, "has " + std::to_string(values.size()) + " numbers; it must have two, y and x");
    return {values[0], values[1]};
  }
  /// The number of the word in a list of words.
  template <class Words>
  std::size_t word(const std::string& field, const Words& words, const std::string& otherwise) {
    const std::string value = text_or(field, otherwise);
    const auto found = std::find(words.begin(), words.end(), value);
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
    std::string known;
    for (const auto& word : words) known += (known.empty() ? "" : ", ") + std::string(word);
    fail(field, "is '" + value + "'; it must be one of " + known);
  }
  DType dtype(const std::string& otherwise) {
    static constexpr std::array kNames{"bool", "uint8", "uint16", "float32"};
    static constexpr std::array kTypes{DType::boolean, DType::uint8, DType::uint16, DType::float32};
    return kTypes[word("dtype", kNames, otherwise)];
  }
  PixelSize pixel(const PixelSize& otherwise = {}) {
    PixelSize pixel = otherwise;
    pixel.size = number_or("pixel", pixel.size);
    pixel.unit = text_or("unit", pixel.unit);
    return pixel;
  }
  Extent extent(const std::string& dtype_otherwise) {
    return {whole("height"), whole("width"), dtype(dtype_otherwise), pixel()};
  }
  Blending blending() {
    Blending blending;
    blending.blend = static_cast<Blend>(word("blend", kBlends, "last"));
    if (has("transparent") && json_["transparent"].is_null()) {
      taken_.push_back("transparent");
      blending.transparent = std::nullopt;
    } else if (has("transparent")) {
      blending.transparent = value("transparent");
    }
    blending.background = value_or("background", 0);
    return blending;
  }
  void done() const {
    for (const auto& [field, value] : json_.items())
      if (field != "type" && field != "children" && std::find(taken_.begin(), taken_.end(), field) == taken_.end())
        fail(field, "a node of type '" + json_["type"].get<std::string>() + "' has no such field");
  }

 private:
  std::int64_t whole_of(const std::string& field, const Json& value) const {
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
      fail(field, value.dump() + " is beyond 2⁶³");
    return value.get<std::int64_t>();
  }

  std::string id_;
  const Json& json_;
  std::vector<std::string> taken_;
};

NodeRef of_role(const std::vector<Child>& children, Role role) {
  for (const Child& child : children)
    if (child.role == role) return child.node;
  return nullptr;
}

std::vector<Placement> placements_in(Fields& fields, const Resources& resources) {
  const bool in_file = fields.has("placements_file");
  if (in_file && !resources.read_placements) fields.fail("placements_file", "no file can be read here");
  const auto numbers = in_file ? resources.read_placements(fields.text("placements_file"))
                               : fields.list<std::int64_t>("placements", &Json::is_number_integer,
                                                           "whole numbers: y, x, child, y, x, child, …");
  if (numbers.size() % 3 != 0) fields.fail("placements", "its length is no multiple of 3: y, x, child of each");
  std::vector<Placement> placements;
  for (std::size_t k = 0; k < numbers.size(); k += 3) {
    if (numbers[k + 2] < 0 || numbers[k + 2] > std::numeric_limits<std::int32_t>::max())
      fields.fail("placements", "there is no child " + std::to_string(numbers[k + 2]));
    placements.push_back({numbers[k], numbers[k + 1], static_cast<std::int32_t>(numbers[k + 2])});
  }
  return placements;
}

using Make = NodeRef (*)(Fields&, const std::vector<Child>&, const Resources&);
struct TypeRow {
  std::string_view name;
  std::span<const RoleRule> rules;  ///< of its children; those that state no role have the last one
  bool moves;                       ///< whether children may lie elsewhere
  Make make;
};

/// The types of nodes, and how each is read.
const std::vector<TypeRow>& types() {
  static const std::vector<TypeRow> table{
      {"constant", roles::kNone, false,
       [](Fields& in, const auto&, const auto&) { return constant(in.value("value"), in.extent("uint8")); }},
      {"file", roles::kNone, false,
       [](Fields& in, const auto&, const Resources& resources) {
         std::string path = in.text("path");
         if (!resources.open) in.fail("path", "no file can be opened here");
         PixelSize pixel;
         auto raster = resources.open(path, pixel);
         return source(std::move(raster), "file", path, in.pixel(pixel));
       }},
      {"array", roles::kNone, false,
       [](Fields& in, const auto&, const Resources& resources) {
         const std::string name = in.text("name");
         const auto found = resources.arrays.find(name);
         if (found == resources.arrays.end()) in.fail("name", "there is no array '" + name + "'");
         return source(found->second, "array", name, in.pixel());
       }},
      {"formula", roles::kNone, false,
       [](Fields& in, const auto&, const auto&) { return formula(in.text("expression"), in.extent("float32")); }},
      {"noise", roles::kNone, false,
       [](Fields& in, const auto&, const auto&) {
         return noise(static_cast<std::uint64_t>(in.whole_or("seed", 0)), in.extent("uint8"));
       }},
      {"repeat", roles::kRepeat, false,
       [](Fields& in, const auto& children, const auto&) {
         return repeat(children[0].node, in.whole("height"), in.whole("width"));
       }},
      {"lattice", roles::kLattice, false,
       [](Fields& in, const auto& children, const auto&) {
         LatticeOptions options{in.pair("u"),
                                in.pair("v"),
                                in.whole("height"),
                                in.whole("width"),
                                in.blending(),
                                of_role(children, Role::mask),
                                of_role(children, Role::weight)};
         return lattice(of_role(children, Role::pattern), options);
       }},
      {"place", roles::kPlace, false,
       [](Fields& in, const auto& children, const Resources& resources) {
         std::vector<NodeRef> nodes;
         for (const Child& child : children) nodes.push_back(child.node);
         auto placements = placements_in(in, resources);
         return place(std::move(nodes), std::move(placements), in.whole("height"), in.whole("width"), in.blending());
       }},
      {"crop", roles::kData, false,
       [](Fields& in, const auto& children, const auto&) {
         static constexpr std::int64_t kFar = std::int64_t{1} << 60;  // outside of any child
         const auto near = [](std::int64_t value) { return std::clamp(value, -kFar, kFar); };
         const std::int64_t y = near(in.whole_or("y", 0)), x = near(in.whole_or("x", 0));
         const std::int64_t height = near(in.whole("height")), width = near(in.whole("width"));
         return crop(children[0].node, {y, x, y + height, x + width});
       }},
      {"flip", roles::kData, false,
       [](Fields& in, const auto& children, const auto&) {
         const bool rows = in.truth("rows");
         return flip(children[0].node, rows, in.truth("columns"));
       }},
      {"rotate", roles::kData, false,
       [](Fields& in, const auto& children, const auto&) {
         return rotate(children[0].node, static_cast<int>(in.whole_or("quarters", 1) % 4));
       }},
      {"resample", roles::kData, false,
       [](Fields& in, const auto& children, const auto&) {
         return resample(children[0].node, PixelSize{in.number("pixel"), in.text_or("unit", "")});
       }},
      {"mask", roles::kMask, true,
       [](Fields& in, const auto& children, const auto&) {
         const Child& shape = children[children[0].role == Role::mask ? 0 : 1];
         return mask(of_role(children, Role::data), shape, in.value_or("background", 0));
       }},
      {"math", roles::kMath, true,
       [](Fields& in, const auto& children, const auto&) {
         return math(in.text("expression"), children, in.dtype("float32"));
       }},
      {"threshold", roles::kData, false,
       [](Fields& in, const auto& children, const auto&) {
         const double value = in.value("value");
         return threshold(children[0].node, value, in.truth("above"));
       }},
      {"profile", roles::kData, false,
       [](Fields& in, const auto& children, const auto&) {
         ProfileOptions options;
         options.expression = in.text_or("expression", "");
         if (in.has("table")) options.table = in.list<double>("table", &Json::is_number, "numbers");
         if (in.has("infinite")) options.infinite = in.value("infinite");
         options.dtype = in.dtype("uint8");
         return profile(children[0].node, options);
       }},
      {"distance", roles::kDistance, false,
       [](Fields& in, const auto& children, const auto&) {
         static constexpr std::array kTo{"nonzero", "zero"};
         const bool to_zero = in.word("to", kTo, "nonzero") == 1, is_signed = in.truth("signed");
         if (in.has("max")) return distance(children[0].node, {in.number("max"), to_zero, is_signed});
         if (is_signed) in.fail("signed", "takes a bound, 'max'");
         return exact_distance(children[0].node, to_zero);
       }},
      {"halftone", roles::kData, false,
       [](Fields& in, const auto& children, const auto&) {
         const std::int64_t matrix = in.whole_or("matrix", 8);
         return halftone(children[0].node, static_cast<int>(std::clamp<std::int64_t>(matrix, 0, 64)));
       }},
      {"function", roles::kFunction, true,
       [](Fields& in, const auto& children, const Resources& resources) {
         const std::string name = in.text("name");
         const auto found = resources.functions.find(name);
         if (found == resources.functions.end()) in.fail("name", "there is no function '" + name + "' here");
         for (const Child& child : children)
           if (!(child.node->pixel() == children[0].node->pixel()))
             in.fail("children", "have pixels of several sizes; bring them to one by 'resample'");
         FunctionFields fields{in.whole_or("halo", 0), {}};
         constexpr std::int64_t kMostHalo = 4096;
         if (fields.halo < 0 || fields.halo > kMostHalo) in.fail("halo", "must be 0 to 4096 pixels");
         if (in.has("dtype")) fields.dtype = in.dtype("");
         return found->second(children, fields);
       }},
  };
  return table;
}

class Reader {
 public:
  Reader(const Json& nodes, const Resources& resources, NodeIds* ids)
      : nodes_(nodes), resources_(resources), ids_(ids), made_(resources.nodes.begin(), resources.nodes.end()) {}

  /// Children before parents; without recursion.
  NodeRef read(const std::string& root) {
    struct Step {
      std::string id;
      std::size_t next = 0;  ///< child to look at
    };
    std::vector<Step> path;
    std::unordered_set<std::string> on_path;
    const auto enter = [&](const std::string& id) {
      path.push_back({id});
      on_path.insert(id);
    };
    if (!made_.contains(root)) enter(root);
    while (!path.empty()) {
      auto& [id, next] = path.back();
      const Json& children = children_of(id);
      if (next == children.size()) {
        const NodeRef& node = made_[id] = make(id);
        if (ids_) ids_->emplace(node.get(), id);
        on_path.erase(id);
        path.pop_back();
        continue;
      }
      const std::string child = id_of(id, children[next++]);
      if (on_path.contains(child)) throw InvalidArgument("node '" + child + "' is its own descendant, by '" + id + "'");
      if (!made_.contains(child)) enter(child);
    }
    return made_.at(root);
  }

 private:
  const Json& node(const std::string& id) const {
    const auto found = nodes_.find(id);
    if (found == nodes_.end()) throw InvalidArgument("there is no node '" + id.substr(0, 60) + "'");
    if (!found->is_object()) throw InvalidArgument("node '" + id.substr(0, 60) + "' is no object");
    return *found;
  }
  const Json& children_of(const std::string& id) const {
    static const Json kNone = Json::array();
    const Json& json = node(id);
    if (!json.contains("children")) return kNone;
    if (!json["children"].is_array()) Fields(id, json).fail("children", "must be a list");
    return json["children"];
  }
  std::string id_of(const std::string& parent, const Json& child) const {
    const Json& named = child.is_object() && child.contains("node") ? child["node"] : child;
    if (!named.is_string())
      Fields(parent, node(parent))
          .fail("children", "each is a node's name, or {\"node\": name, \"role\": …, \"y\": …, \"x\": …}");
    return named.get<std::string>();
  }

  NodeRef make(const std::string& id) {
    const Json& json = node(id);
    Fields fields(id, json);
    const std::string type = fields.text("type");
    const auto row = std::find_if(types().begin(), types().end(), [&](const TypeRow& of) { return of.name == type; });
    if (row == types().end()) {
      std::string known;
      for (const TypeRow& of : types()) known += (known.empty() ? "" : ", ") + std::string(of.name);
      fields.fail("type", "there is no type '" + type.substr(0, 40) + "'; there are " + known);
    }
    std::vector<Child> children;
    const Role usual = row->rules.empty() ? Role::data : row->rules.back().role;
    for (const Json& child : children_of(id)) children.push_back(child_of(id, child, usual));
    try {
      check_roles(type, row->rules.data(), row->rules.size(), children);
      for (const Child& child : children)
        if (!row->moves && (child.y != 0 || child.x != 0))
          throw InvalidArgument("a child of '" + type + "' cannot be moved; 'place' does that");
      NodeRef made = row->make(fields, children, resources_);
      fields.done();
      return made;
    } catch (const InvalidArgument& error) {
      const std::string text = error.what();
      throw InvalidArgument(text.starts_with("node '") ? text : "node '" + id + "': " + text);
    }
  }
  Child child_of(const std::string& id, const Json& json, Role role) const {
    static const std::array kRoles{name_of(Role::data), name_of(Role::pattern), name_of(Role::mask),
                                   name_of(Role::weight)};
    Child child{made_.at(id_of(id, json)), role};
    if (!json.is_object()) return child;
    Fields fields(id, json);
    if (fields.has("role")) child.role = static_cast<Role>(fields.word("role", kRoles, ""));
    child.y = fields.whole_or("y", 0);
    child.x = fields.whole_or("x", 0);
    for (const auto& [field, value] : json.items())
      if (field != "node" && field != "role" && field != "y" && field != "x")
        fields.fail("children", "a child has no field '" + field + "'");
    return child;
  }

  const Json& nodes_;
  const Resources& resources_;
  NodeIds* const ids_;
  std::unordered_map<std::string, NodeRef> made_;
};

/// Looks through a document before it is kept, in time that its length bounds.
/// @throws InvalidArgument it is nested deep, or an object has a field twice, of which the parser would keep the last
class Look final : public Json::json_sax_t {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return true; }
  bool number_unsigned(std::uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(Json::binary_t&) override { return true; }
  bool start_object(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override { return false; }
  bool key(std::string& field) override {
    const bool is_new = open_.back().fields.insert(field).second;
    if (is_new) return open_.back().last = field, true;
    std::string of;
    for (const Level& level : open_)
      if (&level != &open_.back() && !level.last.empty()) of = ", in '" + level.last.substr(0, 60) + "'";
    throw InvalidArgument("the document has the field '" + field.substr(0, 60) + "' twice" + of);
  }

 private:
  bool enter() {
    constexpr std::size_t kDeepest = 20;
    if (open_.size() == kDeepest) throw InvalidArgument("the document is nested more than 20 deep, which no graph is");
    return open_.emplace_back(), true;
  }
  bool leave() { return open_.pop_back(), true; }

  struct Level {  ///< an object's, or an array's, which has none
    std::unordered_set<std::string> fields;
    std::string last;
  };
  std::vector<Level> open_;
};

}  // namespace

NodeRef read_document(std::string_view text, const Resources& resources, NodeIds* ids) {
  constexpr std::size_t kMostNodes = 1 << 20;
  Look look;
  Json::sax_parse(text, &look);
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& error) {
    std::string reason = error.what();
    reason.erase(0, reason.find("] ") + 2);
    for (char& byte : reason)
      if (byte < ' ' || byte > '~') byte = '?';
    throw InvalidArgument("the document is no JSON: " + reason.substr(0, 200));
  }
  const auto text_of = [&](const char* field) {
    return json.is_object() && json.contains(field) && json[field].is_string() ? json[field].get<std::string>() : "";
  };
  if (text_of("fathom") != "stream")
    throw InvalidArgument("the document is no tile graph: it lacks \"fathom\": \"stream\"");
  if (!json.contains("version") || json["version"] != 1)
    throw InvalidArgument("the document's version is " +
                          (json.contains("version") ? json["version"].dump().substr(0, 40) : "missing") +
                          "; this Fathom reads version 1");
  for (const auto& [field, value] : json.items())
    if (field != "fathom" && field != "version" && field != "root" && field != "nodes" && field != "comment")
      throw InvalidArgument("the document has no field '" + field.substr(0, 60) + "'");
  if (!json.contains("nodes") || !json["nodes"].is_object()) throw InvalidArgument("the document lacks its nodes");
  if (json["nodes"].size() > kMostNodes) throw InvalidArgument("the document has more than 2²⁰ nodes");
  const std::string root = text_of("root");
  if (root.empty()) throw InvalidArgument("the document does not name its root");
  return Reader(json["nodes"], resources, ids).read(root);
}

}  // namespace fathom::stream
