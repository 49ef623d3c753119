#include "completion.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string_view>

#include "fathom/core/error.h"
#include "option_type.h"

namespace fathom::cli {

namespace {

/// "-o --output": the names of an option with their dashes; empty for what stands without a name.
std::string names_of(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames()) names += fmt::format("{}-{}", names.empty() ? "" : " ", name);
  for (const std::string& name : option.get_lnames()) names += fmt::format("{}--{}", names.empty() ? "" : " ", name);
  return names;
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

std::string verb_names(const CLI::App& command) {
  std::string names;
  for (const CLI::App* verb : command.get_subcommands({})) names += verb->get_name() + " ";
  return names;
}

/// What stands where an option's value or an argument does: names, or nothing, which means files.
std::string values_of(const CLI::App& command, const CLI::App& verb, const CLI::Option& option) {
  return option.get_positional() && option.get_name(true) == "VERB" ? verb_names(command)
                                                                    : type_of(verb, option).values;
}

/// Values after the options that have some; else options where a dash was typed; else what the verb's arguments are.
/// Nothing found means files to bash.
std::string bash(const CLI::App& command) {
  std::string options, values;
  for (const CLI::App* verb : command.get_subcommands({})) {
    std::string names, words;
    for (const CLI::Option* option : verb->get_options()) {
      const std::string known = values_of(command, *verb, *option), name = names_of(*option);
      names += name + (name.empty() ? "" : " ");
      if (option->get_positional()) words += known;
      else if (!known.empty()) values += fmt::format("    \"{} {}\") words=\"{}\" ;;\n", verb->get_name(), name, known);
    }
    options += fmt::format("    {}) options=\"{}\" words=\"{}\" ;;\n", verb->get_name(), names, words);
  }
  return fmt::format(R"(# bash completion for fathom
_fathom() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} options= words=
  [[ $current == = ]] && current=
  [[ $previous == = ]] && previous=${{COMP_WORDS[COMP_CWORD-2]}}
  case ${{COMP_WORDS[1]}} in
{}  esac
  [[ $current == -* ]] && words=$options
  [[ $COMP_CWORD == 1 ]] && words="{}--help --version"
  case "${{COMP_WORDS[1]}} $previous" in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _fathom fathom
)",
                     options, verb_names(command), values);
}

std::string zsh(const CLI::App& command) {
  const auto quoted = [](const std::string& text) { return replaced(text, "'", "'\\''"); };
  const auto bare = [&](const std::string& text) {  // brackets and colons mean something to _arguments
    return quoted(replaced(replaced(replaced(text, "[", "\\["), "]", "\\]"), ":", "\\:"));
  };
  std::string verbs, cases;
  for (const CLI::App* verb : command.get_subcommands({})) {
    verbs += fmt::format("    '{}:{}'\n", verb->get_name(), bare(verb->get_description()));
    cases += fmt::format("    {}) _arguments", verb->get_name());
    for (const CLI::Option* option : verb->get_options()) {
      const std::string known = values_of(command, *verb, *option), type = type_of(*verb, *option).name;
      const std::string action = known.empty() ? "_files" : "(" + known + ")", name = names_of(*option);
      if (option->get_positional()) {
        cases += fmt::format(" \\\n      ':{}:{}'", option->get_name(true), action);
        continue;
      }
      const std::string rest = fmt::format("[{}]{}", bare(option->get_description()),
                                           type.empty() ? "" : fmt::format(":{}:{}", type, action));
      cases += name.find(' ') == std::string::npos
                   ? fmt::format(" \\\n      '{}{}'", name, rest)
                   : fmt::format(" \\\n      '({})'{{{}}}'{}'", name, replaced(name, " ", ","), rest);
    }
    cases += " ;;\n";
  }
  return fmt::format(R"(#compdef fathom
_fathom() {{
  local -a verbs=(
{}  )
  if (( CURRENT == 2 )); then
    _describe verb verbs
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
{}  esac
}}
_fathom "$@"
)",
                     verbs, cases);
}

std::string fish(const CLI::App& command) {
  const auto quoted = [](const std::string& text) {
    return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
  };
  std::string text = "# fish completion for fathom\n";
  for (const CLI::App* verb : command.get_subcommands({})) {
    text += fmt::format("complete -c fathom -f -n __fish_use_subcommand -a {} -d {}\n", verb->get_name(),
                        quoted(verb->get_description()));
    for (const CLI::Option* option : verb->get_options()) {
      const std::string known = values_of(command, *verb, *option);
      text += fmt::format("complete -c fathom -n '__fish_seen_subcommand_from {}'", verb->get_name());
      for (const std::string& name : option->get_snames()) text += " -s " + name;
      for (const std::string& name : option->get_lnames()) text += " -l " + name;
      if (!known.empty()) text += " -x -a " + quoted(known);
      else if (option->get_positional() || !type_of(*verb, *option).name.empty()) text += " -r -F";
      else text += " -f";
      text += " -d " + quoted(option->get_description()) + "\n";
    }
  }
  return text;
}

}  // namespace

std::string completion_of(const CLI::App& command, const std::string& shell) {
  if (shell == "bash") return bash(command);
  if (shell == "zsh") return zsh(command);
  if (shell == "fish") return fish(command);
  throw InvalidArgument(fmt::format("completion is for bash, zsh or fish, not '{}'", shell));
}

}  // namespace fathom::cli
