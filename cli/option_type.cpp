#include "option_type.h"

#include <CLI/CLI.hpp>
#include <string_view>

namespace fathom::cli {

namespace {

struct Row {
  std::string_view option;  ///< where one name means different things, with the verb before it
  std::string_view type;
  std::string_view values = "";
};

constexpr Row kRows[] = {
    {"--ack", "DESCRIPTOR"},
    {"--antialias", "COUNT"},
    {"--approx", "NUMBER"},
    {"--axes", "LETTERS"},
    {"--azimuth", "DEGREES"},
    {"--backend", "NAME", "auto cpu cuda"},
    {"--background", "LEVEL", "white black transparent"},
    {"--balls", "FILE"},
    {"--band", "NUMBER"},
    {"--channel", "CHANNEL"},
    {"--closest", "FILE"},
    {"--columns", "LIST"},
    {"--coordinates", "FILE"},
    {"--cutoff", "NUMBER"},
    {"--cylinder", "NUMBER"},
    {"--decimal", "SIGN"},
    {"--delimiter", "SIGN"},
    {"--devices", "LIST"},
    {"--direction", "FILE"},
    {"--distance", "FILE"},
    {"--distribution", "FILE"},
    {"--dtype", "TYPE"},
    {"--elevation", "DEGREES"},
    {"--format", "FORMAT"},
    {"--fov", "DEGREES"},
    {"--gamma", "NUMBER"},
    {"--inlets", "FILE", "faces"},
    {"--inside", "FILE"},
    {"--jobs", "COUNT"},
    {"--journal", "FILE"},
    {"--k", "COUNT"},
    {"--margin", "COUNT"},
    {"--max-distance", "NUMBER"},
    {"--memory", "BYTES"},
    {"--metric", "NAME", "euclidean taxicab chessboard"},
    {"--min-rate", "RATE"},
    {"--ndim", "COUNT"},
    {"--nearest", "FILE"},
    {"--no-data", "VALUE"},
    {"--order", "NAME", "rows serpentine stripes:"},
    {"--origin", "LIST"},
    {"--output", "FILE"},
    {"--perforate", "COUNT"},
    {"--period", "LIST"},
    {"--points", "FILE"},
    {"--preview", "FILE"},
    {"--projection", "NAME", "perspective orthographic"},
    {"--pruning", "NAME", "constant linear square-root"},
    {"--radius", "NUMBER"},
    {"--rate", "RATE"},
    {"--region", "RANGES"},
    {"--repeat", "COUNT"},
    {"--resolution", "COUNT"},
    {"--resume-at", "BYTES"},
    {"--rule", "NAME", "nonzero even-odd positive"},
    {"--samples", "FILE"},
    {"--scale", "COUNT"},
    {"--shape", "LIST"},
    {"--sign", "NAME", "auto none pseudonormal winding fast-winding"},
    {"--sites", "RULE"},
    {"--size", "SIZE"},
    {"--spacing", "LIST"},
    {"--step", "NAME", "unit field pointwise cone"},
    {"--storage", "NAME", "auto sorted boxed plain"},
    {"--surface", "NAME", "faces centers"},
    {"--thickness", "NUMBER"},
    {"--threads", "COUNT"},
    {"--threshold", "NUMBER"},
    {"--title", "TITLE"},
    {"--tolerance", "NUMBER"},
    {"--triangles", "FILE"},
    {"--units", "UNIT"},
    {"--up", "AXIS", "x y z -x -y -z"},
    {"--witness", "FILE"},
    {"--zoom", "NUMBER"},
    {"completion SHELL", "", "bash zsh fish"},
    {"distance --border", "LIST", "open sites periodic"},
    {"expand --border", "LIST", "open sites periodic"},
    {"expand --ties", "NAME", "first lowest"},
    {"fill --border", "LIST", "open sites periodic"},
    {"medial-axis --ties", "NAME", "both thin"},
    {"morphology --border", "NAME", "ignore pad background"},
    {"morphology OP", "",
     "erosion dilation opening closing gradient white-top-hat black-top-hat remove-thin fill-thin"},
    {"query --cone", "LIST"},
    {"render --cone", "DEGREES"},
};

}  // namespace

OptionType type_of(const CLI::App& verb, const CLI::Option& option) {
  const std::string name = option.get_positional() ? option.get_name(true) : "--" + option.get_lnames().front();
  for (const Row& row : kRows)
    if (row.option == name || row.option == verb.get_name() + " " + name)
      return {std::string(row.type), std::string(row.values)};
  return {};
}

void show_types(CLI::App& verb) {
  for (CLI::Option* option : verb.get_options()) option->type_name(type_of(verb, *option).name);
}

}  // namespace fathom::cli
