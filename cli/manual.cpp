#include "manual.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "completion.h"
#include "exit_code.h"
#include "fathom/core/error.h"
#include "option_type.h"
#include "report.h"
#include "suggestion.h"

namespace fathom::cli {

namespace {

/// A verb by its name; the command itself for none.
const CLI::App& find_verb(const CLI::App& command, const std::string& name) {
  if (name.empty()) return command;
  std::vector<std::string> names;
  for (const CLI::App* verb : command.get_subcommands({})) {
    if (verb->get_name() == name) return *verb;
    names.push_back(verb->get_name());
  }
  const std::string meant = suggestion(name, names);
  throw InvalidArgument(fmt::format("'{}' is no verb; {}", name, meant.empty() ? "see fathom --help" : meant));
}

/// Text as roff shows it: a backslash or a dash is one, and no line is a command.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if ((out.empty() || out.back() == '\n') && (c == '.' || c == '\'')) out += "\\&";
    out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  }
  return out;
}

std::string man_options(const CLI::App& verb) {
  std::string text;
  for (const CLI::Option* option : verb.get_options()) {
    const std::string type = type_of(verb, *option).name;
    const std::string name = option->get_positional() ? option->get_name(true) : option->get_name(false, true);
    text += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(name), type.empty() ? "" : " \\fI" + type + "\\fR",
                        roff(option->get_description()));
  }
  return text;
}

std::string man_synopsis(const CLI::App& verb) {
  std::string text = fmt::format("\\fBfathom {}\\fR", verb.get_name());
  for (const CLI::Option* option : verb.get_options())
    if (option->get_positional())
      text += option->get_required() ? fmt::format(" \\fI{}\\fR", option->get_name(true))
                                     : fmt::format(" [\\fI{}\\fR]", option->get_name(true));
  return text + " [\\fIoptions\\fR]\n";
}

std::string man_verb(const CLI::App& verb) {
  std::string text = man_synopsis(verb) + ".PP\n" + roff(verb.get_description()) + ".\n" + man_options(verb);
  if (!verb.get_footer().empty()) text += ".PP\n.nf\n" + roff(verb.get_footer()) + "\n.fi\n";
  return text;
}

std::string man_page(const CLI::App& command, const CLI::App& topic) {
  const bool whole = &topic == &command;
  const std::string name = whole ? "fathom" : "fathom-" + topic.get_name();
  std::string title = name;
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string text = fmt::format(".TH {} 1 \"\" \"fathom {}\"\n.SH NAME\n{} \\- {}\n", title, FATHOM_VERSION,
                                 roff(name), roff(topic.get_description()));
  if (!whole) return text + ".SH SYNOPSIS\n" + man_verb(topic);
  text += ".SH SYNOPSIS\n";
  for (const CLI::App* verb : command.get_subcommands({})) text += man_synopsis(*verb) + ".br\n";
  text += ".SH VERBS\n";
  for (const CLI::App* verb : command.get_subcommands({}))
    text += fmt::format(".SS {}\n", verb->get_name()) + man_verb(*verb);
  return text + fmt::format(".SH OPTIONS\n{}", man_options(command));
}

/// Work that prints what `text` makes of the command and the verb that is named, if one is.
Work declare_topic(CLI::App* verb, std::function<std::string(const CLI::App& command, const CLI::App& topic)> text) {
  const auto topic = std::make_shared<std::string>();
  verb->add_option("VERB", *topic, "One of the verbs; all without it");
  return [topic, text = std::move(text), command = verb->get_parent()] {
    print_text(text(*command, find_verb(*command, *topic)));
    return kDone;
  };
}

}  // namespace

Work declare_help(CLI::App* verb) {
  return declare_topic(verb, [](const CLI::App& command, const CLI::App& topic) {
    const std::string name = &topic == &command ? "fathom" : "fathom " + topic.get_name();
    return topic.get_formatter()->make_help(&topic, name, CLI::AppFormatMode::Normal);  // help() gives that of `help`
  });
}

Work declare_man(CLI::App* verb) {
  verb->footer("Example:\n  fathom man | man -l -");
  return declare_topic(verb, man_page);
}

Work declare_completion(CLI::App* verb) {
  verb->footer(
      "Examples:\n  fathom completion bash > ~/.local/share/bash-completion/completions/fathom\n"
      "  fathom completion zsh > \"${fpath[1]}/_fathom\"\n"
      "  fathom completion fish > ~/.config/fish/completions/fathom.fish");
  const auto shell = std::make_shared<std::string>();
  verb->add_option("SHELL", *shell, "bash, zsh or fish")->required();
  return [shell, command = verb->get_parent()] {
    print_text(completion_of(*command, *shell));
    return kDone;
  };
}

}  // namespace fathom::cli
