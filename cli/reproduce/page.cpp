#include "reproduce/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <utility>

#include "chart/scale.h"
#include "reproduce/html.h"
#include "reproduce/plot.h"
#include "reproduce/studies.h"

namespace fathom::cli {

namespace {

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --paper: #fdfdfb; --card: #fff; --text: #1d2129; --faint: #5c6370; --rule: #d9dce3;
  --mark: #1f6feb; --ours: #eef4ff; }
@media (prefers-color-scheme: dark) { :root { --paper: #14161b; --card: #1b1e25; --text: #e6e8ec; --faint: #a0a7b4;
  --rule: #333845; --mark: #74a9ff; --ours: #1c2a42; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--text); font: 1rem/1.55 system-ui, sans-serif; }
main { max-width: 64rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: clamp(1.4rem, 4.5vw, 2.1rem); line-height: 1.2; margin: .5rem 0; text-wrap: balance; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem; }
a { color: var(--mark); }
.faint, figcaption span, small { color: var(--faint); }
dl { display: grid; grid-template-columns: auto 1fr; gap: .3rem 1rem; margin: 1.25rem 0; padding: 1rem;
  background: var(--card); border: 1px solid var(--rule); border-radius: .6rem; }
dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
code { font-size: .9em; }
.scroll { overflow-x: auto; border: 1px solid var(--rule); border-radius: .6rem; background: var(--card); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .4rem .7rem; text-align: right; vertical-align: top; border-bottom: 1px solid var(--rule); }
tr:last-child > * { border-bottom: 0; }
th:first-child { text-align: left; font-weight: 400; min-width: 8rem; }
thead th, thead th:first-child { font-weight: 600; font-size: .85rem; vertical-align: bottom; }
td.ours { background: var(--ours); font-weight: 600; }
i { font-style: normal; }
small { display: block; font-size: .82rem; line-height: 1.35; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 24rem), 1fr)); gap: 1rem;
  margin-top: 1rem; }
figure { margin: 0; padding: .9rem; background: var(--card); border: 1px solid var(--rule); border-radius: .6rem; }
figcaption { font-weight: 600; margin-bottom: .5rem; }
figcaption span { display: block; font-weight: 400; font-size: .85rem; }
svg { width: 100%; height: auto; font: 12px system-ui, sans-serif; }
polyline { fill: none; } svg text.text { fill: var(--text); } svg text.faint { fill: var(--faint); }
.grid { stroke: var(--rule); }
@media (max-width: 30rem) { th i { display: none; } table { font-size: .88rem; } th, td { padding: .35rem .4rem; }
  th:first-child { min-width: 6.5rem; } dl { display: block; } dd { margin-bottom: .4rem; } }
@media print { figure, tr { break-inside: avoid; } }
)";

std::string style_sheet() {
  std::string light, dark;
  for (int k = 0; k < kSeries; ++k)
    for (const bool is_dark : {false, true}) {
      const std::string colour = series_colour(k, is_dark);
      (is_dark ? dark : light) +=
          fmt::format("circle.s{0} {{ fill: {1}; }} polyline.s{0} {{ stroke: {1}; stroke-width: 2; }}\n", k, colour);
    }
  return fmt::format("<style>{}{}@media (prefers-color-scheme: dark) {{\n{}}}\n</style>\n", kStyle, light, dark);
}

std::string html_page(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n{}</head>\n<body>\n<main>\n{}</main>\n"
      "</body>\n</html>\n",
      escaped(title), style_sheet(), body);
}

struct Column {
  const char *head, *css;  ///< phones show what is not wide
  std::optional<double> Row::*value;
};
constexpr std::array<Column, 4> kColumns = {{{"<i>in the </i>paper", "paper", &Row::paper},
                                             {"published<i> algorithm here</i>", "published", &Row::published},
                                             {"Fathom<i> here</i>", "ours", &Row::fathom},
                                             {"copy<i>ing the output here</i>", "copy", &Row::copy}}};

struct Table {
  std::string name;
  std::vector<const Row*> rows;
};

std::vector<Table> tables_of(const Outcome& outcome) {
  std::vector<Table> tables;
  for (const Row& row : outcome.rows) {
    auto table = std::find_if(tables.begin(), tables.end(), [&](const Table& t) { return t.name == row.table; });
    if (table == tables.end()) table = tables.insert(tables.end(), {row.table, {}});
    table->rows.push_back(&row);
  }
  return tables;
}

/// A number as the paper prints it, or one of ours: of a column of milliseconds, in microseconds below one.
std::string number_text(const Column& column, const Row& row) {
  const std::optional<double>& value = row.*column.value;
  if (!value) return "";
  if (column.value == &Row::paper) return fmt::format("{:.10g}", *value);
  const bool is_tiny = row.unit == "ms" && *value > 0 && *value < 1e-3;
  return is_tiny ? short_number(1e3 * *value) + " µs" : short_number(*value);
}

std::string html_table(const Table& table) {
  const std::string& unit = table.rows.front()->unit;
  const std::string& note = table.rows.front()->note;
  const auto all = [&](const auto& is) { return std::all_of(table.rows.begin(), table.rows.end(), is); };
  const bool one_unit = all([&](const Row*row) { return row->unit == unit; }),
             one_note = table.rows.size() > 1 && all([&](const Row*row) { return row->note == note; });
  std::vector<Column> columns;
  std::copy_if(kColumns.begin(), kColumns.end(), std::back_inserter(columns), [&](const Column& column) {
    return std::any_of(table.rows.begin(), table.rows.end(),
                       [&](const Row* row) { return (row->*column.value).has_value(); });
  });
  std::string html = fmt::format(
      "<h2>{}</h2>\n{}<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">{}</th>", escaped(table.name),
      one_note && !note.empty() ? fmt::format("<p class=\"faint\">{}</p>\n", escaped(note)) : "",
      one_unit ? escaped(unit) : "");
  for (const Column& column : columns) html += fmt::format("<th scope=\"col\">{}</th>", column.head);
  html += "</tr></thead>\n<tbody>\n";
  for (const Row* row : table.rows) {
    html += fmt::format("<tr><th scope=\"row\">{}{}{}</th>", escaped(label_of(*row)),
                        one_unit || row->unit.empty() ? "" : " <span class=\"faint\">" + escaped(row->unit) + "</span>",
                        one_note || row->note.empty() ? "" : fmt::format("<small>{}</small>", escaped(row->note)));
    for (const Column& column : columns)
      html += fmt::format("<td class=\"{}\">{}</td>", column.css, number_text(column, *row));
    html += "</tr>\n";
  }
  html += "</tbody></table></div>\n";
  const Plot plot = plot_of(table.rows);
  if (!plot.marks.empty())
    html += "<div class=\"plots\"><figure>" + to_svg(plot, table.name + ", the numbers above as dots") +
            "</figure></div>\n";
  return html;
}

std::string html_figure(const Figure& figure) {
  return fmt::format("<figure><figcaption>{}<span>{}</span></figcaption>\n{}</figure>\n", escaped(figure.name),
                     escaped(figure.note), to_svg(plot_of(figure), figure.name));
}

std::string html_list(const std::string& title, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return "";
  std::string html = fmt::format("<h2>{}</h2>\n<ul>\n", title);
  for (const std::string& sentence : sentences) html += fmt::format("<li>{}</li>\n", escaped(sentence));
  return html + "</ul>\n";
}

std::string machine_text(const Machine& machine) {
  const std::string processor = fmt::format("{}, {} threads", machine.name, machine.threads);
  return machine.device ? fmt::format("{} ({})", machine.device_name, processor) : processor;
}

std::string html_of(const Findings& findings) {
  const auto& [study, outcome, machine, date, command] = findings;
  const Paper& paper = study.paper;
  std::string body = fmt::format(
      "<p><a href=\"index.html\">All papers</a></p>\n<h1>{}</h1>\n<p>{}, {}</p>\n<dl>\n<dt>Machine</dt><dd>{}</dd>\n"
      "<dt>Command</dt><dd>{}, of Fathom {}</dd>\n<dt>Date</dt><dd>{}</dd>\n<dt>The paper’s "
      "machine</dt><dd>{}</dd>\n</dl>\n",
      escaped(paper.title), escaped(paper.authors), paper.year, escaped(machine_text(machine)),
      "<code>" + escaped(command) + "</code>", FATHOM_VERSION, date, escaped(paper.hardware));
  if (!machine.device) body += "<p>The algorithms’ versions for the CPU were measured, not those for a device.</p>\n";
  if (machine.quick)
    body +=
        "<p>Measured with <code>--quick</code>: inputs are smaller than the paper’s, and times are of few runs.</p>\n";
  for (const Table& table : tables_of(outcome)) body += html_table(table);
  if (!outcome.figures.empty()) {
    body +=
        "<h2>Figures</h2>\n<p class=\"faint\">Of these figures the paper’s text has no numbers. The curves are "
        "this machine’s; nothing was read off the paper’s.</p>\n<div class=\"plots\">\n";
    for (const Figure& figure : outcome.figures) body += html_figure(figure);
    body += "</div>\n";
  }
  body += html_list("Left out", outcome.left_out) + html_list("Inputs that were made", study.replaced) +
          html_list("Slips of the paper, corrected", study.corrected);
  body += fmt::format(
      "<h2>How to read this</h2>\n<p>A number stands under “in the paper” only if the paper’s text prints it. Exact "
      "results "
      "were compared with Fathom’s, byte by byte, before they were timed; of approximate ones the error is a row. "
      "Times "
      "on a device are without the copies there and back unless the row says so; copying is what reading and writing "
      "as "
      "many bytes as the result has takes.</p>\n<p>The same numbers: <a href=\"{0}.csv\">{0}.csv</a>, <a "
      "href=\"{0}.png\">{0}.png</a></p>\n",
      paper.key);
  return html_page(paper.title, body);
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string csv_number(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

std::string csv_of(const Findings& findings) {
  const std::string& key = findings.study.paper.key;
  std::string csv = "study,kind,name,row,column,unit,paper,published,fathom,copy,curve,note\n";
  for (const Row& row : findings.outcome.rows)
    csv += fmt::format("{},table,{},{},{},{},{},{},{},{},,{}\n", key, csv_field(row.table), csv_field(row.row),
                       csv_field(row.column), csv_field(row.unit), csv_number(row.paper), csv_number(row.published),
                       csv_number(row.fathom), csv_number(row.copy), csv_field(row.note));
  for (const Figure& figure : findings.outcome.figures)
    for (const Curve& curve : figure.curves)
      for (const auto& [x, y] : curve.points)
        csv += fmt::format("{},figure,{},{},{},{},,,,,{},{}\n", key, csv_field(figure.name), x, csv_field(curve.name),
                           csv_field(figure.y), y, csv_field(figure.note));
  return csv;
}

/// Plots with their names in two columns, each below the shorter one.
void draw_picture(const Findings& findings, std::FILE* stream) {
  constexpr double kGap = 28, kHead = 96, kCaption = 26, kZoom = 2;
  std::vector<std::pair<std::string, Plot>> plots;
  for (const Table& table : tables_of(findings.outcome))
    if (Plot plot = plot_of(table.rows); !plot.marks.empty()) plots.emplace_back(table.name, std::move(plot));
  for (const Figure& figure : findings.outcome.figures) plots.emplace_back(figure.name, plot_of(figure));
  const double column = plots.empty() ? 440 : plots.front().second.width, width = 2 * column + 3 * kGap;
  std::array<double, 2> ends = {kHead, kHead};
  std::vector<Point> places;
  for (const auto& [name, plot] : plots) {
    const std::size_t side = ends[0] <= ends[1] ? 0 : 1;
    places.push_back({kGap + static_cast<double>(side) * (column + kGap), ends[side]});
    ends[side] += kCaption + plot.height + kGap;
  }
  const double height = std::max(ends[0], ends[1]);
  Canvas canvas(static_cast<int>(kZoom * width), static_cast<int>(kZoom * height));
  cairo_scale(canvas.cairo(), kZoom, kZoom);
  const TextStyle title{20, kInk, true}, plain{13, kFaint}, caption{14, kInk, true};
  const Paper& paper = findings.study.paper;
  canvas.text(canvas.fitted(paper.title, title, width - 2 * kGap), {kGap, 38}, {0, 1}, title);
  canvas.text(canvas.fitted(fmt::format("{}, {}. Measured on {}, {}, by Fathom {}", paper.authors, paper.year,
                                        machine_text(findings.machine), findings.date, FATHOM_VERSION),
                            plain, width - 2 * kGap),
              {kGap, 62}, {0, 1}, plain);
  for (std::size_t k = 0; k < plots.size(); ++k) {
    canvas.text(canvas.fitted(plots[k].first, caption, column), {places[k].x, places[k].y + 12}, {0, 1}, caption);
    draw(plots[k].second, canvas, {places[k].x, places[k].y + kCaption});
  }
  canvas.write_png(stream);
}

void write(const std::string& text, io::AtomicFile& file) {
  std::fwrite(text.data(), 1, text.size(), file.stream());  // an error is seen when the file is put in place
}

}  // namespace

void append(Outcome& all, Outcome step) {
  std::move(step.rows.begin(), step.rows.end(), std::back_inserter(all.rows));
  std::move(step.left_out.begin(), step.left_out.end(), std::back_inserter(all.left_out));
  const auto find = [](auto& named, const std::string& name) {
    return std::find_if(named.begin(), named.end(), [&](const auto& one) { return one.name == name; });
  };
  for (Figure& figure : step.figures) {
    const auto same = find(all.figures, figure.name);
    if (same == all.figures.end()) {
      all.figures.push_back(std::move(figure));
      continue;
    }
    for (Curve& curve : figure.curves) {
      const auto joined = find(same->curves, curve.name);
      if (joined == same->curves.end()) same->curves.push_back(std::move(curve));
      else {
        joined->points.insert(joined->points.end(), curve.points.begin(), curve.points.end());
        std::stable_sort(joined->points.begin(), joined->points.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
      }
    }
  }
}

void write_study(const Findings& findings, const std::filesystem::path& directory) {
  PendingFiles files;
  const auto path = [&](const char* ending) { return (directory / (findings.study.paper.key + ending)).string(); };
  write(html_of(findings), files.add(path(".html")));
  write(csv_of(findings), files.add(path(".csv")));
  draw_picture(findings, files.add(path(".png")).stream());
  put_in_place(files);
}

void write_index(const std::filesystem::path& directory, const Record& record, const Machine& machine) {
  std::string body = fmt::format(
      "<h1>The papers that Fathom stands on, measured again</h1>\n<p>Each algorithm as it was published, beside "
      "Fathom, on "
      "one machine.</p>\n<dl>\n<dt>Machine</dt><dd>{}</dd>\n<dt>Version</dt><dd>Fathom {}{}</dd>\n</dl>\n",
      escaped(machine_text(machine)), FATHOM_VERSION, machine.quick ? ", with <code>--quick</code>" : "");
  for (const StudyRow& row : studies()) {
    const Study study = row.make(machine);
    const Paper& paper = study.paper;
    const bool done = std::all_of(study.steps.begin(), study.steps.end(),
                                  [&](const Step& step) { return record.find(paper.key, step.name).has_value(); });
    const std::string about = fmt::format("<p class=\"faint\">{}, {}</p>\n", escaped(paper.authors), paper.year);
    body += done ? fmt::format("<h2><a href=\"{}.html\">{}</a></h2>\n{}", paper.key, escaped(paper.title), about)
                 : fmt::format("<h2>{}</h2>\n{}<p>Not measured yet: <code>fathom reproduce {}</code></p>\n",
                               escaped(paper.title), about, paper.key);
  }
  PendingFiles files;
  write(html_page("The papers that Fathom stands on, measured again", body),
        files.add((directory / "index.html").string()));
  put_in_place(files);
}

}  // namespace fathom::cli
