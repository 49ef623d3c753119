// What the tests of files share: a directory of their own, arrays with content, bytes of files.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "fathom/core/error.h"
#include "fathom/io/image.h"
#include "io/convert.h"
#include "io/formats.h"
#include "io/nifti_meaning.h"

namespace fathom::io::test {

namespace fs = std::filesystem;

/// A directory that lives as long as the test.
class TempDir {
 public:
  TempDir() {
    std::string name = (fs::temp_directory_path() / "fathom-io-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary directory");
    path_ = name;
  }
  ~TempDir() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  fs::path operator/(const std::string& name) const { return path_ / name; }
  const fs::path& path() const { return path_; }
  std::size_t count_files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

inline std::vector<std::byte> read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

inline void write_bytes(const fs::path& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

inline std::vector<std::byte> bytes_of_text(const std::string& text) {
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

inline void write_text(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

/// Every value of narrow types, ends and fractions of wide ones, in a fixed random order.
inline Array make_array(DType dtype, const Shape& shape, unsigned seed = 1) {
  Array array(dtype, shape);
  std::mt19937_64 random(seed);
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto* values = reinterpret_cast<T*>(array.data());
    for (std::int64_t i = 0; i < array.size(); ++i) {
      if constexpr (std::is_same_v<T, bool>) values[i] = random() % 2 != 0;
      else if constexpr (std::is_floating_point_v<T>)
        values[i] = static_cast<T>(
            std::ldexp(static_cast<double>(random() % 2000001) - 1e6, static_cast<int>(random() % 40) - 20));
      else values[i] = static_cast<T>(random());
    }
  });
  return array;
}

inline ::testing::AssertionResult same(const AnyConstView& expected, const AnyConstView& actual) {
  if (expected.dtype() != actual.dtype())
    return ::testing::AssertionFailure() << name_of(actual.dtype()) << " instead of " << name_of(expected.dtype());
  if (!(expected.shape() == actual.shape()))
    return ::testing::AssertionFailure() << to_string(actual.shape()) << " instead of " << to_string(expected.shape());
  const auto bytes = static_cast<std::size_t>(element_count(expected.shape())) * size_of(expected.dtype());
  if (bytes > 0 && std::memcmp(expected.data(), actual.data(), bytes) != 0)
    return ::testing::AssertionFailure() << "elements differ";
  return ::testing::AssertionSuccess();
}

inline Image read_memory(std::span<const std::byte> bytes, const ReadOptions& options = {}) {
  MemorySource source("memory", bytes);
  return read_image(source, options);
}

/// What an action throws, as E; a failure of the test if it throws nothing or something else.
template <class E, class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return {};
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

/// One line that begins with the file's name.
inline void expect_good_message(const std::string& message, const std::string& name) {
  EXPECT_TRUE(message.starts_with(name)) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_LT(message.size(), 400 + name.size()) << message;
}

}  // namespace fathom::io::test
