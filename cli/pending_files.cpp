#include "pending_files.h"

#include "interrupt.h"

namespace fathom::cli {

void PendingFiles::commit() {
  for (const auto& file : files_) file->prepare();
  hold_signals();
  for (const auto& file : files_) file->commit();
}

}  // namespace fathom::cli
