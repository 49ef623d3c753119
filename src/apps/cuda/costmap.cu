// Costmaps on a device: grid's squared distances, then thread = cell looks up its cost.
#include "apps/cuda/arrays.h"
#include "apps/cuda/costmap.h"
#include "apps/cuda/elements.cuh"
#include "apps/cuda/masks.h"
#include "core/cuda/capture.h"
#include "core/cuda/scratch.h"
#include "fathom/core/error.h"
#include "fathom/grid/mark_sites.h"

namespace fathom::apps::cuda {

namespace {

struct Cost {
  static constexpr int kElements = 1;

  const std::uint32_t* squared;
  const std::uint8_t* unknown;  ///< null: all are known
  const std::uint8_t* table;
  std::uint32_t known_costs;  ///< in the table
  std::uint8_t* cost;

  __device__ void operator()(const Place<1>& place) const {
    const std::uint32_t square = squared[place.number];
    const bool is_unknown = unknown && unknown[place.number] != 0;
    cost[place.at[0]] = is_unknown ? kUnknownCost : square < known_costs ? table[square] : 0;
  }
};

/// Of one call.
struct Memory {
  std::uint8_t *occupied = nullptr, *unknown = nullptr, *table = nullptr;
  std::uint32_t* squared = nullptr;
  std::size_t bytes = 0;

  Memory(const CostmapCall& call, const Shape& map, bool wants_cost, std::byte* base) {
    fathom::cuda::Scratch scratch(base);
    const std::int64_t cells = element_count(map);
    if (call.options.unknown) occupied = scratch.take<std::uint8_t>(cells), unknown = scratch.take<std::uint8_t>(cells);
    if (wants_cost) {
      squared = scratch.take<std::uint32_t>(cells);
      table = scratch.take<std::uint8_t>(static_cast<std::int64_t>(call.table.size()));
    }
    bytes = scratch.bytes();
  }
};

/// What the transform reads.
AnyConstDeviceView cells_of(const CostmapCall& call, const AnyConstDeviceView& map, const Memory& memory) {
  return call.options.unknown ? AnyConstDeviceView(DeviceView<const std::uint8_t>(memory.occupied, map.shape())) : map;
}

grid::DeviceDistanceOutputs wanted(const DeviceCostmapOutputs& outputs, const Shape& map, const Memory& memory) {
  grid::DeviceDistanceOutputs transform;
  transform.nearest = outputs.nearest;
  if (outputs.cost.present()) transform.squared = DeviceView<std::uint32_t>(memory.squared, map);
  return transform;
}

}  // namespace

std::size_t costmap_scratch_bytes(const CostmapCall& call, const AnyConstDeviceView& map,
                                  const DeviceCostmapOutputs& outputs) {
  const Memory none(call, map.shape(), outputs.cost.present(), nullptr);
  return none.bytes +
         grid::scratch_bytes(cells_of(call, map, none), call.transform, wanted(outputs, map.shape(), none));
}

std::string costmap(const CostmapCall& call, const AnyConstDeviceView& map, const DeviceCostmapOutputs& outputs,
                    Stream stream) {
  const int device = device_of({{map, "map"}, {outputs.cost, "cost"}, {outputs.nearest, "nearest"}}, stream);
  const fathom::cuda::OnDevice on_device(device);
  const cudaStream_t native = fathom::cuda::native(stream);
  const bool wants_cost = outputs.cost.present();
  if (wants_cost && fathom::cuda::is_capturing(native))
    throw InvalidArgument(
        "costs cannot be captured into a graph, which would look for their table in the host's memory; capture nearest "
        "alone");
  const fathom::cuda::DeviceMemory block(Memory(call, map.shape(), wants_cost, nullptr).bytes, native);
  const Memory memory(call, map.shape(), wants_cost, block.data());
  if (call.options.unknown) {
    const AnyDeviceView occupied = DeviceView<std::uint8_t>(memory.occupied, map.shape());
    const AnyDeviceView unknown = DeviceView<std::uint8_t>(memory.unknown, map.shape());
    grid::mark_sites(map, call.options.occupied, occupied, stream);
    grid::mark_sites(map, *call.options.unknown, unknown, stream);
    clear_object(unknown, occupied, native);
  }
  grid::distance_transform(cells_of(call, map, memory), call.transform, wanted(outputs, map.shape(), memory), stream);
  if (wants_cost) {
    fathom::cuda::check(
        cudaMemcpyAsync(memory.table, call.table.data(), call.table.size(), cudaMemcpyHostToDevice, native),
        "copying costs");
    for_each_element<1>(map.shape(), {outputs.cost.strides()},
                        Cost{memory.squared, memory.unknown, memory.table,
                             static_cast<std::uint32_t>(call.table.size()), outputs.cost.as<std::uint8_t>().data()},
                        "looking up costs", native);
  }
  return describe_device(device).name;
}

}  // namespace fathom::apps::cuda
