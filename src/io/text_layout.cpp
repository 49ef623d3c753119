// The delimiter is the one that makes the most numbers of the first records; a first record without numbers holds
// names, as may the comment before the first point (CloudCompare, numpy.savetxt); a first record that is one whole
// number says how many points follow (PTS), or atoms after a line of anything (molecules as XYZ).
#include "io/text_layout.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "io/sizes.h"
#include "io/text_number.h"

namespace fathom::io::text {

namespace {

struct Sampled {
  std::vector<Field> fields;
  std::size_t offset = 0;  ///< of its first byte
  std::size_t end = 0;     ///< behind its line end
  std::int64_t line = 1;
  std::int64_t next_line = 1;
};

constexpr std::size_t kMostRecords = 64;

/// The first records from a place on, up to the first broken one. What the sample cuts off counts only if it is the
/// first.
std::vector<Sampled> sample_records(std::string_view sample, bool whole, char delimiter, std::size_t offset,
                                    std::int64_t line) {
  const Splitter splitter(delimiter);
  std::vector<Sampled> records;
  Sampled next;
  while (records.size() < kMostRecords && offset < sample.size()) {
    Record record = splitter.next(sample.substr(offset), whole, next.fields);
    if (record.kind == Record::Kind::unfinished && records.empty())
      record = splitter.next(sample.substr(offset), true, next.fields);
    if (record.kind == Record::Kind::unfinished || record.kind == Record::Kind::broken) break;
    next.offset = offset;
    next.line = line;
    next.end = offset += record.bytes;
    next.next_line = line += record.lines;
    if (record.kind == Record::Kind::fields) records.push_back(std::move(next));
  }
  return records;
}

bool is_number(const Field& field) { return looks_numeric(field.text) || has_groups(field.text); }
bool is_value(const Field& field) { return is_number(field) || is_missing(field.text); }
bool is_empty(const Field& field) { return field.text.empty() && !field.quoted; }

std::optional<std::int64_t> whole_number(const std::vector<Field>& fields) {
  if (fields.size() != 1) return std::nullopt;
  const auto number = parsed<std::int64_t>(fields[0].text);
  return number && *number >= 0 ? number : std::nullopt;
}

/// Whether all records have as many fields, but for a count before them and the one name less that R writes.
bool even(const std::vector<Sampled>& records) {
  const std::size_t first = whole_number(records[0].fields) ? 1 : 0, fields = records.back().fields.size();
  for (std::size_t k = first; k < records.size(); ++k)
    if (records[k].fields.size() != fields && (k > first || records[k].fields.size() + 1 != fields)) return false;
  return true;
}

/// How well a delimiter cuts the records: into points at all, evenly, into numbers rather than words, into many fields.
std::array<std::int64_t, 4> fitness(const std::vector<Sampled>& records) {
  std::array<std::int64_t, 4> result = {0, even(records), 0, static_cast<std::int64_t>(records[0].fields.size())};
  for (const Sampled& record : records) {
    const std::int64_t numbers = std::count_if(record.fields.begin(), record.fields.end(), is_number);
    if (numbers == 0) continue;  // names
    result[0] |= numbers >= 2;
    result[2] += 2 * numbers - static_cast<std::int64_t>(record.fields.size());
  }
  if (result[0] == 0) result[1] = result[2] = 0;
  else result[3] = 0;
  return result;
}

/// @param decimal  a comma divides columns only where nothing else does; 0: not known
char find_delimiter(std::string_view sample, bool whole, char decimal) {
  constexpr std::array kCandidates = {';', '\t', ',', '|', kBlanks};  // of equally good ones the first
  char best = kBlanks;
  std::array<std::int64_t, 4> most{};
  for (const char candidate : kCandidates) {
    const auto records = sample_records(sample, whole, candidate, 0, 1);
    if (records.empty() || (candidate == ',' && decimal == ',')) continue;
    const auto now = fitness(records);
    if (now > most) {
      best = candidate;
      most = now;
    }
  }
  return decimal == ',' && most[0] == 0 ? ',' : best;
}

std::vector<Column> columns_of(const std::vector<Field>& fields) {
  std::vector<Column> columns;
  for (const Field& field : fields) columns.push_back({to_string(field), true});
  return columns;
}

class LayoutFinder {
 public:
  LayoutFinder(const ByteSource& source, std::string_view sample, bool whole, const PointOptions& options, bool first)
      : source_(source), sample_(sample), whole_(whole), options_(options), first_(first) {}

  Layout find() {
    take_excel_delimiter();
    if (layout_.delimiter == 0) layout_.delimiter = 
          find_delimiter(sample_.substr(layout_.skip_bytes), whole_, options_.decimal);
    records_ = rest();
    if (records_.empty()) fail_without_records();
    if (const auto count = whole_number(records_[0].fields)) take_count(*count);
    if (!layout_.molecule) take_names();
    choose_columns();
    find_decimal();
    return std::move(layout_);
  }

 private:
  std::vector<Sampled> rest() const {
    return sample_records(sample_, whole_, layout_.delimiter, layout_.skip_bytes, layout_.skip_lines + 1);
  }

  [[noreturn]] void fail_without_records() const {
    std::vector<Field> fields;
    std::int64_t line = layout_.skip_lines + 1;
    for (std::size_t at = layout_.skip_bytes; at < sample_.size();) {
      const Record record = Splitter(layout_.delimiter).next(sample_.substr(at), true, fields);
      if (record.fault) source_.fail("has in line " + std::to_string(line) + " " + record.fault);
      at += record.bytes;
      line += record.lines;
    }
    source_.fail("holds no points");
  }

  void skip(const Sampled& record) {
    layout_.skip_bytes = record.end;
    layout_.skip_lines = record.next_line - 1;
  }

  /// "sep=;" as a first line.
  void take_excel_delimiter() {
    layout_.delimiter = options_.delimiter;
    if (lower_case(sample_.substr(0, 4)) != "sep=" || sample_.size() < 5) return;
    const std::size_t end = sample_.find_first_of("\r\n", 5);
    if (end != 5) return;
    if (layout_.delimiter == 0) layout_.delimiter = sample_[4];
    layout_.skip_bytes = sample_.substr(end).starts_with("\r\n") ? end + 2 : end + 1;
    layout_.skip_lines = 1;
    begin_ = layout_.skip_bytes;
  }

  void take_count(std::int64_t count) {
    if (take_molecule(count)) return;
    if (records_.size() < 2) return;
    if (whole_number(records_[1].fields) && records_.size() > 2 && records_[2].fields.size() == 3)
      source_.fail(
          "begins with two whole numbers, each in a line, as PTX scans do; save the points as PTS, PLY or CSV");
    if (records_[1].fields.size() < 2) return;
    layout_.announced = count;
    skip(records_[0]);
    records_.erase(records_.begin());
    first_ = true;
  }

  /// The count, a line of anything, then in each line an element and three numbers.
  bool take_molecule(std::int64_t count) {
    const std::string_view text = sample_.substr(records_[0].end);
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const std::size_t skipped = end + (text.substr(end).starts_with("\r\n") ? 2 : end < text.size() ? 1 : 0);
    const auto atoms = sample_records(sample_, whole_, kBlanks, records_[0].end + skipped, records_[0].next_line + 1);
    if (atoms.empty() || atoms[0].line != records_[0].next_line + 1 || atoms[0].fields.size() < 4) return false;
    const auto& fields = atoms[0].fields;
    const bool numbers = std::all_of(fields.begin() + 1, fields.begin() + 4, is_number);
    const bool comment_holds_point = records_.size() > 1 && records_[1].line == records_[0].next_line &&
                                     std::count_if(records_[1].fields.begin(), records_[1].fields.end(), is_number) > 1;
    const std::string_view comment = text.substr(0, end);
    const std::size_t properties = comment.find("Properties=");
    if (properties == std::string_view::npos && (!numbers || (is_number(fields[0]) && comment_holds_point)))
      return false;
    layout_.delimiter = kBlanks;
    layout_.announced = count;
    layout_.molecule = true;
    layout_.skip_bytes = records_[0].end + skipped;
    layout_.skip_lines = records_[0].next_line;
    records_ = atoms;
    layout_.columns.resize(fields.size());
    const std::size_t place = properties == std::string_view::npos ? 1 : position_in(comment.substr(properties + 11));
    for (std::size_t k = 0; k < fields.size(); ++k) layout_.columns[k].numeric = is_value(fields[k]);
    for (std::size_t k = 0; k < 3 && place + k < fields.size(); ++k) layout_.columns[place + k].name = "xyz"[k];
    if (comment.find("Lattice=") != std::string_view::npos)
      warn("the lattice of the cell is left out; --period gives a periodic box");
    return true;
  }

  /// Columns before the positions in "species:S:1:pos:R:3".
  std::size_t position_in(std::string_view properties) const {
    properties = properties.substr(properties.starts_with('"') ? 1 : 0);
    properties = properties.substr(0, properties.find_first_of("\" \t"));
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at <= properties.size();) {
      const std::size_t end = std::min(properties.find(':', at), properties.size());
      words.push_back(properties.substr(at, end - at));
      at = end + 1;
    }
    std::size_t place = 0;
    for (std::size_t k = 0; k + 2 < words.size(); k += 3) {
      std::size_t width = 0;
      std::from_chars(words[k + 2].data(), words[k + 2].data() + words[k + 2].size(), width);
      if (words[k] == "pos" && width == 3) return place;
      place += std::min<std::size_t>(width, sample_.size());
    }
    source_.fail("has Properties without pos:R:3 in line 2, so that the places of its atoms are not known");
  }

  /// Names in the first record, or in the comment before it.
  void take_names() {
    const auto& fields = records_[0].fields;
    const bool words = !std::all_of(fields.begin(), fields.end(), is_value);
    const bool values = std::any_of(fields.begin(), fields.end(),
                                    [](const Field& field) { return is_value(field) && !field.text.empty(); });
    if (words && (!values || name_coordinates(columns_of(fields), options_))) {
      use_as_names();
      return fit_names();
    }
    if (words && names_a_number())
      source_.fail(
          "has in line " + std::to_string(records_[0].line) +
          " words and numbers, and whether it names the columns is not certain; give names that are no numbers");
    take_numbers_as_names();
    if (!layout_.columns.empty()) return;
    take_names_of_comment();
  }

  /// The last comment before the first point whose words name coordinates, if it has as many as the point.
  void take_names_of_comment() {
    const std::size_t values = values_in(records_[0].fields);
    std::size_t other = 0;
    const auto comments = comments_before(records_[0].offset);
    for (auto comment = comments.rbegin(); comment != comments.rend(); ++comment)
      for (const char delimiter : {layout_.delimiter, ',', ';', '\t', kBlanks}) {
        std::vector<Field> words;
        Splitter(delimiter).next(*comment, true, words);
        auto names = columns_of(words);
        if (delimiter == kBlanks) join_units(names, values);
        if (!name_coordinates(names, options_)) continue;
        if (names.size() == values) {
          layout_.columns = std::move(names);
          return;
        }
        if (other == 0) other = names.size();
      }
    if (other > 0)
      warn("a comment before line " + std::to_string(records_[0].line) + " names " + std::to_string(other) +
           " columns of " + std::to_string(values) + ", and is left out");
  }

  std::vector<std::string_view> comments_before(std::size_t end) const {
    std::vector<std::string_view> comments;
    std::vector<Field> fields;
    for (std::size_t at = begin_; at < end;) {
      const Record record = Splitter(layout_.delimiter).next(sample_.substr(at), true, fields);
      if (record.kind == Record::Kind::comment) comments.push_back(record.comment);
      at += record.bytes;
    }
    return comments;
  }

  void warn(const std::string& text) { layout_.coordinates.warnings.push_back(source_.name() + ": " + text); }

  /// Whether a word of the first record stands where the next one has a number.
  bool names_a_number() const {
    if (records_.size() < 2) return false;
    const auto &words = records_[0].fields, &numbers = records_[1].fields;
    for (std::size_t k = 0; k < std::min(words.size(), numbers.size()); ++k)
      if (!is_value(words[k]) && is_number(numbers[k])) return true;
    return false;
  }

  /// The first record names the columns.
  void use_as_names() {
    layout_.columns = columns_of(records_[0].fields);
    layout_.line_of_fields = records_[0].line;
    skip(records_[0]);
    records_ = rest();
    if (records_.empty()) fail_without_records();
  }

  /// Fields of a record without empty ones at its end.
  static std::size_t values_in(const std::vector<Field>& fields) {
    std::size_t count = fields.size();
    while (count > 1 && is_empty(fields[count - 1])) --count;
    return count;
  }

  /// Units between blanks belong to the name before: "x (m)".
  static void join_units(std::vector<Column>& columns, std::size_t values) {
    for (std::size_t k = columns.size(); columns.size() > values && k-- > 1;)
      if (columns[k].name.starts_with('(') || columns[k].name.starts_with('[')) {
        columns[k - 1].name.append(" ").append(columns[k].name);
        columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(k));
      }
  }

  /// R leaves out the name over the names of rows, which it quotes.
  void fit_names() {
    const auto& fields = records_[0].fields;
    auto& columns = layout_.columns;
    if (layout_.delimiter == kBlanks) join_units(columns, fields.size());
    if (fields.size() == columns.size() + 1 && fields[0].quoted) columns.insert(columns.begin(), Column{});
  }

  /// pandas calls columns 0, 1, 2 where nobody else does; after them come numbers with decimals.
  void take_numbers_as_names() {
    const auto& fields = records_[0].fields;
    const std::size_t first = fields[0].text.empty() ? 1 : 0;
    if (fields.size() < first + 2) return;
    for (std::size_t k = first; k < fields.size(); ++k)
      if (fields[k].text != std::to_string(k - first)) return;
    const bool decimals =
        records_.size() > 1 && records_[1].fields.size() == fields.size() &&
        std::all_of(records_[1].fields.begin() + static_cast<std::ptrdiff_t>(first), records_[1].fields.end(),
                    [](const Field& field) { return field.text.find_first_of(".,eE") != std::string_view::npos; });
    std::string line;
    for (const Field& field : fields) line.append(&field == &fields[0] ? "" : ",").append(field.text);
    const bool names = decimals || first == 1;
    warn("line " + std::to_string(records_[0].line) + ", " + line +
         (names ? ", is taken as names of columns, as pandas writes them; write 0.0 where it is a point"
                : ", is taken as a point; leave it out where it names columns, as pandas does"));
    if (names) use_as_names();
  }

  void choose_columns() {
    const auto& fields = records_[0].fields;
    if (layout_.columns.empty()) layout_.columns.resize(values_in(fields));
    if (layout_.line_of_fields == 0) layout_.line_of_fields = records_[0].line;
    layout_.fields = layout_.columns.size();
    if (layout_.fields == 1)
      source_.fail("has one column in line " + std::to_string(layout_.line_of_fields) +
                   ", and points have 2 or 3; leave out titles before the points, or say --delimiter");
    for (std::size_t k = 0; k < std::min(fields.size(), layout_.fields); ++k)
      layout_.columns[k].numeric = is_value(fields[k]);
    Coordinates found = find_coordinates(source_, layout_.columns, options_, first_);
    found.warnings.insert(found.warnings.begin(), layout_.coordinates.warnings.begin(),
                          layout_.coordinates.warnings.end());
    layout_.coordinates = std::move(found);
    if (layout_.molecule)  // the names are ours
      for (Column& column : layout_.columns) column.name.clear();
  }

  void find_decimal() {
    if (options_.decimal != 0) {
      layout_.decimal = options_.decimal;
      return;
    }
    bool comma = false;
    for (const Sampled& record : records_)
      for (const std::size_t place : layout_.coordinates.places) {
        if (place >= record.fields.size()) continue;
        const std::string_view text = record.fields[place].text;
        if (text.find('.') != std::string_view::npos) return;
        comma |= is_number(record.fields[place]) && text.find(',') != std::string_view::npos;
      }
    if (!comma) return;
    layout_.decimal = ',';
    layout_.decimal_sure = false;
  }

  const ByteSource& source_;
  std::string_view sample_;
  bool whole_;
  const PointOptions& options_;
  bool first_;
  std::size_t begin_ = 0;  // of the text behind "sep="
  std::vector<Sampled> records_;
  Layout layout_;
};

}  // namespace

Layout find_layout(const ByteSource& source, std::string_view sample, bool whole, const PointOptions& options,
                   bool first) {
  return LayoutFinder(source, sample, whole, options, first).find();
}

}  // namespace fathom::io::text
