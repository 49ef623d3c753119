#include "stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "clock.h"
#include "exit_code.h"
#include "fathom/io/stream.h"
#include "fathom/stream/document.h"
#include "fathom/stream/estimate.h"
#include "fathom/stream/run.h"
#include "interrupt.h"
#include "json.h"
#include "memory.h"
#include "options.h"
#include "pending_files.h"
#include "progress.h"
#include "quantities.h"
#include "report.h"
#include "stream_ack.h"
#include "stream_graph.h"
#include "stream_journal.h"
#include "stream_output.h"
#include "stream_plan.h"
#include "stream_preview.h"
#include "stream_stripes.h"
#include "warnings.h"

namespace fathom::cli {

namespace {

constexpr const char* kExamples = R"(Examples:
  fathom stream check coat.json
      whether the graph is right; its size and type
  fathom stream coat.json --preview coat.png
      a picture of the raster from few of its pixels, and of its middle
  fathom stream coat.json -o part.tif --region 0:4096,0:4096
      a part of it
  fathom stream explain coat.json -o coat.tif
      how the raster would be computed, and the memory that takes; as --plan
  fathom stream coat.json -o coat.tif --journal coat.journal
      all of it; after a crash the same command goes on
  fathom stream verify coat.tif --journal coat.journal
      whether the file still has the bytes that were computed
  fathom stream coat.json -o - --format raw --order serpentine --min-rate 10MB/s | machine
      as a stream; the report says whether the machine ever had to wait
  fathom stream coat.json -o - --format raw --journal coat.journal --ack 3 3< acks | machine > acks
      the machine tells how many bytes it has; after a crash the same command goes on there

Exit codes: 0 done, 1 verify found differences, 2 usage, 3 data or files, 4 device, 70 internal.)";

/// The positional arguments, which CLI11 would show as GRAPH(1x).
class Usage final : public CLI::Formatter {
  std::string make_option_usage(const CLI::Option*) const override { return "[check|explain|verify] GRAPH"; }
};

bool is_action(const std::string& word) { return word == "check" || word == "explain" || word == "verify"; }

/// From a command line to its report.
class StreamWork {
 public:
  StreamWork(const StreamArguments& arguments, const std::string& action) : arguments_(arguments) {
    progress_.begin("reading");
    graph_ = read_graph(arguments.words.back(), ids_);
    output_ = plan_output(arguments, *graph_);
    if (output_.stripe > 0) order_stripes();
    evaluator_.execution.threads = parse_threads(arguments.threads);
    evaluator_.execution.backend = parse_backend(arguments.backend);
    if (!arguments.memory.empty())
      evaluator_.memory = evaluator_.execution.scratch_limit = parse_memory(arguments.memory);
    evaluator_.region = output_.region;
    evaluator_.row_step = output_.row_step();
    evaluator_.bands = run_.ring;
    run_.serpentine = output_.serpentine;
    read_rates();
    if (!arguments.resume_at.empty()) {
      if (!output_.nameless || !output_.options.raw)
        throw InvalidArgument("--resume-at goes on with a stream: it takes --format raw and -o - or another pipe");
      resume_at_ = parse_count("--resume-at", arguments.resume_at, 0, output_.row_bytes() * output_.region.height());
    }
    if (!arguments.journal.empty() && output_.nameless && !output_.options.raw)
      throw InvalidArgument("--journal of a pipe takes --format raw, whose bytes can be counted");
    if (!arguments.ack.empty()) read_ack();
    check_outputs({{"--output", arguments.output}, {"--preview", arguments.preview}, {"--journal", arguments.journal}},
                  arguments.json);
    const bool plans = arguments.plan || action == "explain";
    if (!plans && action.empty() && arguments.output.empty() && arguments.preview.empty())
      throw InvalidArgument("nothing to do: give -o FILE, --preview FILE or --plan");
  }

  void check() {
    progress_.end();
    const stream::Evaluator evaluator(graph_, evaluator_);
    if (arguments_.json) print_line(stream_plan_json(arguments_, evaluator.plan(), ids_, output_, run_.ring));
    else print_text(fmt::format("{}: {}\n", shown_graph(), raster_text(evaluator.plan())));
  }

  void plan() {
    progress_.end();
    stream::Evaluator evaluator(graph_, evaluator_);
    if (run_.min_rate > 0) {
      const stream::Plan plan = evaluator.plan();
      size_ring(plan, stream::estimate(plan).band_seconds);
      evaluator = with_ring(plan);
    }
    if (arguments_.json) print_line(stream_plan_json(arguments_, evaluator.plan(), ids_, output_, run_.ring));
    else print_text(stream_plan_text(arguments_, evaluator.plan(), ids_, output_, run_.ring));
  }

  void run() {
    if (!arguments_.preview.empty()) draw();
    if (!output_.path.empty()) stream();
    files_.commit();
    progress_.end();
    print();
  }

 private:
  std::string shown_graph() const {
    return arguments_.words.back() == "-" ? "standard input" : arguments_.words.back();
  }

  void order_stripes() {
    if (!arguments_.preview.empty()) throw InvalidArgument("--preview draws rows; leave --order out");
    evaluator_.region = output_.region;
    if (sweeps(stream::Evaluator(graph_, evaluator_).plan()))
      throw InvalidArgument("an exact distance is computed in rows; for stripes give it a bound, 'max'");
    graph_ = stripes_of(graph_, output_.region, output_.stripe);
    output_.region = graph_->whole();
  }

  /// Rates are of what is written; where bits are packed that is less than what is computed.
  void read_rates() {
    const double computed = static_cast<double>(output_.region.width()) * static_cast<double>(size_of(output_.dtype));
    packing_ = output_.path.empty() ? 1 : computed / static_cast<double>(output_.row_bytes());
    if (!arguments_.rate.empty()) run_.rate = parse_rate("--rate", arguments_.rate) * packing_;
    if (!arguments_.min_rate.empty()) run_.min_rate = parse_rate("--min-rate", arguments_.min_rate) * packing_;
    if (run_.rate > 0 && run_.min_rate > run_.rate) throw InvalidArgument("--min-rate is above --rate");
  }

  void read_ack() {
    if (!output_.nameless)
      throw InvalidArgument("--ack listens to the reader of a pipe: it takes -o - or another pipe");
    if (arguments_.journal.empty()) throw InvalidArgument("--ack is kept in a journal: give --journal FILE");
    ack_ = parse_ack(arguments_.ack);
  }

  void draw() {
    progress_.begin("drawing");
    PreviewOptions options{evaluator_, std::nullopt};
    if (!arguments_.scale.empty()) options.scale = parse_count("--scale", arguments_.scale, 1, INT64_MAX);
    draw_preview(graph_, options, files_.add(arguments_.preview).stream());
  }

  /// Seconds that a band takes at most; of an exact distance 0: its first band takes as long as a pass over all rows.
  double measure_band(const stream::Plan& plan) {
    double longest = 0;
    if (sweeps(plan)) return longest;
    stream::Evaluator trial(graph_, evaluator_);
    Array band(output_.dtype, {plan.band.height, plan.band.width});
    for (std::int64_t k = 0; k < std::min<std::int64_t>(4, plan.bands); ++k) {
      const std::int64_t y = plan.region.y0 + k * plan.band.height, y1 = std::min(y + plan.band.height, plan.region.y1);
      const auto start = Clock::now();
      trial.compute({y, plan.region.x0, y1, plan.region.x1}, {band.data(), band.dtype(), {y1 - y, plan.band.width}});
      if (k > 0) longest = std::max(longest, seconds_since(start));  // the first one warms up
    }
    if (const double bytes = bytes_of_band(plan); bytes < run_.min_rate * longest)
      warn(fmt::format("bands were computed at {}, slower than --min-rate; more threads may do, or a lower rate",
                       rate_text(bytes / longest / packing_)));
    return longest;
  }

  double bytes_of_band(const stream::Plan& plan) const {
    return static_cast<double>(plan.band.area()) * static_cast<double>(size_of(output_.dtype));
  }

  /// As many bands ahead of the sink as hold it for a second, or eight times the longest that one took.
  void size_ring(const stream::Plan& plan, double longest) {
    constexpr double kLeastSeconds = 1, kLongest = 8, kMostBytes = 1e9;
    const double ahead = std::max(kLeastSeconds, kLongest * longest) * run_.min_rate;
    const double bands = std::ceil(std::min(ahead, kMostBytes) / bytes_of_band(plan)) + 1;
    run_.ring = static_cast<int>(std::clamp(bands, 2.0, static_cast<double>(std::max<std::int64_t>(2, plan.bands))));
  }

  /// The ring is as large as the memory allows without making bands smaller.
  stream::Evaluator with_ring(const stream::Plan& plan) {
    for (; run_.ring > 2; run_.ring = std::max(2, run_.ring / 2)) {
      evaluator_.bands = run_.ring;
      try {
        stream::Evaluator evaluator(graph_, evaluator_);
        if (evaluator.plan().band == plan.band) return evaluator;
      } catch (const InvalidArgument&) {  // it does not fit
      }
    }
    evaluator_.bands = 2;
    return stream::Evaluator(graph_, evaluator_);
  }

  stream::Evaluator make_evaluator() {
    stream::Evaluator evaluator(graph_, evaluator_);
    if (run_.min_rate > 0) {
      progress_.begin("measuring");
      const stream::Plan plan = evaluator.plan();
      size_ring(plan, measure_band(plan));
      evaluator = with_ring(plan);
    }
    const std::size_t needed = evaluator.plan().bytes();
    if (const auto free = free_memory(); !evaluator_.memory && free && needed > *free)
      throw IoError(fmt::format("the work needs {} of memory and this machine has {} free; --memory makes do with less",
                                memory_text(needed), memory_text(*free)));
    return evaluator;
  }

  Json about_work(const stream::Plan& plan) const {
    Json files = Json::object();
    for (const auto& entry : plan.entries)
      if (const NodeWords words = words_of(*entry.node); !words.file.empty()) files[words.file] = words.fingerprint;
    const Rectangle& region = plan.region;
    return {{"graph", stream::content_hash(*graph_)},
            {"files", files},
            {"dtype", fathom::name_of(output_.dtype)},
            {"region", {region.y0, region.y1, region.x0, region.x1}},
            {"band", plan.band.height},
            {"format", output_.format_name()},
            {"compress", output_.options.compress},
            {"order", arguments_.order},
            {"ack", ack_.has_value()}};
  }

  std::string unfinished() const { return output_.path + ".unfinished"; }

  std::int64_t rows_in_journal(const stream::Plan& plan) const {
    const std::int64_t bands = journal_ ? static_cast<std::int64_t>(journal_->bands().size()) : 0;
    return std::min(bands * plan.band.height, output_.region.height());
  }

  /// Where its reader says or said last, else behind the last band that the journal tells of.
  std::unique_ptr<RasterSink> open_pipe(const stream::Plan& plan) {
    const std::int64_t height = output_.region.height(), band = plan.band.height, done = rows_in_journal(plan),
                       row_bytes = output_.row_bytes();
    const std::int64_t known = ack_ ? journal_->acknowledged().value_or(0) : done * row_bytes;
    if (known > height * row_bytes)
      throw IoError(fmt::format("{} tells of {} bytes, and the stream has {}; remove the journal to begin anew",
                                arguments_.journal, known, height * row_bytes));
    const std::int64_t begin = resume_at_.value_or(known), rows = begin / row_bytes;
    run_.rows_done = rows == height ? rows : rows / band * band;
    if (journal_) run_.rows_done = std::min(run_.rows_done, done);  // it has no gaps
    if (journal_ && !ack_) journal_->cut(static_cast<std::size_t>((run_.rows_done + band - 1) / band));
    if (!resume_at_ && begin > 0) print_message(fmt::format("the stream goes on at byte {}", begin));
    io::AtomicFile& file = *(pipe_ = &files_.add(output_.path));
    auto sink = begin > 0 ? rest_of_stream(file, output_, run_.rows_done, begin)
                          : io::create_raster(file, output_.dtype, height, output_.region.width(), output_.options);
    if (!ack_) return sink;
    acknowledgements_.emplace(*ack_, begin, height * row_bytes, *journal_);
    return told_of(std::move(sink), *acknowledgements_, run_.rows_done * row_bytes, row_bytes);
  }

  /// Opens the output behind what is done already. Null: it is whole.
  std::unique_ptr<RasterSink> open_output(const stream::Plan& plan) {
    const std::int64_t height = output_.region.height(), width = output_.region.width();
    if (output_.nameless) return open_pipe(plan);
    if (!journal_) return io::create_raster(files_.add(output_.path), output_.dtype, height, width, output_.options);
    io::AtomicFile::check(output_.path);
    run_.rows_done = rows_in_journal(plan);
    if (run_.rows_done > 0 && !std::filesystem::exists(unfinished())) {
      if (run_.rows_done == height && std::filesystem::exists(output_.path)) return nullptr;
      throw IoError(fmt::format("{} is missing, of which {} tells; remove the journal to begin anew", unfinished(),
                                arguments_.journal));
    }
    return io::resume_raster(unfinished(), output_.dtype, height, width, output_.options, run_.rows_done);
  }

  void stream() {
    stream::Evaluator evaluator = make_evaluator();
    const stream::Plan& plan = evaluator.plan();
    if (!arguments_.journal.empty()) {
      if (!output_.nameless && std::filesystem::exists(unfinished()) && !std::filesystem::exists(arguments_.journal))
        throw IoError(fmt::format("{} is there, of which no {} tells; remove it to begin anew", unfinished(),
                                  arguments_.journal));
      journal_.emplace(arguments_.journal, about_work(plan));
    }
    const auto sink = open_output(plan);
    plan_ = plan;
    if (!sink) return;
    const double height = static_cast<double>(output_.region.height()),
                 share = static_cast<double>(run_.rows_done) / height;
    progress_.begin("streaming", output_.bytes(), share);
    run_.taken = [&](std::int64_t band, std::span<const std::byte> rows) {
      progress_.advance(std::min(1.0, static_cast<double>((band + 1) * plan.band.height) / height));
      if (!journal_) return;
      if (!holds_) hold_signals("the same command goes on from here");
      holds_ = true;
      journal_->add(band, stream::crc32c(0, rows));
      save(*sink);
    };
    if (journal_) run_.pausing = [&] { save(*sink); };
    report_ = stream::run(evaluator, *sink, run_);
    if (journal_) journal_->commit();
    if (journal_ && !output_.nameless) put_in_place();
    if (acknowledgements_) await_acknowledgements();
  }

  /// Bands were taken. A signal waits for them, and ends the command here.
  void save(RasterSink& sink) {
    if (!journal_->is_due() && !signal_waits()) return;
    sink.sync();
    journal_->commit();
    if (signal_waits()) leave();
  }

  void leave() {
    if (acknowledgements_) acknowledgements_->record();
    release_signals();
  }

  /// The reader sees the end of the pipe, and then has the last word.
  void await_acknowledgements() {
    pipe_->prepare();
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC),
              named = output_.path == "-" ? STDOUT_FILENO : io::descriptor_of(output_.path).value_or(-1);
    for (const int descriptor : {fileno(pipe_->stream()), named})
      if (descriptor >= 0 && nowhere >= 0) dup2(nowhere, descriptor);
    if (nowhere >= 0) close(nowhere);
    acknowledgements_->wait([&] {
      if (signal_waits()) leave();
    });
  }

  void put_in_place() const {
    std::error_code error;
    std::filesystem::rename(unfinished(), output_.path, error);
    if (error) throw IoError(fmt::format("{} cannot be written: {}", output_.path, error.message()));
    const std::filesystem::path folder = std::filesystem::absolute(output_.path).parent_path();
    if (const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); descriptor >= 0) {
      fsync(descriptor);  // some file systems have none for folders
      close(descriptor);
    }
  }

  double bytes_written() const { return static_cast<double>(report_.bytes) / packing_; }

  std::string margin_text() const {
    return std::isfinite(report_.least_margin) ? fmt::format("least margin {:.3g} s", report_.least_margin)
                                               : "no band after the first";
  }

  void print() const {
    if (arguments_.json) return print_line(json());
    std::string text;
    if (!output_.path.empty() && report_.seconds == 0) text += fmt::format("{}: is whole already\n", output_.path);
    else if (!output_.path.empty())
      text += fmt::format("{}: {}, {}, {}; {} in {:.3g} s, {}\n", shown(output_.path),
                          to_string(output_.region.shape()), fathom::name_of(output_.dtype), output_.format_name(),
                          bytes_text(bytes_written()), report_.seconds, rate_text(bytes_written() / report_.seconds));
    if (run_.min_rate > 0 && report_.seconds > 0)
      text +=
          fmt::format("at least {}: {} {}, {}, {} bands ahead\n", rate_text(run_.min_rate / packing_),
                      report_.underruns, report_.underruns == 1 ? "underrun" : "underruns", margin_text(), run_.ring);
    if (!arguments_.preview.empty()) text += fmt::format("{}: picture\n", arguments_.preview);
    print_report(text, {arguments_.output, arguments_.preview});
  }

  Json json() const {
    Json json = {{"operation", "stream"},
                 {"graph", arguments_.words.back()},
                 {"region", {output_.region.y0, output_.region.y1, output_.region.x0, output_.region.x1}},
                 {"dtype", fathom::name_of(output_.dtype)},
                 {"preview", text_or_null(arguments_.preview)}};
    if (output_.path.empty()) return json;
    json["output"] = {{"path", output_.path}, {"format", output_.format_name()}};
    json["order"] = arguments_.order;
    json["band_rows"] = plan_.band.height;
    json["begun_at_row"] = run_.rows_done;
    json["bytes"] = static_cast<std::int64_t>(bytes_written());
    json["seconds"] = {
        {"first", report_.first_seconds}, {"longest_band", report_.longest_band}, {"total", report_.seconds}};
    json["threads"] = plan_.threads;
    json["memory_bytes"] = plan_.bytes();
    json["device"] = text_or_null(plan_.device);
    if (run_.min_rate > 0) {
      json["ring"] = run_.ring;
      json["underruns"] = report_.underruns;
      json["least_margin"] = std::isfinite(report_.least_margin) ? Json(report_.least_margin) : Json(nullptr);
    }
    return json;
  }

  const StreamArguments& arguments_;
  stream::NodeIds ids_;
  stream::NodeRef graph_;
  StreamOutput output_;
  stream::EvaluatorOptions evaluator_;
  stream::RunOptions run_;
  stream::RunReport report_;
  stream::Plan plan_;
  double packing_ = 1;  ///< bytes that are computed for one that is written
  std::optional<std::int64_t> resume_at_;
  std::optional<int> ack_;  ///< descriptor
  io::AtomicFile* pipe_ = nullptr;
  std::optional<Journal> journal_;
  bool holds_ = false;  ///< signals
  PendingFiles files_;
  Progress progress_;
  std::optional<Acknowledgements> acknowledgements_;  ///< uses the journal, until it ends
};

int verify(const StreamArguments& arguments) {
  if (arguments.journal.empty()) throw InvalidArgument("verify compares a file with a journal: give --journal FILE");
  return verify_journal(arguments.words.back(), arguments.journal, arguments.json);
}

}  // namespace

Work declare_stream(CLI::App* verb) {
  const auto arguments = std::make_shared<StreamArguments>();
  StreamArguments& a = *arguments;
  verb->footer(kExamples);
  verb->formatter(std::make_shared<Usage>());
  verb->add_option("GRAPH", a.words,
                   "The graph's document, JSON; - for standard input. Before it check or explain, or verify and a file "
                   "that was streamed")
      ->required()
      ->expected(1, 2);
  verb->add_option("-o,--output", a.output, "Where the raster goes: .tif .npy .raw; - for standard output (NPY)");
  verb->add_option("--format", a.format, "tiff, npy or raw, whatever the ending of -o; raw bits are packed, 8 a byte");
  verb->add_flag("--compress", a.compress, "Deflate the TIFF of -o");
  verb->add_option("--region", a.region, "Only the pixels in Y0:Y1,X0:X1");
  verb->add_option("--order", a.order,
                   "rows (default); serpentine: odd rows reversed; stripes:WIDTH: one stripe after the other");
  verb->add_option("--journal", a.journal, "File that keeps what was done: after a crash the same command goes on");
  verb->add_option("--resume-at", a.resume_at, "Bytes of a raw stream that its reader has: go on behind them");
  verb->add_option(
      "--ack", a.ack,
      "Descriptor on which the reader of a raw stream says how many bytes of it it has, a line each time: a "
      "journal keeps that, and the same command goes on there");
  verb->add_option("--rate", a.rate, "Most bytes a second, such as 10MB/s");
  verb->add_option(
      "--min-rate", a.min_rate,
      "Bytes a second that the reader needs: computes bands ahead for a second of it or for eight bands' time "
      "before the first byte, and reports whether the reader had to wait");
  verb->add_option("--preview", a.preview, "Picture of the raster from few of its pixels, and of its middle, as PNG");
  verb->add_option("--scale", a.scale, "Pixels of the raster for one of the picture, each way (default: what fits)");
  verb->add_option("--backend", a.backend,
                   "auto (default), cpu or cuda: the same bytes. auto takes a device for large rasters of which it can "
                   "compute all");
  verb->add_option("--threads", a.threads, "Most threads; 0 for all processors (default)");
  verb->add_option("--memory", a.memory, "Most memory for the work, such as 200MB; with a device, of each of the two");
  verb->add_flag("--plan", a.plan, "Say how the raster would be computed, and what that takes; as explain");
  verb->add_flag("--json", a.json, "Print one line of JSON about the work");
  return [arguments] { return run_stream(*arguments); };
}

int run_stream(const StreamArguments& arguments) {
  const std::string action = arguments.words.size() > 1 ? arguments.words.front() : "";
  if (!action.empty() && !is_action(action))
    throw InvalidArgument(
        fmt::format("two words are an action and a file, and '{}' is none of check, explain and verify", action));
  if (const std::string& word = arguments.words.back();
      action.empty() && is_action(word) && !std::filesystem::exists(word))
    throw InvalidArgument(fmt::format("{} takes a file: fathom stream {} FILE", word, word));
  if (action == "verify") return verify(arguments);
  StreamWork work(arguments, action);
  if (action == "check") work.check();
  else if (action == "explain" || arguments.plan) work.plan();
  else work.run();
  return kDone;
}

}  // namespace fathom::cli
