#include "stream_graph.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "fathom/core/error.h"
#include "fathom/io/points.h"
#include "fathom/io/raster.h"
#include "fathom/stream/document.h"
#include "input.h"
#include "warnings.h"

namespace fathom::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{64} << 20;

std::string read_text(const std::string& path) {
  struct Close {
    void operator()(std::FILE* file) const {
      if (file != stdin) std::fclose(file);
    }
  };
  if (fs::is_directory(path)) throw IoError(fmt::format("{} is a directory, not a document", path));
  const std::unique_ptr<std::FILE, Close> file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"));
  if (!file) throw IoError(fmt::format("{} cannot be read: {}", path, std::generic_category().message(errno)));
  std::string text;
  std::vector<char> part(1 << 16);
  for (std::size_t got; (got = std::fread(part.data(), 1, part.size(), file.get())) > 0;) {
    text.append(part.data(), got);
    if (text.size() > kMostBytes)
      throw IoError(fmt::format("{} is larger than 64 MiB, which no document is; placements may lie in a file",
                                input_name(path)));
  }
  if (std::ferror(file.get()) != 0) throw IoError(fmt::format("{} cannot be read", input_name(path)));
  return text;
}

/// The size of a file's pixels.
stream::PixelSize pixel_of(const std::string& path, const io::Meaning& meaning) {
  io::SquarePixel pixel = io::square_pixel(meaning);
  if (!pixel.reason.empty())
    warn(fmt::format("{}: {}; each counts as 1 × 1 unless its node states \"pixel\"", path, pixel.reason));
  return {pixel.size, std::move(pixel.unit)};
}

class Words final : public stream::Description {
 public:
  NodeWords words;

  void number(std::string_view field, double value) override { add(field, fmt::format("{:g}", value)); }
  void whole(std::string_view field, std::int64_t value) override { add(field, fmt::format("{}", value)); }
  void truth(std::string_view field, bool value) override {
    if (value) add(field, "true");
  }
  void text(std::string_view field, std::string_view value) override {
    if (field == "path") words.file = value;
    add(field, value);
  }
  void nothing(std::string_view field) override { add(field, "none"); }
  void numbers(std::string_view field, const std::vector<double>& values) override {
    add(field, fmt::format("of {} numbers", values.size()));
  }
  void wholes(std::string_view field, const std::vector<std::int64_t>& values) override {
    if (values.size() == 2) add(field, fmt::format("({}, {})", values[0], values[1]));
    else add(field, fmt::format("{} numbers", values.size()));
  }
  void fingerprint(std::string_view value) override { words.fingerprint = value; }

 private:
  void add(std::string_view field, std::string_view value) {
    for (const std::string_view of_extent : {"height", "width", "dtype", "pixel", "unit"})
      if (field == of_extent) return;
    if (!words.parameters.empty()) words.parameters += ", ";
    words.parameters += fmt::format("{} {}", field, value);
  }
};

}  // namespace

NodeWords words_of(const stream::Node& node) {
  Words words;
  node.describe(words);
  return words.words;
}

stream::NodeRef read_graph(const std::string& path, stream::NodeIds& ids) {
  const fs::path folder = path == "-" ? fs::path() : fs::path(path).parent_path();
  const auto beside = [&folder](const std::string& name) { return (folder / name).string(); };
  stream::Resources resources;
  resources.open = [&](const std::string& name, stream::PixelSize& pixel) {
    io::RasterFile file = io::open_raster(beside(name));
    for (const std::string& warning : file.warnings) warn(fmt::format("{} {}", beside(name), warning));
    pixel = pixel_of(beside(name), file.meaning);
    return file.source;
  };
  resources.read_placements = [&](const std::string& name) { return io::read_whole_triples(beside(name)); };
  const std::string text = read_text(path);
  try {
    return stream::read_document(text, resources, &ids);
  } catch (const InvalidArgument& error) {
    throw IoError(fmt::format("{}: {}", input_name(path), error.what()));
  }
}

}  // namespace fathom::cli
