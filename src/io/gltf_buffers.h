// glTF's numbers: buffers, views of them, and accessors, which say what the bytes of a view are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "io/mesh_formats.h"

namespace fathom::io::gltf {

using Json = nlohmann::json;

class Buffers {
 public:
  /// @param document  outlives this object @param embedded  a GLB's binary part, the first buffer if that has no URI
  Buffers(const ByteSource& source, const Json& document, std::optional<Bytes> embedded,
          const std::optional<std::filesystem::path>& folder, const MemoryLimit& limit)
      : source_(source), document_(document), embedded_(embedded), folder_(folder), limit_(limit) {}

  /// The elements of an accessor, `width` numbers each. @throws IoError it is none of these, or leaves its buffer
  std::vector<double> read(std::int64_t accessor, std::size_t width);

  /// An object of one of the document's lists. @throws IoError there is none
  const Json& item(const char* list, std::int64_t number) const;

 private:
  struct Layout;
  Bytes buffer(std::int64_t number);
  Bytes view(std::int64_t number, std::uint64_t offset);
  std::vector<std::byte> load(const std::string& uri, std::uint64_t size, std::int64_t number) const;
  /// @param stride  bytes from one element to the next, 0: none lies between
  std::vector<double> numbers(Bytes bytes, const Layout& layout, std::size_t count, std::size_t stride) const;
  void replace_sparse(const Json& sparse, const Layout& layout, std::vector<double>& values);

  const ByteSource& source_;
  const Json& document_;
  std::optional<Bytes> embedded_;
  std::optional<std::filesystem::path> folder_;
  MemoryLimit limit_;
  std::vector<std::optional<std::vector<std::byte>>> loaded_;
};

/// What counts or numbers something. @throws IoError it is no such integer
std::int64_t count_of(const ByteSource& source, const Json& number);

/// A member that counts or numbers something; `otherwise` where there is none. @throws IoError as count_of()
std::int64_t count_in(const ByteSource& source, const Json& object, const char* key,
                      std::optional<std::int64_t> otherwise = std::nullopt);

}  // namespace fathom::io::gltf
