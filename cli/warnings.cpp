#include "warnings.h"

#include <CLI/CLI.hpp>

#include "fathom/core/error.h"
#include "report.h"

namespace fathom::cli {

namespace {

// Of the one verb that this process runs.
bool quiet = false;
bool strict = false;

}  // namespace

void declare_warnings(CLI::App* verb) {
  verb->add_flag("--quiet", quiet, "Print nothing but errors");
  verb->add_flag("--strict", strict, "Warnings are errors, and nothing is written");
}

bool is_quiet() { return quiet; }

void warn(const std::string& text) {
  if (strict) throw IoError(text + "; --strict makes this warning an error");
  if (!quiet) print_message("warning: " + text);
}

}  // namespace fathom::cli
