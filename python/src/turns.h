// Who may look at a set and who may change it, when many threads do.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <utility>

#include "forks.h"

namespace fathom::python {

/// Any number ask at once, or one edits. Whoever waits to edit is not overtaken by those who come to ask after it: by
/// itself a std::shared_mutex of glibc would let them pass. To be waited for without the interpreter's lock.
///
/// A forked process starts with nobody at work. What was being edited when it was forked stays half done there.
class Turns {
 public:
  /// A thread asks as long as this lives. It may ask again meanwhile, out of a progress function; these end before.
  class Asking {
   public:
    /// @throws std::runtime_error what is asked was left half done
    explicit Asking(Turns& turns) : turns_(&turns), outer_(innermost) {
      turns.settle_after_fork();
      turns.refuse_amid_edit();
      if (!turns.asked_here()) {
        // Who asks already is not to wait for those who wait to edit, who may be waiting for it.
        if (outer_ == nullptr) {
          const std::lock_guard behind_edits(turns.gate_);
        }
        lock_ = std::shared_lock(turns.mutex_);
      }
      innermost = this;
    }
    ~Asking() {
      innermost = outer_;
      if (forks_ != forks()) lock_.release();  // of a lock that is no more
    }
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;

   private:
    friend class Turns;
    const Turns* turns_;
    const Asking* outer_;
    const int forks_ = forks();
    std::shared_lock<std::shared_mutex> lock_;
    static inline thread_local const Asking* innermost = nullptr;
  };

  /// A thread edits as long as this lives.
  class Editing {
   public:
    /// @throws std::runtime_error this thread asks: it would wait for itself; or what is edited was left half done
    explicit Editing(Turns& turns) : turns_(turns) {
      turns.settle_after_fork();
      turns.refuse_amid_edit();
      if (turns.asked_here()) throw std::runtime_error("progress may not edit the set that is asked");
      const std::lock_guard first(turns.gate_);
      lock_ = std::unique_lock(turns.mutex_);
      turns.editing_ = true;
      outer_ = std::exchange(edited_here, &turns);
    }
    ~Editing() {
      edited_here = outer_;
      turns_.editing_ = false;
    }
    Editing(const Editing&) = delete;
    Editing& operator=(const Editing&) = delete;

   private:
    friend class Turns;
    Turns& turns_;
    const Turns* outer_ = nullptr;
    static inline thread_local const Turns* edited_here = nullptr;
    std::unique_lock<std::shared_mutex> lock_;
  };

 private:
  bool asked_here() const {
    const Asking* asking = Asking::innermost;
    while (asking != nullptr && asking->turns_ != this) asking = asking->outer_;
    return asking != nullptr;
  }

  /// A signal's handler that came amid an edit would wait for itself.
  void refuse_amid_edit() const {
    if (Editing::edited_here == this)
      throw std::runtime_error("a signal's handler may not use the set whose edit it interrupted");
  }

  /// Makes the locks anew once this is another process.
  void settle_after_fork() {
    if (forks_ != forks()) {
      const std::lock_guard lock(renewing());
      if (forks_ != forks()) {
        std::construct_at(&gate_);
        std::construct_at(&mutex_);
        half_done_ = half_done_ || editing_;
        forks_ = forks();
      }
    }
    if (half_done_)
      throw std::runtime_error(
          "the set was being edited when this process was forked, and nobody knows its sites here; build it anew");
  }

  std::mutex gate_;  ///< held while waiting to edit, and for a moment before asking
  std::shared_mutex mutex_;
  std::atomic<bool> editing_ = false, half_done_ = false;
  std::atomic<int> forks_ = forks();
};

}  // namespace fathom::python
