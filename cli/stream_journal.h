// What was streamed so far, in a file that outlives crashes: one line of JSON about the work, then one for each band.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fathom/core/raster.h"
#include "json.h"

namespace fathom::cli {

/// A journal on disk. Bands are put aside until commit(), which must follow a sync() of the rows themselves: what it
/// says was written is there after a power cut.
class Journal {
 public:
  /// Opens one, or begins one where the file is new, and keeps others from it.
  /// @param about  the work: graph, files, geometry
  /// @throws IoError the file is no journal, or of other work, which the message names; it is in use
  Journal(std::string path, const Json& about);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Checksums of the bands that are done.
  const std::vector<std::uint32_t>& bands() const { return bands_; }
  /// Forgets those from a number on.
  void cut(std::size_t bands);
  void add(std::uint32_t checksum);
  /// Whether what was put aside is old enough to be written.
  bool is_due() const;
  void commit();

 private:
  std::string path_;
  int file_ = -1;
  std::vector<std::uint32_t> bands_;
  std::vector<std::size_t> ends_;  ///< bytes of the file behind the header, and behind each band
  std::string aside_;
  double written_ = 0;  ///< seconds
};

/// Compares a file with its journal. @returns the exit code: 0, or 1 where they differ
int verify_journal(const std::string& output, const std::string& journal, bool json);

}  // namespace fathom::cli
