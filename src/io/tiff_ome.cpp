// OME's description of the pages, an XML document in the first directory.
// Source: The OME-TIFF specification and the OME schema 2016-06: elements Image, Pixels, Channel and TiffData.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <pugixml.hpp>
#include <set>

#include "fathom/core/error.h"
#include "io/numbers.h"
#include "io/tiff_meaning.h"
#include "io/units.h"

namespace fathom::io::tiff {

namespace {

constexpr std::size_t kNone = SIZE_MAX;

/// Whatever prefix the namespace has.
bool is_named(const pugi::xml_node& node, const char* name) {
  const char* colon = std::strchr(node.name(), ':');
  return std::strcmp(colon ? colon + 1 : node.name(), name) == 0;
}

std::vector<pugi::xml_node> children(const pugi::xml_node& parent, const char* name) {
  std::vector<pugi::xml_node> found;
  for (const pugi::xml_node& node : parent.children())
    if (is_named(node, name)) found.push_back(node);
  return found;
}

std::int64_t extent(const ByteSource& source, const pugi::xml_node& pixels, const char* name) {
  const long long value = pixels.attribute(name).as_llong(0);
  if (value < 1 || value > INT32_MAX) source.fail(std::string("has an OME description with an absurd ") + name);
  return value;
}

struct PlaneAxis {
  char name;
  std::int64_t extent;
};

/// Slowest first.
std::vector<PlaneAxis> plane_axes(const ByteSource& source, const pugi::xml_node& pixels, std::int64_t samples) {
  std::string order = pixels.attribute("DimensionOrder").as_string("XYZCT");
  std::string sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != "CTXYZ" || !order.starts_with("XY"))
    source.fail("has an OME description with an absurd DimensionOrder");
  std::vector<PlaneAxis> axes;
  for (std::size_t k = 4; k >= 2; --k) {
    const std::string name = std::string("Size") + order[k];
    std::int64_t count = extent(source, pixels, name.c_str());
    if (order[k] == 'C') {
      if (count % samples != 0) source.fail("has an OME description whose channels are not those of its pixels");
      count /= samples;
    }
    axes.push_back({static_cast<char>(std::tolower(order[k])), count});
  }
  return axes;
}

/// The page of each plane, as the TiffData elements say.
std::vector<std::size_t> pages_of(const ByteSource& source, const pugi::xml_node& pixels,
                                  const std::vector<PlaneAxis>& axes, std::size_t pages) {
  std::size_t planes = 1;
  for (const PlaneAxis& axis : axes)
    if (__builtin_mul_overflow(planes, static_cast<std::size_t>(axis.extent), &planes) || planes > pages)
      source.fail("says that it has more planes (OME) than the " + std::to_string(pages) +
                  " pages it holds; are they in several files? Save them as one");
  std::vector<std::size_t> page_of(planes, kNone);
  std::set<std::string> files;
  std::vector<pugi::xml_node> parts = children(pixels, "TiffData");
  for (const pugi::xml_node& part : parts) {
    for (const pugi::xml_node& id : children(part, "UUID"))
      if (id.attribute("FileName")) files.insert(id.attribute("FileName").as_string());
    std::size_t at = 0;
    for (const PlaneAxis& axis : axes) {
      const std::string name = std::string("First") + static_cast<char>(std::toupper(axis.name));
      const auto first = part.attribute(name.c_str()).as_ullong(0);
      if (first >= static_cast<unsigned long long>(axis.extent))
        source.fail("has an OME description with an absurd " + name);
      at = at * static_cast<std::size_t>(axis.extent) + static_cast<std::size_t>(first);
    }
    const auto page = static_cast<std::size_t>(part.attribute("IFD").as_ullong(0));
    const auto count = part.attribute("PlaneCount").as_ullong(part.attribute("IFD") ? 1 : planes);
    for (std::size_t k = 0; k < count && at + k < planes; ++k) page_of[at + k] = page + k;
  }
  if (files.size() > 1)
    source.fail("is one of " + std::to_string(files.size()) + " files of an OME data set; save them as one");
  if (parts.empty())
    for (std::size_t k = 0; k < planes; ++k) page_of[k] = k;
  for (std::size_t page : page_of)
    if (page >= pages) source.fail("has an OME description that leaves planes without a page");
  return page_of;
}

void take_size(const pugi::xml_node& pixels, const char* size, const char* unit, const char* usual, Axis& axis) {
  const double value = leading_number(pixels.attribute(size).as_string()).value_or(0);
  if (!std::isfinite(value) || value <= 0) return;
  axis.spacing = value;
  axis.unit = unit_named(pixels.attribute(unit).as_string(usual));
}

}  // namespace

bool read_ome(const ByteSource& source, const Tags& tags, const Page& first, std::size_t pages, Stack& stack,
              ImageInfo& info) {
  if (tags.description.find("OME") == std::string::npos || tags.description.find('<') == std::string::npos)
    return false;
  pugi::xml_document document;
  if (!document.load_buffer(tags.description.data(), tags.description.size())) return false;
  const pugi::xml_node root = document.document_element();
  if (!is_named(root, "OME")) return false;
  std::vector<pugi::xml_node> images;
  for (const pugi::xml_node& image : children(root, "Image"))
    for (const pugi::xml_node& pixels : children(image, "Pixels")) images.push_back(pixels);
  if (images.empty()) return false;
  if (images.size() > 1)
    info.warnings.push_back("holds " + std::to_string(images.size()) + " images (OME): the first is taken");
  const pugi::xml_node& pixels = images.front();
  if (extent(source, pixels, "SizeX") != first.width || extent(source, pixels, "SizeY") != first.height)
    source.fail("has an OME description of another size than its pages");

  const std::vector<PlaneAxis> axes = plane_axes(source, pixels, first.samples);
  stack.pages = pages_of(source, pixels, axes, pages);
  if (images.size() == 1 && stack.pages.size() < pages)
    info.warnings.push_back("has " + std::to_string(pages) + " pages, of which its OME description names " +
                            std::to_string(stack.pages.size()) + ": the others are left out");
  for (const PlaneAxis& one : axes) {
    if (one.extent == 1) continue;
    Axis axis = axis_named(one.name);
    if (one.name == 'z') take_size(pixels, "PhysicalSizeZ", "PhysicalSizeZUnit", "µm", axis);
    if (one.name == 't') take_size(pixels, "TimeIncrement", "TimeIncrementUnit", "s", axis);
    if (one.name == 'c')
      for (const pugi::xml_node& channel : children(pixels, "Channel"))
        axis.labels.push_back(channel.attribute("Name").as_string());
    const bool named = std::any_of(axis.labels.begin(), axis.labels.end(), [](auto& label) { return !label.empty(); });
    if (!named || static_cast<std::int64_t>(axis.labels.size()) != one.extent) axis.labels.clear();
    stack.axes.push_back(axis);
    stack.extents.push_back(one.extent);
  }
  take_size(pixels, "PhysicalSizeY", "PhysicalSizeYUnit", "µm", info.meaning.axes[0]);
  take_size(pixels, "PhysicalSizeX", "PhysicalSizeXUnit", "µm", info.meaning.axes[1]);
  return true;
}

}  // namespace fathom::io::tiff
