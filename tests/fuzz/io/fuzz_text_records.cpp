// Feeds text to the tokenizer: whatever it is, the records found in a whole text and in the same text read a few bytes at
// a time are the same, with the same numbers of lines, and their fields lie in the text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "fathom/core/error.h"
#include "io/text_records.h"

namespace {

using namespace fathom::io;
using namespace fathom::io::text;

/// All that is found, in one string.
std::string records_in(std::span<const std::byte> bytes, char delimiter, std::size_t expected, std::size_t piece) {
  MemorySource source("fuzz", bytes);
  TextBuffer buffer(source, piece, std::uint64_t{1} << 20);
  Splitter splitter(delimiter);
  splitter.set_expected(expected);
  std::vector<Field> fields;
  std::string found;
  while (!(buffer.whole() && buffer.text().empty())) {
    const Record record = splitter.next(buffer.text(), buffer.whole(), fields);
    if (record.kind == Record::Kind::unfinished) {
      if (buffer.whole()) std::abort();
      buffer.read_more();
      continue;
    }
    if (record.kind == Record::Kind::broken) return found + record.fault;
    if (record.bytes == 0 || record.bytes > buffer.text().size()) std::abort();
    found += std::to_string(static_cast<int>(record.kind)) + " " + std::to_string(record.lines) + "\n";
    for (const Field& field : fields) found += to_string(field) + "\1";
    buffer.consume(record.bytes);
  }
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  for (const char delimiter : {',', ';', '\t', kBlanks})
    for (const std::size_t expected : {0u, 2u}) {
      const std::string whole = records_in(bytes, delimiter, expected, size + 1);
      for (const std::size_t piece : {1u, 2u, 7u})
        if (records_in(bytes, delimiter, expected, piece) != whole) std::abort();
    }
  return 0;
}
