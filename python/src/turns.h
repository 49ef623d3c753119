// Who may look at a set and who may change it, when many threads do.
#pragma once

#include <mutex>
#include <shared_mutex>
#include <stdexcept>

namespace fathom::python {

/// Any number ask at once, or one edits. Whoever waits to edit is not overtaken by those who come to ask after it: by
/// itself a std::shared_mutex of glibc would let them pass. To be waited for without the interpreter's lock.
class Turns {
 public:
  /// A thread asks as long as this lives. It may ask again meanwhile, out of a progress function; these end before.
  class Asking {
   public:
    explicit Asking(Turns& turns) : turns_(&turns), outer_(innermost) {
      if (!turns.asked_here()) {
        // Who asks already is not to wait for those who wait to edit, who may be waiting for it.
        if (outer_ == nullptr) {
          const std::lock_guard behind_edits(turns.gate_);
        }
        lock_ = std::shared_lock(turns.mutex_);
      }
      innermost = this;
    }
    ~Asking() { innermost = outer_; }
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;

   private:
    friend class Turns;
    const Turns* turns_;
    const Asking* outer_;
    std::shared_lock<std::shared_mutex> lock_;
    static inline thread_local const Asking* innermost = nullptr;
  };

  /// @throws std::runtime_error this thread asks: it would wait for itself
  std::unique_lock<std::shared_mutex> edit() {
    if (asked_here()) throw std::runtime_error("progress may not edit the set that is asked");
    const std::lock_guard first(gate_);
    return std::unique_lock(mutex_);
  }

 private:
  bool asked_here() const {
    const Asking* asking = Asking::innermost;
    while (asking != nullptr && asking->turns_ != this) asking = asking->outer_;
    return asking != nullptr;
  }

  std::mutex gate_;  ///< held while waiting to edit, and for a moment before asking
  std::shared_mutex mutex_;
};

}  // namespace fathom::python
