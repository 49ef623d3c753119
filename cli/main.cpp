// The command `fathom`: reads the command line, calls the verb, turns errors into one line and an exit code.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "compare.h"
#include "distance.h"
#include "exit_code.h"
#include "fathom/core/error.h"
#include "info.h"
#include "interrupt.h"
#include "query.h"
#include "render.h"
#include "report.h"

namespace fathom::cli {

namespace {

/// One line, whatever the message holds: file names may contain line breaks.
int fail(int code, std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  print_aside(fmt::format("fathom: {}\n", message));
  return code;
}

int interrupted() {
  const int signal = caught_signal();
  return fail(kSignalBase + signal, "interrupted; nothing was written");
}

template <class Verb>
int guarded(const Verb& verb) {
  try {
    return verb();
  } catch (const InvalidArgument& error) {
    return fail(kUsage, error.what());
  } catch (const IoError& error) {
    return fail(kData, error.what());
  } catch (const DeviceError& error) {
    return fail(kDevice, error.what());
  } catch (const Cancelled&) {
    return interrupted();
  } catch (const std::bad_alloc&) {
    return fail(kData, "not enough memory; --region computes a part, and --threads 1 needs the least");
  } catch (const std::exception& error) {
    return fail(kInternal, fmt::format("internal error: {}", error.what()));
  }
}

std::string no_verb(const std::vector<std::string>& given) {
  const std::string what = given.empty() ? "no verb was given" : fmt::format("'{}' is no verb", given.front());
  return what + "; use distance, query, render, info or compare, see fathom --help";
}

/// What to do about a command line that cannot be read: help where it was asked for, else the way to it.
int explain(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);
  const auto verbs = app.get_subcommands();
  if (verbs.empty() && error.get_name() == "RequiredError")
    return fail(kUsage, no_verb(app.remaining()));
  const std::string verb = verbs.empty() ? "" : " " + verbs.front()->get_name();
  return fail(kUsage, fmt::format("{}; see fathom{} --help", error.what(), verb));
}

int run(int argc, char** argv) {
  CLI::App app("Exact distances to the nearest site, on images, volumes and points", "fathom");
  app.set_version_flag("--version", "fathom " FATHOM_VERSION);
  app.require_subcommand(1);
  app.footer("Every verb has its own --help, with examples.");
  DistanceArguments distance;
  QueryArguments query;
  RenderArguments render;
  InfoArguments info;
  CompareArguments compare;
  const CLI::App* const distance_verb = declare_distance(app, distance);
  const CLI::App* const query_verb = declare_query(app, query);
  const CLI::App* const render_verb = declare_render(app, render);
  const CLI::App* const info_verb = declare_info(app, info);
  declare_compare(app, compare);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return explain(app, error);
  }
  watch_signals();
  return guarded([&] {
    if (distance_verb->parsed()) return run_distance(distance);
    if (query_verb->parsed()) return run_query(query);
    if (render_verb->parsed()) return run_render(render);
    if (info_verb->parsed()) return run_info(info);
    return run_compare(compare);
  });
}

}  // namespace

}  // namespace fathom::cli

int main(int argc, char** argv) { return fathom::cli::run(argc, argv); }
