// Files that appear together: none is in place before all are written.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fathom/io/atomic_file.h"

namespace fathom::cli {

class PendingFiles {
 public:
  /// @throws IoError the file cannot be written
  io::AtomicFile& add(const std::string& path) {
    return *files_.emplace_back(std::make_unique<io::AtomicFile>(path));
  }
  /// Puts all in place; from then on the process is not interrupted (hold_signals). @throws IoError a disk is full
  void commit();

 private:
  std::vector<std::unique_ptr<io::AtomicFile>> files_;
};

}  // namespace fathom::cli
