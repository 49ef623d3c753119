// Documents of tile graphs: any text, or one that is made of a node's words and odd values. What is accepted is written
// and read again, planned, and computed in small parts, which must be the same whatever they lie in. An InvalidArgument
// is an answer. Anything else is a fault.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>

#include "../bytes.h"
#include "fathom/core/error.h"
#include "fathom/stream/document.h"
#include "fathom/stream/evaluator.h"

namespace {

using namespace fathom;
using fathom::test::Bytes;

std::string whole(Bytes& bytes) {
  switch (bytes.below(16)) {
    case 0:
      return bytes.choose({"0", "-1", "1099511627776", "1073741824", "9223372036854775807", "-9223372036854775808"});
    case 1: return std::to_string(bytes.below(256) * 1000);
    default: return std::to_string(1 + bytes.below(40));
  }
}
std::string number(Bytes& bytes) {
  return bytes.choose({"0", "1", "0.1", "-0.0", "3", "255", "1e300", "-2.5", "7", "65536", "1e-300", "15", "\"inf\"",
                       "\"-inf\"", "\"nan\""});
}
std::string text(Bytes& bytes, std::initializer_list<const char*> words) {
  return '"' + std::string(bytes.choose(words)) + '"';
}
std::string expression(Bytes& bytes) {
  return text(bytes,
              {"a", "a + b", "a*b/c", "x - y", "255*exp(-d/5)", "1/d", "a > b ? a : b", "d*d", "sqrt(x)", "", "((a"});
}

/// A value for a field, mostly of its kind.
std::string value_of(const std::string& field, Bytes& bytes) {
  if (bytes.below(64) == 0) return bytes.choose({"null", "[]", "{}", "true", "\"\"", "[1, 2]"});
  if (field == "dtype") return text(bytes, {"bool", "uint8", "uint16", "float32", "float64"});
  if (field == "blend") return text(bytes, {"max", "min", "sum", "first", "last", "mean"});
  if (field == "to") return text(bytes, {"nonzero", "zero"});
  if (field == "expression") return expression(bytes);
  if (field == "rows" || field == "columns" || field == "above" || field == "signed")
    return bytes.choose({"true", "false"});
  if (field == "u" || field == "v")
    return '[' + whole(bytes) + ", " + bytes.choose({"", "-"}) + std::to_string(bytes.below(9)) + ']';
  if (field == "table") return '[' + number(bytes) + ", " + number(bytes) + ']';
  if (field == "placements") {
    std::string list;
    for (int k = bytes.below(6); k > 0; --k)
      list += whole(bytes) + ", " + whole(bytes) + ", " + std::to_string(bytes.below(2)) + ", ";
    return '[' + list + "0, 0, 0]";
  }
  if (field == "matrix") return bytes.choose({"2", "4", "8", "16", "3"});
  if (field == "pixel") return bytes.choose({"1", "1", "1", "2", "0.3"});
  if (field == "quarters" || field == "seed" || field == "y" || field == "x" || field == "height" || field == "width")
    return whole(bytes);
  return number(bytes);
}

struct Type {
  const char *name, *fields, *roles;
};
constexpr Type kTypes[] = {
    {"constant", "value height width dtype", ""},
    {"formula", "expression height width dtype", ""},
    {"noise", "seed height width dtype", ""},
    {"repeat", "height width", "pattern"},
    {"lattice", "u v height width blend transparent background", "pattern mask weight"},
    {"place", "placements height width blend background", "data data"},
    {"crop", "y x height width", "data"},
    {"flip", "rows columns", "data"},
    {"rotate", "quarters", "data"},
    {"resample", "pixel", "data"},
    {"mask", "background", "data mask"},
    {"math", "expression dtype", "data data data"},
    {"threshold", "value above", "data"},
    {"profile", "expression infinite dtype", "data"},
    {"profile", "table dtype", "data"},
    {"distance", "max to signed", "mask"},
    {"distance", "to", "mask"},
    {"halftone", "matrix", "data"},
};

/// Calls function(word) for the words of a text.
template <class Function>
void each_word(const std::string& words, const Function& function) {
  for (std::size_t from = 0; from < words.size();) {
    const std::size_t to = std::min(words.find(' ', from), words.size());
    function(words.substr(from, to - from));
    from = to + 1;
  }
}

std::string node(int number, Bytes& bytes) {
  const Type& type = kTypes[number < 2 ? bytes.below(3) : bytes.below(std::size(kTypes))];
  std::string json = "{\"type\": \"" + std::string(type.name) + '"', children;
  each_word(type.fields, [&](const std::string& field) {
    if (bytes.below(32) != 0) json += ", \"" + field + "\": " + value_of(field, bytes);
  });
  int many = 0;
  each_word(type.roles, [&](const std::string& role) {
    if (many++ > 0 && bytes.below(2) == 0) return;
    const int child = bytes.below(32) == 0 ? bytes.below(20) : bytes.below(std::max(1, number));
    children += (children.empty() ? "" : ", ") + std::string("{\"node\": \"n") + std::to_string(child) +
                "\", \"role\": \"" + role + '"';
    if (bytes.below(8) == 0) children += ", \"y\": " + whole(bytes) + ", \"x\": " + whole(bytes);
    children += '}';
  });
  return json + (children.empty() ? "" : ", \"children\": [" + children + ']') + '}';
}

std::string document(Bytes& bytes) {
  const int count = 1 + bytes.below(10);
  std::string nodes;
  for (int k = 0; k < count; ++k) nodes += (k == 0 ? "\"n" : ", \"n") + std::to_string(k) + "\": " + node(k, bytes);
  return "{\"fathom\": \"stream\", \"version\": 1, \"root\": \"n" + std::to_string(count - 1) + "\", \"nodes\": {" +
         nodes + "}}";
}

/// Whether it is done within a second or so.
bool is_quick(const stream::Plan& plan) {
  constexpr std::int64_t kMostRows = 2000, kMostHalos = 200;
  std::int64_t halos = 0;
  for (const stream::Plan::Entry& entry : plan.entries) {
    halos += entry.halo;
    if (entry.sweeps && (entry.node->height() > kMostRows || entry.node->width() > kMostRows)) return false;
    if (entry.node->type() == "resample" && entry.node->children()[0].node->height() > kMostRows * entry.node->height())
      return false;
  }
  return halos <= kMostHalos;
}

void check_parts(const stream::NodeRef& root, Bytes& bytes) {
  stream::EvaluatorOptions options;
  options.memory = std::size_t{64} << 20;
  options.execution.threads = 1;
  stream::Evaluator one(root, options), other(root, options);
  if (!is_quick(one.plan())) return;
  const auto begin = [&](std::int64_t extent) { return bytes.choose({std::int64_t{0}, extent / 2, extent - 1}); };
  const std::int64_t y = begin(root->height()), x = begin(root->width());
  const Rectangle part = intersection(root->whole(), {y, x, y + 1 + bytes.below(40), x + 1 + bytes.below(40)});
  const Array pixels = one.compute(part);
  const std::int64_t down = bytes.below(static_cast<int>(part.height())),
                     right = bytes.below(static_cast<int>(part.width()));
  const Rectangle within{part.y0 + down, part.x0 + right, part.y1, part.x1};
  const Array again = other.compute(within);
  const auto size = static_cast<std::int64_t>(size_of(pixels.dtype()));
  for (std::int64_t row = 0; row < within.height(); ++row)
    if (std::memcmp(again.data() + row * within.width() * size,
                    pixels.data() + ((down + row) * part.width() + right) * size,
                    static_cast<std::size_t>(within.width() * size)) != 0) {
      std::fprintf(stderr, "%s\nparts differ in row %lld\n", stream::write_document(*root).c_str(),
                   static_cast<long long>(within.y0 + row));
      std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes({data, size});
  const bool as_it_is = bytes.below(8) == 0;
  const std::string json = as_it_is ? std::string(reinterpret_cast<const char*>(data), size) : document(bytes);
  try {
    const stream::NodeRef root = stream::read_document(as_it_is && size > 0 ? json.substr(1) : json, {});
    const std::string text = stream::write_document(*root);
    if (stream::write_document(*stream::read_document(text, {})) != text) {
      std::fprintf(stderr, "%s\nis read otherwise\n", text.c_str());
      std::abort();
    }
    check_parts(root, bytes);
  } catch (const InvalidArgument&) {
  }
  return 0;
}
