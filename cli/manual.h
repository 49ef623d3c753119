// fathom help, man and completion: what the declarations of the verbs and their options say, for people and shells.
#pragma once

#include "verb.h"

namespace fathom::cli {

/// --help of the command, or of a verb.
Work declare_help(CLI::App* verb);

/// The manual page of the command, with all verbs, or of one verb, as roff.
Work declare_man(CLI::App* verb);

/// A script that lets bash, zsh or fish complete verbs, options, the values that have names, and files.
Work declare_completion(CLI::App* verb);

}  // namespace fathom::cli
