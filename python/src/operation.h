// Operations are written once for arrays wherever they lie: as templates over the kind of array. nanobind picks:
//
//   template <class A>
//   void example(const A& x, const A* out, nanobind::object progress) {
//     ExampleOptions options;
//     run(x, options.execution, std::move(progress),
//         [&](auto... stream) { fathom::example(view_of<const std::byte, A::kSpace>(x.raw()), options, …, stream...); });
//   }
//   for_each_kind([&]<class A>(Kind<A>) { m.def("example", &example<A>, …); });
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#include "device_array.h"
#include "host_array.h"
#include "watch.h"

namespace fathom::python {

template <class A>
struct Kind {};

/// Calls define(Kind<A>) for each kind of array.
template <class Define>
void for_each_kind(const Define& define) {
  define(Kind<HostArray>());
  define(Kind<DeviceArray>());
}

/// Runs work() between arrays of the host, watched and without the interpreter's lock.
template <class Work>
void run(const HostArray&, Execution& execution, nanobind::object progress, Work&& work) {
  run_watched(std::move(progress), execution, [&] { work(); });
}

/// Runs work(stream) between arrays of a device, without the interpreter's lock. Of a launch there is nothing to tell
/// but that it is made.
template <class Work>
void run(const DeviceArray& x, Execution&, nanobind::object progress, Work&& work) {
  {
    const nanobind::gil_scoped_release unlocked;
    work(x.stream());
  }
  if (!progress.is_none()) progress(1.0);
}

/// What the library takes last for work between arrays: who may stop it, or the stream that it is put on.
inline const Execution& order_of(const HostArray&, const Execution& execution) { return execution; }
inline Stream order_of(const DeviceArray& array, const Execution&) { return array.stream(); }

}  // namespace fathom::python
