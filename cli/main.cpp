// The command `fathom`: reads the command line, calls the verb, turns errors into one line and an exit code.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <map>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "exit_code.h"
#include "fathom/core/error.h"
#include "interrupt.h"
#include "option_type.h"
#include "report.h"
#include "suggestion.h"
#include "verb.h"
#include "warnings.h"

namespace fathom::cli {

namespace {

int fail(int code, std::string message) {
  print_message(std::move(message));
  return code;
}

int guarded(const Work& work) {
  try {
    return work();
  } catch (const InvalidArgument& error) {
    return fail(kUsage, error.what());
  } catch (const IoError& error) {
    return fail(kData, error.what());
  } catch (const DeviceError& error) {
    return fail(kDevice, error.what());
  } catch (const std::bad_alloc&) {
    return fail(kData, "not enough memory; --region computes a part, and --threads 1 needs the least");
  } catch (const std::exception& error) {
    return fail(kInternal, fmt::format("internal error: {}", error.what()));
  }
}

std::string no_verb(const std::vector<std::string>& given) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs())
    if (!verb.is_about_verbs) names.emplace_back(verb.name);
  const std::string meant = given.empty() ? "" : suggestion(given.front(), names);
  const std::string last = std::exchange(names.back(), "");
  names.pop_back();
  return fmt::format("{}; {} see fathom --help",
                     given.empty() ? "no verb was given" : fmt::format("'{}' is no verb", given.front()),
                     meant.empty() ? fmt::format("use {} or {},", fmt::join(names, ", "), last) : meant);
}

/// "did you mean --spacing? " for the first unknown option of the verb, if one is much like it.
std::string meant_option(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  for (const std::string& given : verb.remaining()) {
    if (!given.starts_with("--")) continue;
    const std::string meant = suggestion(given.substr(0, given.find('=')), names);
    return meant.empty() ? "" : meant + " ";
  }
  return "";
}

/// What to do about a command line that cannot be read: help where it was asked for, else the way to it.
int explain(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);
  const auto verbs = app.get_subcommands();
  if (verbs.empty() && error.get_name() == "RequiredError")
    return fail(kUsage, no_verb(app.remaining()));
  const std::string verb = verbs.empty() ? "" : " " + verbs.front()->get_name();
  const std::string meant = verbs.empty() ? "" : meant_option(*verbs.front());
  return fail(kUsage, fmt::format("{}; {}see fathom{} --help", error.what(), meant, verb));
}

int run(int argc, char** argv) {
  CLI::App app("Exact distances to the nearest site, on images, volumes and points", "fathom");
  app.set_version_flag("--version", "fathom " FATHOM_VERSION);
  app.require_subcommand(1);
  app.footer("Every verb has its own --help, with examples.");
  std::map<const CLI::App*, Work> works;
  for (const Verb& verb : verbs()) {
    CLI::App* const declared = app.add_subcommand(verb.name, verb.summary);
    works[declared] = verb.declare(declared);
    if (!verb.is_about_verbs) declare_warnings(declared);
    show_types(*declared);
  }

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return explain(app, error);
  }
  watch_signals();
  return guarded(works.at(app.get_subcommands().front()));
}

}  // namespace

}  // namespace fathom::cli

int main(int argc, char** argv) { return fathom::cli::run(argc, argv); }
