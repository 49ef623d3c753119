// What was streamed so far, in a file that outlives crashes: one line of JSON about the work, then one for each band,
// and for each time that a reader acknowledged what it took.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
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
  /// Bytes of the stream that its reader acknowledged last, if it ever did.
  std::optional<std::int64_t> acknowledged() const { return acknowledged_; }
  /// Forgets the bands from a number on, and what came after them. Before the first one is added.
  void cut(std::size_t bands);
  /// A band that is known already must be the same. @throws IoError it is not
  void add(std::int64_t band, std::uint32_t checksum);
  /// Whether something was put aside that is old enough to be written.
  bool is_due() const;
  void commit();
  /// Is on the disk when it returns; from any thread.
  void acknowledge(std::int64_t bytes);

 private:
  std::string path_;
  int file_ = -1;
  std::vector<std::uint32_t> bands_;
  std::vector<std::size_t> ends_;  ///< bytes of the file before each band and behind the last, when it was opened
  std::optional<std::int64_t> acknowledged_;
  std::string aside_;
  std::mutex writing_;
  double written_ = 0;  ///< seconds
};

/// Compares a file with its journal. @returns the exit code: 0, or 1 where they differ
int verify_journal(const std::string& output, const std::string& journal, bool json);

}  // namespace fathom::cli
