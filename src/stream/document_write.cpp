// Graphs as documents, and the hash of one.
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "fathom/stream/document.h"
#include "stream/not_finite.h"

namespace fathom::stream {

namespace {

using Json = nlohmann::ordered_json;  // whose fields stand as they came, and are looked for one by one

class Writer final : public Description {
 public:
  explicit Writer(Json& to) : to_(to) {}
  void number(std::string_view field, double value) override {
    if (std::isfinite(value)) set(field, value);
    else set(field, kNotFinite[std::isnan(value) ? 2 : value > 0 ? 0 : 1].first);
  }
  void whole(std::string_view field, std::int64_t value) override { set(field, value); }
  void truth(std::string_view field, bool value) override { set(field, value); }
  void text(std::string_view field, std::string_view value) override { set(field, value); }
  void numbers(std::string_view field, const std::vector<double>& values) override { set(field, values); }
  void wholes(std::string_view field, const std::vector<std::int64_t>& values) override { set(field, values); }
  void nothing(std::string_view field) override { set(field, nullptr); }
  void fingerprint(std::string_view text) override { fingerprints += std::string(text) + '\n'; }

  std::string fingerprints;

 private:
  template <class T>
  void set(std::string_view field, const T& value) {
    to_[std::string(field)] = value;
  }
  Json& to_;
};

/// @param fingerprints  of the files, appended
Json document_of(const Node& root, std::string& fingerprints) {
  Json::object_t nodes;
  std::unordered_map<const Node*, std::string> ids;
  std::vector<std::pair<const Node*, std::size_t>> path{{&root, 0}};
  while (!path.empty()) {
    auto& [node, next] = path.back();
    if (next < node->children().size()) {
      const Node* const child = node->children()[next++].node.get();
      if (!ids.contains(child)) path.emplace_back(child, 0);
      continue;
    }
    if (!ids.contains(node)) {
      Json json = {{"type", node->type()}};
      Writer writer(json);
      node->describe(writer);
      fingerprints += writer.fingerprints;
      for (const Child& child : node->children()) {
        Json entry = {{"node", ids.at(child.node.get())}, {"role", name_of(child.role)}};
        if (child.y != 0) entry["y"] = child.y;
        if (child.x != 0) entry["x"] = child.x;
        json["children"].push_back(std::move(entry));
      }
      const std::string id = std::string(node->type()) + "-" + std::to_string(ids.size() + 1);
      ids[node] = id;
      nodes.emplace_back(id, std::move(json));
    }
    path.pop_back();
  }
  return {{"fathom", "stream"}, {"version", 1}, {"root", ids.at(&root)}, {"nodes", std::move(nodes)}};
}

}  // namespace

std::string write_document(const Node& root) {
  std::string fingerprints;
  return document_of(root, fingerprints).dump(2);
}

std::string content_hash(const Node& root) {
  std::string all;
  const std::string nodes = document_of(root, all).dump();
  all += nodes;
  std::uint64_t low = 0xcbf29ce484222325, high = 0x9ae16a3b2f90404f;  // FNV-1a, twice
  for (const char byte : all) {
    low = (low ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    high = (high ^ static_cast<unsigned char>(byte) ^ low >> 56) * 0x100000001b3;
  }
  char text[33];
  std::snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, high, low);
  return text;
}

}  // namespace fathom::stream
