// Which process this is: the one that loaded the module, or one forked from it, in which no other thread lives on.
#pragma once

#include <mutex>

namespace fathom::python {

/// How many forks lie between the process that loaded the module and this one.
int forks() noexcept;

/// To be held while locks are made anew that threads of the other process may hold for good.
std::mutex& renewing() noexcept;

}  // namespace fathom::python
