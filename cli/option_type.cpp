#include "option_type.h"

#include <CLI/CLI.hpp>
#include <string_view>

#include "fathom/grid/distance.h"

namespace fathom::cli {

namespace {

struct Row {
  std::string_view option;  ///< where one name means different things, with the verb before it
  std::string_view type;
  std::string_view values = "";
};

constexpr Row kRows[] = {
    {"--ack", "DESCRIPTOR"},
    {"--algorithm", "NAME", "pba proximate jfa skw brute list"},
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
    {"--cutoff", "NUMBER"},
    {"--cylinder", "NUMBER"},
    {"--decimal", "SIGN"},
    {"--delimiter", "SIGN"},
    {"--devices", "LIST"},
    {"--direction", "FILE"},
    {"--distance", "FILE"},
    {"--distribution", "FILE"},
    {"--dot-size", "NUMBER"},
    {"--dots", "COUNT"},
    {"--dtype", "TYPE"},
    {"--edges", "FILE"},
    {"--elevation", "DEGREES"},
    {"--format", "FORMAT"},
    {"--fov", "DEGREES"},
    {"--gamma", "NUMBER"},
    {"--inflation", "NUMBER"},
    {"--ink", "COLOUR"},
    {"--inlets", "FILE", "faces"},
    {"--inscribed", "NUMBER"},
    {"--inside", "FILE"},
    {"--iterations", "COUNT"},
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
    {"--occupied", "RULE"},
    {"--order", "NAME", "rows serpentine stripes:"},
    {"--origin", "LIST"},
    {"reproduce --output", "DIR"},
    {"--output", "FILE"},
    {"--pad", "NUMBER"},
    {"--paper", "COLOUR"},
    {"--perforate", "COUNT"},
    {"--period", "LIST"},
    {"--points", "FILE"},
    {"--preview", "FILE"},
    {"--projection", "NAME", "perspective orthographic"},
    {"--pruning", "NAME", "constant linear square-root"},
    {"--radius", "NUMBER"},
    {"--range", "NUMBER"},
    {"--rate", "RATE"},
    {"--region", "RANGES"},
    {"--repeat", "COUNT"},
    {"--resume-at", "BYTES"},
    {"--rule", "NAME", "nonzero even-odd positive"},
    {"--samples", "FILE"},
    {"--scale", "COUNT"},
    {"--scaling", "NUMBER"},
    {"--seed", "COUNT"},
    {"--shape", "LIST"},
    {"--sign", "NAME", "auto none pseudonormal winding fast-winding"},
    {"--sites", "RULE"},
    {"--size", "SIZE"},
    {"--spacing", "LIST"},
    {"--step", "NAME", "unit field pointwise cone"},
    {"--storage", "NAME", "auto sorted boxed plain"},
    {"--supersample", "COUNT"},
    {"--surface", "NAME", "faces centers"},
    {"--table", "FILE"},
    {"--thickness", "NUMBER"},
    {"--threads", "COUNT"},
    {"--threshold", "NUMBER"},
    {"--title", "TITLE"},
    {"--tolerance", "NUMBER"},
    {"--triangles", "FILE"},
    {"--units", "UNIT"},
    {"--unknown", "RULE"},
    {"--up", "AXIS", "x y z -x -y -z"},
    {"--weights", "FILE"},
    {"--witness", "FILE"},
    {"--zoom", "NUMBER"},
    {"completion SHELL", "", "bash zsh fish"},
    {"costmap --resolution", "NUMBER"},
    {"distance --border", "LIST", "open sites periodic"},
    {"expand --border", "LIST", "open sites periodic"},
    {"expand --ties", "NAME", "first lowest"},
    {"fill --border", "LIST", "open sites periodic"},
    {"medial-axis --ties", "NAME", "both thin"},
    {"mesh --resolution", "COUNT"},
    {"morphology --border", "NAME", "ignore pad background"},
    {"morphology OP", "",
     "erosion dilation opening closing gradient white-top-hat black-top-hat remove-thin fill-thin"},
    {"query --cone", "LIST"},
    {"render --cone", "DEGREES"},
    {"reproduce PAPER", "", "khan pellet cao landgraf man"},
};

}  // namespace

OptionType type_of(const CLI::App& verb, const CLI::Option& option) {
  const std::string name = option.get_positional() ? option.get_name(true) : "--" + option.get_lnames().front();
  for (const Row& row : kRows)
    if (row.option == name || row.option == verb.get_name() + " " + name)
      return {std::string(row.type), std::string(row.values)};
  OptionType type;
  grid::PerOutput<char> each;
  grid::for_each_output(
      [&](const grid::OutputKind& kind, char) {
        if (name == "--" + std::string(kind.name)) type.name = "FILE";
      },
      each);
  return type;
}

void show_types(CLI::App& verb) {
  for (CLI::Option* option : verb.get_options()) option->type_name(type_of(verb, *option).name);
}

}  // namespace fathom::cli
