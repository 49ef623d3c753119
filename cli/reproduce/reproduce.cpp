#include "reproduce/reproduce.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <utility>

#include "clock.h"
#include "exit_code.h"
#include "fathom/core/device.h"
#include "fathom/core/error.h"
#include "json.h"
#include "options.h"
#include "progress.h"
#include "quantities.h"
#include "report.h"
#include "reproduce/page.h"
#include "reproduce/record.h"
#include "reproduce/studies.h"
#include "suggestion.h"

namespace fathom::cli {

namespace {

constexpr const char* kExamples = R"(Examples:
  fathom reproduce --quick -o papers
      all five in two minutes; open papers/index.html in a browser
  fathom reproduce cao man -o papers --backend cuda
      two of them in full, on a device; Ctrl-C keeps finished steps, and the same command goes on from there

Of each paper DIR gets a page (.html), its numbers (.csv) and its figures (.png), and reproduce.json what was measured.
Exit codes: 0 done, 2 usage, 3 data or files, 4 device, 70 internal.)";

std::vector<std::string> known_papers() {
  std::vector<std::string> names;
  for (const StudyRow& row : studies()) names.emplace_back(row.key);
  return names;
}

std::vector<StudyRow> chosen(const std::vector<std::string>& papers) {
  const std::vector<std::string> names = known_papers();
  for (const std::string& paper : papers)
    if (std::find(names.begin(), names.end(), paper) == names.end()) {
      const std::string meant = suggestion(paper, names);
      throw InvalidArgument(fmt::format("there is no paper '{}'; {}use {}", paper, meant.empty() ? "" : meant + " ",
                                        fmt::join(names, ", ")));
    }
  std::vector<StudyRow> rows;
  for (const StudyRow& row : studies())
    if (papers.empty() || std::find(papers.begin(), papers.end(), row.key) != papers.end()) rows.push_back(row);
  return rows;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "a processor that does not say its name";
}

Machine machine_of(const ReproduceArguments& a) {
  const Backend backend = parse_backend(a.backend);
  if (backend == Backend::cuda && device_count() == 0)
    throw DeviceError(
        "--backend cuda: there is no CUDA device here; --backend cpu measures the algorithms' CPU versions");
  Machine machine;
  machine.device = backend != Backend::cpu && device_count() > 0;
  machine.quick = a.quick;
  machine.name = processor_name();
  if (machine.device) machine.device_name = describe_device(current_device()).name;
  machine.threads = available_threads();
  return machine;
}

Json about(const Machine& machine) {
  return {{"version", FATHOM_VERSION},
          {"processor", machine.name},
          {"threads", machine.threads},
          {"backend", machine.device ? "cuda" : "cpu"},
          {"device", text_or_null(machine.device_name)},
          {"quick", machine.quick}};
}

/// What to type to have the same.
std::string command_of(const std::string& paper, const Machine& machine) {
  return fmt::format("fathom reproduce {}{} --backend {} -o DIR", paper, machine.quick ? " --quick" : "",
                     machine.device ? "cuda" : "cpu");
}

/// The steps that are left, and how long they take.
class Schedule {
 public:
  Schedule(const std::vector<Study>& studies, const Record& record) {
    for (const Study& study : studies)
      for (const Step& step : study.steps)
        if (!record.find(study.paper.key, step.name)) left_ += step.weight;
  }

  void begin(const Study& study, const Step& step) {
    const double share = done_ / (done_ + left_);
    progress_.begin(fmt::format("{}: {}{}", study.paper.key, step.name,
                                done_ == 0
                                    ? std::string(",")
                                    : fmt::format(", {} left,", duration_text(seconds_since(start_) * left_ / done_))));
    progress_.advance(share);
  }
  void end(const Step& step) {
    done_ += step.weight;
    left_ -= step.weight;
  }
  Progress& progress() { return progress_; }

 private:
  double done_ = 0, left_ = 0;
  const Clock::time_point start_ = Clock::now();
  Progress progress_;
};

/// @throws IoError there is not enough memory
Outcome run(const Study& study, const Step& step) {
  try {
    return step.run();
  } catch (const std::bad_alloc&) {
    throw IoError(
        fmt::format("not enough memory for {}, {}; --quick takes smaller inputs", study.paper.key, step.name));
  }
}

/// What all steps of a study found, those that are done already from the record.
Outcome outcome_of(const Study& study, Record& record, Schedule& schedule) {
  Outcome all;
  for (const Step& step : study.steps) {
    std::optional<Outcome> found = record.find(study.paper.key, step.name);
    if (!found) {
      schedule.begin(study, step);
      found = run(study, step);
      schedule.end(step);
      record.add(study.paper.key, step.name, *found);
    }
    append(all, std::move(*found));
  }
  return all;
}

}  // namespace

Work declare_reproduce(CLI::App* verb) {
  const auto arguments = std::make_shared<ReproduceArguments>();
  ReproduceArguments& a = *arguments;
  verb->footer(kExamples);
  verb->add_option("PAPER", a.papers, fmt::format("Which papers: {} (default: all)", fmt::join(known_papers(), ", ")));
  verb->add_option("-o,--output", a.output, "Directory for pages, tables and pictures")->required();
  verb->add_flag("--quick", a.quick, "Small inputs and few runs: two minutes for all");
  verb->add_option("--backend", a.backend, "auto (default), cpu, or cuda");
  verb->add_flag("--anew", a.anew, "Measure again what the directory holds already");
  verb->add_flag("--json", a.json, "Print one line of JSON about what was measured");
  return [arguments] { return run_reproduce(*arguments); };
}

int run_reproduce(const ReproduceArguments& a) {
  const auto start = Clock::now();
  const Machine machine = machine_of(a);
  std::vector<Study> studies;
  for (const StudyRow& row : chosen(a.papers)) studies.push_back(row.make(machine));
  std::error_code error;
  std::filesystem::create_directories(a.output, error);
  if (error) throw IoError(fmt::format("cannot make the directory {}: {}", a.output, error.message()));
  const std::filesystem::path directory = a.output;
  Record record((directory / "reproduce.json").string(), about(machine));
  if (a.anew)
    for (const Study& study : studies) record.forget(study.paper.key);
  Schedule schedule(studies, record);
  std::vector<std::string> written;
  Json json = {{"verb", "reproduce"}, {"output", a.output}, {"machine", about(machine)}, {"papers", Json::array()}};
  for (const Study& study : studies) {
    const std::string& key = study.paper.key;
    const Outcome outcome = outcome_of(study, record, schedule);
    write_study({study, outcome, machine, record.date_of(key), command_of(key, machine)}, directory);
    written.push_back((directory / (key + ".html")).string());
    json["papers"].push_back({{"paper", key},
                              {"rows", outcome.rows.size()},
                              {"figures", outcome.figures.size()},
                              {"left_out", outcome.left_out}});
  }
  write_index(directory, record, machine);
  schedule.progress().end();
  json["seconds"] = seconds_since(start);
  if (a.json) print_line(json);
  else print_report(fmt::format("{}\n", fmt::join(written, "\n")), {});
  return kDone;
}

}  // namespace fathom::cli
