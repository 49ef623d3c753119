#include "pending_files.h"

#include "interrupt.h"

namespace fathom::cli {

void PendingFiles::commit() {
  for (const auto& file : files_) file->prepare();
  hold_signals();
  try {
    for (const auto& file : files_) file->commit();
  } catch (...) {
    release_signals();
    throw;
  }
}

}  // namespace fathom::cli
