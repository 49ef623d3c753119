// Nearest sites without any index: tiles of sites, turned into columns of double once, against one query after another.
// The paper's exhaustive pass. Cost: queries × sites; what passes through memory is the sites, once for each batch of
// queries.
#include "core/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "points/cpu/scan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "points/cpu/kernel-inl.h"
#include "points/cpu/search.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::points::cpu::HWY_NAMESPACE {

template <class Kernel>
class Scan {
 public:
  using Value = typename Kernel::Value;
  static constexpr int kAxes = Kernel::kAxisCount;
  static constexpr std::int64_t kTile = 1024;  ///< 24 KiB in 3D: stays in the first-level cache

  explicit Scan(const ScanJob& job)
      : job_(job), sites_(job.tree->sites), request_(*job.request), kernel_(request_.period) {
    if (!request_.cones.present) return;
    for (std::int64_t q = job.begin; q < job.end; ++q) cones_.push_back(cone_of(request_.cones, q));
  }

  void run() {
    for (std::int64_t first = job_.first; first < job_.last; first += kTile) {
      const std::int64_t size = std::min(kTile, job_.last - first);
      for (std::int64_t at = 0; at < size; at += kBlock)
        gather_block<kAxes>(sites_, first + at, std::min<std::int64_t>(kBlock, size - at), tile_ + at, kTile);
      for (std::int64_t q = job_.begin; q < job_.end; ++q) add_tile(q, first, size);
    }
  }

 private:
  void add_tile(std::int64_t query, std::int64_t first, std::int64_t size) {
    auto* list = static_cast<Candidate<Value>*>(job_.lists) + (query - job_.begin) * request_.k;
    const Candidate<Value>& worst = list[request_.k - 1];
    kernel_.set_query(place_of(request_, query));
    alignas(64) Value squared[kBlock];
    for (std::int64_t at = 0; at < size; at += kBlock) {
      const std::int64_t left = size - at;
      std::uint32_t near = kernel_.distances(tile_ + at, kTile, worst.squared, squared) & first_bits(left);
      for (; near != 0; near &= near - 1) {
        const int j = std::countr_zero(near);
        const std::int64_t position = first + at + j;
        const Candidate<Value> candidate{squared[j], position * sites_.every, position};
        if (!comes_before(candidate.squared, candidate.id, worst)) continue;
        if (cones_.empty() || in_cone(query, candidate)) insert(list, request_.k, candidate);
      }
    }
  }

  bool in_cone(std::int64_t query, const Candidate<Value>& candidate) const {
    const std::array<double, 3> place = place_of(request_, query);
    double offset[kAxes];
    for (int k = 0; k < kAxes; ++k) offset[k] = sites_.at(k, candidate.position) - place[static_cast<std::size_t>(k)];
    return holds(cones_[static_cast<std::size_t>(query - job_.begin)], offset, static_cast<double>(candidate.squared),
                 kAxes);
  }

  const ScanJob& job_;
  const Cloud& sites_;
  const Request& request_;
  Kernel kernel_;
  std::vector<ConeOfQuery> cones_;
  alignas(64) double tile_[kAxes * kTile];
};

template <int kAxes>
void scan_axes(const ScanJob& job) {
  if (job.wide) return Scan<WideKernel<kAxes>>(job).run();
  visit_metric(job.request->metric, [&](auto metric) {
    job.request->periodic() ? Scan<RealKernel<double, kAxes, true, metric>>(job).run()
                            : Scan<RealKernel<double, kAxes, false, metric>>(job).run();
  });
}

void scan_sites(const ScanJob& job) { job.tree->axes == 2 ? scan_axes<2>(job) : scan_axes<3>(job); }

}  // namespace fathom::points::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::points::cpu {

void scan(const ScanJob& job, InstructionSet instruction_set) { FATHOM_COMPILED_FOR(instruction_set, scan_sites)(job); }

}  // namespace fathom::points::cpu
#endif
