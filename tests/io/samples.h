// Small valid files of every format, and whether a reader survives what becomes of them.
#pragma once

#include <span>

#include "support.h"

namespace fathom::io::test {

using Bytes = std::vector<std::byte>;

struct Sample {
  std::string name;
  Bytes bytes;
};

inline Bytes bytes_of(const std::string& name, const Array& array, const WriteOptions& options = {}) {
  const TempDir dir;
  const std::vector<double> spacing = array.shape().rank() == 3 ? std::vector<double>{3, 2, 1} : std::vector<double>{};
  write(dir / name, array.view(), spacing, options);
  return read_bytes(dir / name);
}

/// A header and bytes behind it, none of which looks like the start of another image.
inline Bytes pnm_of(const std::string& header, std::size_t count) {
  Bytes bytes = bytes_of_text(header);
  for (std::size_t k = 0; k < count; ++k) bytes.push_back(std::byte(0x81 + 5 * k % 64));
  return bytes;
}

/// A gray ramp of 8 × 8, as Pillow writes it at the lowest quality: all steps of quantization are 255.
inline Bytes small_jpeg() {
  const std::string hex =
      "ffd8ffe000104a46494600010100000100010000ffdb004300" + std::string(128, 'f') +
      "ffc0000b080008000801011100ffc40014000100000000000000000000000000000001ffc400151001010000000000000000000000000000"
      "0002ffda0008010100003f0025ffd9";
  Bytes bytes;
  for (std::size_t at = 0; at < hex.size(); at += 2)
    bytes.push_back(std::byte(std::stoi(hex.substr(at, 2), nullptr, 16)));
  return bytes;
}

/// Small valid files of every format.
inline const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = [] {
    std::vector<Sample> made;
    for (const char* name : {"a.npy", "a.tif", "a.nii", "a.nii.gz"}) {
      made.push_back({name, bytes_of(name, make_array(DType::float32, {2, 5, 6}))});
      made.push_back({name, bytes_of(name, make_array(DType::boolean, {7, 9}))});
    }
    for (const char* name : {"a.nrrd", "a.mha"})
      made.push_back({name, bytes_of(name, make_array(DType::uint16, {2, 5, 6}))});
    made.push_back({"gzip.nrrd", bytes_of("a.nrrd", make_array(DType::float32, {2, 5, 6}), {.compress = true})});
    made.push_back({"a.jpg", small_jpeg()});
    made.push_back({"a.pgm", pnm_of("P5 # a comment\n4 3\n255\n", 12)});
    made.push_back({"a.ppm", pnm_of("P6\n4 3\n65535\n", 72)});
    made.push_back({"a.pbm", pnm_of("P4 9 3\n", 6)});
    made.push_back({"a.png", bytes_of("a.png", make_array(DType::boolean, {7, 9}))});
    made.push_back({"a.png", bytes_of("a.png", make_array(DType::uint16, {7, 9}))});
    return made;
  }();
  return all;
}

/// Reads bytes that may be anything; true if they were an image.
inline bool survives(std::span<const std::byte> bytes, const std::string& what) {
  ReadOptions options;
  options.memory_limit = std::size_t{1} << 20;
  try {
    const Image image = read_memory(bytes, options);
    EXPECT_LE(image.data.bytes(), *options.memory_limit);
    return true;
  } catch (const IoError& error) {
    expect_good_message(error.what(), "memory");
  } catch (const std::exception& error) {
    ADD_FAILURE() << what << ": " << error.what();
  }
  return false;
}

}  // namespace fathom::io::test
