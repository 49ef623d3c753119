// What was measured so far, in a file that outlives interruptions: DIR/reproduce.json.
#pragma once

#include <optional>
#include <string>

#include "json.h"
#include "pending_files.h"
#include "reproduce/study.h"

namespace fathom::cli {

/// Puts files in place. Ctrl-C says from then on that what was measured is kept. @throws IoError a disk is full
void put_in_place(PendingFiles& files);

class Record {
 public:
  /// Reads the file, or begins one where there is none. What was measured otherwise is left out, with a warning.
  /// @param about  flat: version, machine, backend … what numbers of one record have in common
  /// @throws IoError the file is no record
  Record(std::string path, Json about);

  /// The outcome of a step, if it is done.
  std::optional<Outcome> find(const std::string& study, const std::string& step) const;
  /// What was measured of a study is to be measured again.
  void forget(const std::string& study) { json_["studies"].erase(study); }
  /// Adds a step to the file. @throws IoError it cannot be written
  void add(const std::string& study, const std::string& step, const Outcome& outcome);
  /// The day on which the last of a study's steps was done.
  std::string date_of(const std::string& study) const;

 private:
  std::string path_;
  Json json_;
};

}  // namespace fathom::cli
