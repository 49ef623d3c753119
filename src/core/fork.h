// What fork() leaves behind: one thread, and locks that others held.
#pragma once

namespace fathom {

/// Whether this process was forked from one that had loaded the library. Of its threads only the one that forked is
/// here, and whatever the others held stays held: oneTBB must not be used, nor CUDA if it was in use before.
bool is_forked() noexcept;

}  // namespace fathom
