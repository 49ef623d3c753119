// What `reproduce` writes of a paper: a page for a browser, a table of numbers, and a picture.
#pragma once

#include <filesystem>
#include <string>

#include "reproduce/record.h"
#include "reproduce/study.h"

namespace fathom::cli {

struct Findings {
  const Study& study;
  const Outcome& outcome;
  const Machine& machine;
  std::string date, command;
};

/// Adds a step's outcome to that of the steps before it.
void append(Outcome& all, Outcome step);

/// Writes KEY.html, KEY.csv and KEY.png into the directory, all or none. @throws IoError
void write_study(const Findings& findings, const std::filesystem::path& directory);

/// Writes index.html, which links the pages of the record's papers. @throws IoError
void write_index(const std::filesystem::path& directory, const Record& record, const Machine& machine);

}  // namespace fathom::cli
