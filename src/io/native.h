// What a file holds that only files of the same format can take back.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fathom/io/meaning.h"

namespace fathom::io {

class Native {
 public:
  Native() = default;
  virtual ~Native() = default;
  Native(const Native&) = default;
  Native& operator=(const Native&) = default;

  /// Of a part of the array that begins at these indices.
  virtual std::shared_ptr<const Native> cropped(const std::vector<std::int64_t>& begin) const = 0;
};

}  // namespace fathom::io
