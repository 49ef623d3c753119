// The papers that `reproduce` knows, one row each.
#pragma once

#include <span>

#include "reproduce/study.h"

namespace fathom::cli {

struct StudyRow {
  const char* key;
  Study (*make)(const Machine& machine);
};

/// In the order that pages and help show them.
std::span<const StudyRow> studies();

}  // namespace fathom::cli
