#include "stream/cuda/steps.h"

#include <cmath>

#include "core/root.hd.h"
#include "fathom/core/error.h"
#include "stream/cuda/near.h"
#include "stream/distance.h"
#include "stream/planner.h"

namespace fathom::stream::cuda {

namespace {

using fathom::cuda::check;

constexpr std::int64_t kMostRoots = 1 << 18;  ///< in a table; float's roots tell four times as many apart

int bits_of(DType dtype) { return dtype == DType::boolean ? 1 : static_cast<int>(8 * size_of(dtype)); }

std::size_t bytes_of(const Rectangle& part, DType dtype) {
  return static_cast<std::size_t>(part.area()) * size_of(dtype);
}

}  // namespace

Steps::Steps(const std::vector<Plan::Entry>& entries, Kept& tables, std::size_t first_table)
    : entries_(entries), tables_(tables), first_table_(first_table) {
  for (const Plan::Entry& entry : entries_) operations_.push_back(entry.node->operation());
  find_roots();
}

bool Steps::is_exact(std::size_t k) const {
  const auto* far = as<operation::Far>(k);
  return far && far->options.max == INFINITY;
}

void Steps::find_roots() {
  roots_.resize(entries_.size());
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    const Plan::Entry& entry = entries_[k];
    const Node& node = *entry.node;
    const auto of_child = [&](std::size_t child) { return roots_[entry.children[child]]; };
    const auto* look = as<operation::Look>(k);
    const auto* masked = as<operation::Masked>(k);
    if (const auto* far = as<operation::Far>(k); far && !far->options.signed_distance) {
      const double diagonal = std::hypot(static_cast<double>(node.height()), static_cast<double>(node.width())),
                   most = std::ceil(std::min(far->options.max / node.pixel().size, diagonal)) + 1;
      roots_[k] = static_cast<std::int64_t>(std::min(most * most, 1e18));
    } else if ((look && look->ratio == 0) || (masked && masked->background == 0)) {
      roots_[k] = of_child(0);
    } else if (const auto* copies = as<operation::Copies>(k); copies && copies->blending.background == 0 &&
                                                              copies->blending.blend != Blend::sum &&
                                                              copies->blending.blend != Blend::mean) {
      roots_[k] = of_child(0);
      for (std::size_t child = 1; child < entry.children.size(); ++child)
        if (node.children()[child].role != Role::mask)
          roots_[k] = std::min(roots_[k], of_child(child)) == 0 ? 0 : std::max(roots_[k], of_child(child));
    }
  }
}

/// Of all values of its children.
bool Steps::has_table(std::size_t k) const {
  int bits = 0;
  for (const std::size_t child : entries_[k].children)
    bits +=
        entries_[child].node->dtype() == DType::float32 ? Table::kMostBits + 1 : bits_of(entries_[child].node->dtype());
  return bits <= Table::kMostBits;
}

bool Steps::can_compute(std::size_t k, std::size_t limit) const {
  if (!operations_[k]) return false;
  const Plan::Entry& entry = entries_[k];
  if (as<operation::Function>(k))
    return has_table(k) || as<operation::Function>(k)->arithmetic ||
           (entry.children.size() == 1 && roots_[entry.children[0]] > 0);
  if (!is_exact(k)) return true;
  const Rectangle whole = entry.node->whole();
  constexpr double kLeast = 8;  // bytes of a pixel
  if (kLeast * static_cast<double>(whole.height()) * static_cast<double>(whole.width()) > static_cast<double>(limit))
    return false;
  const std::size_t bytes =
      bytes_of(whole, DType::float32) + bytes_of(whole, entries_[entry.children[0]].node->dtype());
  return bytes + grid_scratch(k, whole, whole) <= limit / 2;
}

Rectangle Steps::need_of(std::size_t k, std::size_t child, const Rectangle& part) const {
  const Node& node = *entries_[k].node;
  const auto* copies = as<operation::Copies>(k);
  if (!copies) return node.need(child, part);
  const Role role = node.children()[child].role;
  Rectangle need;
  for (const Placement& copy : copies->in(part))
    if (role == Role::mask || role == Role::weight || static_cast<std::size_t>(copy.child) == child) {
      const Rectangle seen = intersection(node.children()[child].node->whole().moved(copy.y, copy.x), part);
      need = around(need, seen.moved(-copy.y, -copy.x));
    }
  return need;
}

std::size_t Steps::grid_scratch(std::size_t k, const Rectangle& from, const Rectangle& part) const {
  const Node& node = *entries_[k].node;
  grid::DeviceDistanceOutputs outputs;
  outputs.distance = AnyDeviceView(nullptr, DType::float32, part.shape());
  return grid::scratch_bytes(
      AnyConstDeviceView(nullptr, node.children()[0].node->dtype(), from.shape()),
      grid_options(as<operation::Far>(k)->options, node.pixel().size, part.moved(-from.y0, -from.x0)), outputs);
}

/// One entry's, for one part.
class Steps::Step {
 public:
  Step(Steps& steps, std::size_t k, const Rectangle& part, const Patch& to, const std::vector<Patch>& patches,
       Walk& walk)
      : steps_(steps), k_(k), entry_(steps.entries_[k]), part_(part), to_(to), patches_(patches), walk_(walk) {}

  bool operator()(const operation::Function& how) {
    if (!steps_.has_table(k_)) return how.arithmetic ? calculate_pixels(*how.arithmetic) : look_up_distances(how);
    Table table;
    for (std::size_t child = 0; child < entry_.children.size(); ++child) {
      table.children[child] = of_child(child);
      table.bits[child] = bits_of(type_of(child));
    }
    table.count = static_cast<int>(entry_.children.size());
    table.values = values_of(how, table);
    if (!walk_.counts) look_up(table, to_, walk_.stream);
    return true;
  }
  bool operator()(const operation::OfPlace& how) { return calculate_pixels(how.arithmetic); }
  bool operator()(const operation::Noise& how) {
    if (!walk_.counts) make_noise(how.seed, to_, walk_.stream);
    return true;
  }
  bool operator()(const operation::Look& how) {
    const Node& child = *entry_.node->children()[0].node;
    if (!walk_.counts) look(how, of_child(0), {child.height(), child.width()}, to_, walk_.stream);
    return true;
  }
  bool operator()(const operation::Masked& how) {
    if (!walk_.counts) set_masked(of_child(0), of_child(1), how.background, to_, walk_.stream);
    return true;
  }
  bool operator()(const operation::Limit& how) {
    if (!walk_.counts) limit(of_child(0), how, to_, walk_.stream);
    return true;
  }
  bool operator()(const operation::Dither& how) {
    const double* const limits = table<double>(how.limits.size(), [&] { return how.limits; });
    if (!walk_.counts) dither(of_child(0), limits, how.side, to_, walk_.stream);
    return true;
  }
  bool operator()(const operation::Copies& how) {
    const std::vector<Placement> copies = how.in(part_);
    std::vector<Patch> children;
    CopyLists lists;
    for (std::size_t child = 0; child < entry_.children.size(); ++child) {
      children.push_back(of_child(child));
      if (entry_.node->children()[child].role == Role::mask) lists.mask = of_child(child);
      if (entry_.node->children()[child].role == Role::weight) lists.weight = of_child(child);
    }
    lists.across = (part_.width() + CopyLists::kSide - 1) / CopyLists::kSide;
    const auto [starts, numbers] = copies_of_squares(copies, lists.across);
    const Copied<Placement> of_copies(walk_, copies);
    const Copied<Patch> of_children(walk_, children);
    const Copied<std::int32_t> of_starts(walk_, starts), of_numbers(walk_, numbers);
    lists.copies = of_copies.data();
    lists.children = of_children.data();
    lists.starts = of_starts.data();
    lists.numbers = of_numbers.data();
    if (!walk_.counts) blend(lists, how.blending, to_, walk_.stream);
    return true;
  }
  bool operator()(const operation::Resident&) { return true; }  // there is nothing to do
  bool operator()(const operation::Far& how) {
    const Node& node = *entry_.node;
    const double unit = node.pixel().size, steps = how.options.max / unit;
    const int reach =
        steps < NearDistance::kMostReach ? static_cast<int>(std::ceil(steps)) : NearDistance::kMostReach + 1;
    if (!how.options.signed_distance && fits_block(reach)) {
      const double most = how.options.max * (unit == std::floor(unit) ? 1 : 1 + 0x1p-50);  // as grid has it
      auto square = static_cast<std::uint32_t>(reach * reach);
      while (exact_sqrt(square) * unit > most) --square;
      const Taken bits(walk_, near_scratch_bytes(stream::size_of(part_), reach));
      if (!walk_.counts)
        find_near(of_child(0), {reach, square, unit, how.options.to_zero}, bits.data(), to_, walk_.stream);
      return true;
    }
    const Rectangle from = node.need(0, part_);
    if (walk_.counts) {
      const std::size_t bytes = steps_.grid_scratch(k_, from, part_);
      walk_.count(bytes);
      walk_.now -= bytes;
      return true;
    }
    const Patch mask = of_child(0).of(from);
    grid::DeviceDistanceOutputs outputs;
    outputs.distance = AnyDeviceView(to_.data, DType::float32, part_.shape(), {to_.pitch, 1});
    grid::distance_transform(AnyConstDeviceView(mask.data, mask.dtype, from.shape(), {mask.pitch, 1}),
                             grid_options(how.options, unit, part_.moved(-from.y0, -from.x0)), outputs,
                             Stream{walk_.stream});
    return true;
  }

 private:
  DType type_of(std::size_t child) const { return steps_.entries_[entry_.children[child]].node->dtype(); }
  Patch of_child(std::size_t child) const {
    const Child& there = entry_.node->children()[child];
    return patches_[entry_.children[child]].moved(there.y, there.x);
  }

  bool calculate_pixels(const Arithmetic& steps) {
    Calculation calculation;
    calculation.steps = steps;
    calculation.count = static_cast<int>(entry_.children.size());
    for (std::size_t child = 0; child < entry_.children.size(); ++child) calculation.children[child] = of_child(child);
    if (!walk_.counts) calculate(calculation, to_, walk_.stream);
    return true;
  }

  /// Values on the device, made once.
  template <class T, class Make>
  const T* table(std::size_t count, const Make& make) {
    const std::size_t number = steps_.first_table_ + k_, bytes = count * sizeof(T);
    const bool is_new = steps_.tables_.add(number, bytes, walk_);
    if (walk_.counts) return nullptr;
    std::byte* const data = steps_.tables_[number].memory->data();
    if (is_new)
      check(cudaMemcpyAsync(data, make().data(), bytes, cudaMemcpyHostToDevice, walk_.stream), "copying a table");
    return reinterpret_cast<const T*>(data);
  }

  const float* values_of(const operation::Function& how, const Table& from) {
    int bits = 0;
    for (int child = 0; child < from.count; ++child) bits += from.bits[child];
    return table<float>(std::size_t{1} << bits, [&] {
      std::vector<float> values(std::size_t{1} << bits);
      std::vector<double> of(static_cast<std::size_t>(from.count));
      for (std::size_t index = 0; index < values.size(); ++index) {
        std::size_t left = index;
        for (std::size_t child = 0; child < of.size(); left >>= from.bits[child++])
          of[child] = static_cast<double>(left & ((std::size_t{1} << from.bits[child]) - 1));
        values[index] = static_cast<float>(how.value(of));
      }
      return values;
    });
  }

  /// By their squares. Where the table has not all that there may be, the device says whether it had all that there
  /// are.
  bool look_up_distances(const operation::Function& how) {
    const std::size_t child = entry_.children[0];
    const double unit = steps_.entries_[child].node->pixel().size;
    const std::int64_t all = steps_.roots_[child], count = std::min(all, kMostRoots);
    const float* const values = table<float>(static_cast<std::size_t>(count) + 1, [&] {
      std::vector<float> made;
      for (std::int64_t square = 0; square <= count; ++square) {  // the last one's is that of +inf
        const double d =
            square < count ? distance_from_squared<float>(static_cast<std::uint64_t>(square), unit) : INFINITY;
        made.push_back(static_cast<float>(how.value(std::span(&d, 1))));
      }
      return made;
    });
    const Taken missed(walk_, sizeof(int));
    if (walk_.counts) return true;
    int beyond = 0;
    auto* const flag = reinterpret_cast<int*>(missed.data());
    if (count < all) {
      refuse_capture(walk_.stream);
      check(cudaMemsetAsync(flag, 0, sizeof(int), walk_.stream), "clearing memory");
    }
    look_up_roots(of_child(0), {values, count, unit, count < all ? flag : nullptr}, to_, walk_.stream);
    if (count == all) return true;
    check(cudaMemcpyAsync(&beyond, flag, sizeof(int), cudaMemcpyDeviceToHost, walk_.stream), "copying from the device");
    check(cudaStreamSynchronize(walk_.stream), "looking up distances");
    return beyond == 0;
  }

  /// For the squares of the part: which copies each has, in the order of their blending.
  std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>> copies_of_squares(
      const std::vector<Placement>& copies, std::int64_t across) const {
    constexpr std::int64_t kSide = CopyLists::kSide;
    const std::int64_t squares = across * ((part_.height() + kSide - 1) / kSide);
    const auto each = [&](const auto& use) {
      for (std::size_t n = 0; n < copies.size(); ++n) {
        const Placement& copy = copies[n];
        const Node& child = *entry_.node->children()[static_cast<std::size_t>(copy.child)].node;
        const Rectangle seen = intersection(child.whole().moved(copy.y, copy.x), part_).moved(-part_.y0, -part_.x0);
        if (seen.empty()) continue;
        for (std::int64_t y = seen.y0 / kSide; y * kSide < seen.y1; ++y)
          for (std::int64_t x = seen.x0 / kSide; x * kSide < seen.x1; ++x)
            use(static_cast<std::size_t>(y * across + x), static_cast<std::int32_t>(n));
      }
    };
    std::vector<std::int32_t> starts(static_cast<std::size_t>(squares) + 1);
    std::int64_t all = 0;
    each([&](std::size_t square, std::int32_t) {
      ++starts[square + 1];
      ++all;
    });
    if (all > INT32_MAX) throw InvalidArgument("more than 2³¹ copies lie in a part; compute smaller parts");
    for (std::size_t square = 1; square < starts.size(); ++square) starts[square] += starts[square - 1];
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(all)), next = starts;
    each([&](std::size_t square, std::int32_t n) { numbers[static_cast<std::size_t>(next[square]++)] = n; });
    return {std::move(starts), std::move(numbers)};
  }

  Steps& steps_;
  const std::size_t k_;
  const Plan::Entry& entry_;
  const Rectangle& part_;
  const Patch& to_;
  const std::vector<Patch>& patches_;
  Walk& walk_;
};

bool Steps::launch(std::size_t k, const Rectangle& part, const Patch& to, const std::vector<Patch>& patches,
                   Walk& walk) {
  return std::visit(Step(*this, k, part, to, patches, walk), operations_[k]->what);
}

}  // namespace fathom::stream::cuda
