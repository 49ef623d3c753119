// What `reproduce` knows of a paper: what it printed, and the steps that measure the same here.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fathom/core/execution.h"

namespace fathom::cli {

/// Where measurements are made.
struct Machine {
  bool device = false;  ///< on the current CUDA device; else on the CPU
  bool quick = false;   ///< --quick: small inputs, few runs
  std::string name;     ///< of the processor
  std::string device_name;
  int threads = 1;

  Execution execution() const {
    Execution execution;
    execution.backend = device ? Backend::cuda : Backend::cpu;
    return execution;
  }
};

struct Paper {
  std::string key;                             ///< what it is called on the command line, and its files
  std::string title, authors, year, hardware;  ///< as it says itself
};

/// One number of a table, or several of the same thing.
struct Row {
  std::string table;                              ///< "Table 1 (c), GTX 580": rows of one table follow one another
  std::string row, column, unit;                  ///< "Step 1", "VTV-VTV", "ms"
  std::optional<double> paper;                    ///< only where its text prints it
  std::optional<double> published = {}, fathom = {}, copy = {};  ///< its algorithm, Fathom, copying the output, here
  std::string note = {};
};

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

/// A figure of the paper with our curves. Those of several steps under one name are one: curves of one name are joined.
struct Figure {
  std::string name;  ///< "Figure 7 (a): running time in 2D"
  std::string x, y;  ///< what the axes count, with units
  std::vector<Curve> curves;
  bool log_x = false, log_y = false;
  std::string note = {};
};

/// What a step found.
struct Outcome {
  std::vector<Row> rows;
  std::vector<Figure> figures;
  std::vector<std::string> left_out;  ///< what was not measured, and why: sentences
};

/// A part of the work that is kept when it is done; seconds, not minutes.
struct Step {
  std::string name;   ///< unique in its study
  double weight = 1;  ///< how long it takes, as a share of the study's steps; seconds if you know them
  /// Every timed result is checked first. @throws InternalError a result is wrong; Error it cannot be measured
  std::function<Outcome()> run;
};

struct Study {
  Paper paper;
  std::vector<std::string> replaced;   ///< inputs that the paper does not ship, and what stands for them: sentences
  std::vector<std::string> corrected;  ///< slips of the paper, and what is done instead: sentences
  std::vector<Step> steps;
};

/// @param machine  steps may keep copies
Study cao_study(const Machine& machine);
Study khan_study(const Machine& machine);
Study landgraf_study(const Machine& machine);
Study man_study(const Machine& machine);
Study pellet_study(const Machine& machine);

}  // namespace fathom::cli
