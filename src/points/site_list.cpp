#include "points/site_list.h"

#include <bit>

namespace fathom::points {

namespace {

/// @param copy  writes coordinates of the type that it is called with, and ids
template <class Copy>
SiteList list_of(DType dtype, std::int64_t count, int axes, const Copy& copy) {
  SiteList list{Array(dtype, {count, axes}), {}};
  list.ids.reserve(static_cast<std::size_t>(count));
  visit_coordinates(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    copy(reinterpret_cast<T*>(list.coordinates.data()), list.ids);
  });
  return list;
}

}  // namespace

SiteList sites_of(const Cloud& sites) {
  return list_of(sites.dtype, sites.count, sites.axes, [&]<class T>(T* out, std::vector<std::int64_t>& ids) {
    for (std::int64_t i = 0; i < sites.count; ++i) {
      for (int k = 0; k < sites.axes; ++k) *out++ = sites.get<T>(k, i);
      ids.push_back(i * sites.every);
    }
  });
}

SiteList sites_of(const Tree& tree) {
  if (tree.storage != Storage::sorted) return sites_of(tree.sites);
  const std::int64_t count = tree.count - tree.vacant;
  return list_of(tree.dtype, count, tree.axes, [&]<class T>(T* out, std::vector<std::int64_t>& ids) {
    const T* blocks = reinterpret_cast<const T*>(tree.blocks.data());
    for (std::int64_t leaf = 0; leaf < tree.leaves(); ++leaf)
      for (std::int64_t place = 0; place < tree.size_of_leaf(leaf); ++place) {
        for (int k = 0; k < tree.axes; ++k) *out++ = blocks[(leaf * tree.axes + k) * kSortedLeaf + place];
        ids.push_back(tree.ids[static_cast<std::size_t>(leaf * kSortedLeaf + place)]);
      }
  });
}

std::vector<std::int64_t> elements_of(std::span<const std::uint64_t> words, const Cell& extents, int axes) {
  std::vector<std::int64_t> elements;
  const Cell in_words = words_for(extents, axes);
  for (std::size_t i = 0; i < words.size(); ++i)
    for (std::uint64_t bits = words[i]; bits != 0; bits &= bits - 1) {
      const Cell word = cell_at(static_cast<std::int64_t>(i), in_words, axes);
      elements.push_back(linear_index(child_of(word, std::countr_zero(bits), axes), extents, axes));
    }
  return elements;
}

}  // namespace fathom::points
