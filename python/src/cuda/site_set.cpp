#include "cuda/site_set.h"

namespace fathom::python {

namespace nb = nanobind;

namespace {

constexpr auto kDevice = MemorySpace::device;

}  // namespace

SiteSet* site_set_on_device(const DeviceArray& sites, bool is_mask, const SetChoices& choices, std::uintptr_t stream) {
  const auto view = view_of<const std::byte, kDevice>(sites.raw());
  const auto build = [&] {
    const nb::gil_scoped_release unlocked;
    const points::SiteSetOptions options = choices.options(0);
    return is_mask ? points::SiteSet::of_mask(view, options, stream_at(stream))
                   : points::SiteSet(points::DeviceCoordinates(view), options, stream_at(stream));
  };
  return new SiteSet(build());
}

void nearest_on_device(const SiteSet& set, const DeviceArray& queries, const points::QueryOptions& options,
                       nb::handle direction, const DeviceArray* directions, const DeviceArray* half_angles,
                       const DeviceArray* distance, const DeviceArray* squared, const DeviceArray* site,
                       const DeviceArray* lower, std::uintptr_t stream) {
  const QueryAxes axes(set, options.k);
  const HostArray for_all(direction, HostArray::Access::read);
  points::QueryOptions own = options;
  own.cone.directions = view_of<const std::byte, MemorySpace::host>(for_all.raw());
  own.cone.device_directions = view_of<const std::byte, kDevice>(axes.points(raw(directions)));
  own.cone.device_half_angles = view_of<const std::byte, kDevice>(axes.numbers(raw(half_angles)));
  const auto answers = [&](const DeviceArray* array) { return view_of<std::byte, kDevice>(axes.answers(raw(array))); };
  const points::DeviceQueryOutputs out{answers(distance), answers(squared), answers(site), answers(lower)};
  const auto places = view_of<const std::byte, kDevice>(axes.points(queries.raw()));
  const nb::gil_scoped_release unlocked;
  const auto lock = set.asking();
  set.ask(places, own, out, stream_at(stream));
}

}  // namespace fathom::python
