#include "src/plan/sweep_rows.h"

#include <filesystem>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "src/job/document.h"
#include "src/report/json_writer.h"
#include "src/report/text_table.h"

namespace memcrest {
namespace {

const char* FitsWord(const SweepRow& row) {
  if (!row.refused.empty()) return "refused";
  return !row.outcome.fits ? "no" : row.outcome.tight ? "tight" : "yes";
}

std::string Note(const SweepRow& row) {
  if (!row.refused.empty()) return row.refused;
  if (!row.outcome.breaks.has_value()) return "";
  const BreakReport& b = *row.outcome.breaks;
  return absl::StrCat("breaks in ", b.phase, b.module.empty() ? "" : " of ", b.module);
}

// RFC 4180; cells hold no line ends.
std::string Cell(const std::string& text) {
  if (text.find_first_of(",\"") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

std::vector<std::string> Cells(absl::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') cells.back() += line[++i];
    else if (line[i] == '"') quoted = !quoted;
    else if (line[i] == ',' && !quoted) cells.emplace_back();
    else cells.back() += line[i];
  }
  return cells;
}

// FNV-1a, 64 bits: tells runs apart, keeps no secrets.
uint64_t Hash(absl::string_view text) {
  uint64_t h = 14695981039346656037ULL;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return h;
}

bool ReadRow(absl::string_view line, size_t axes, const std::string& run, SweepRow& row) {
  const std::vector<std::string> cells = Cells(line);
  if (cells.size() != axes + 11 || cells[1] != run || !absl::SimpleAtoi(cells[0], &row.index)) return false;
  row.values.assign(cells.begin() + 2, cells.begin() + 2 + static_cast<std::ptrdiff_t>(axes));
  const std::string* c = cells.data() + 2 + axes;
  row.outcome.fits = c[0] == "yes" || c[0] == "tight";
  row.outcome.tight = c[0] == "tight";
  if (c[0] == "refused") row.refused = c[8];
  row.outcome.phase = c[5];
  row.outcome.op = c[6];
  row.outcome.module = c[7];
  return absl::SimpleAtoi(c[1], &row.outcome.tensor) && absl::SimpleAtoi(c[2], &row.outcome.allocated) &&
         absl::SimpleAtoi(c[3], &row.outcome.reserved) && absl::SimpleAtoi(c[4], &row.outcome.process);
}

absl::Status OtherRun(const std::string& name, size_t line) {
  return ToStatus(Problem{"E0913", "the file holds rows of another sweep", absl::StrCat(name, ":", line),
                          "model, job, axes and headroom must be the same", "write to another file, or delete this one"});
}

}  // namespace

absl::StatusOr<std::string> RunOf(const SweepQuestion& q, double headroom) {
  std::string text = absl::StrFormat("1|%.17g|", headroom);
  std::error_code none;
  absl::StrAppend(&text, std::filesystem::path(q.model_path).filename().string(), "|", std::filesystem::file_size(q.model_path, none), "|");
  if (!q.job_file.empty()) {
    MEMCREST_ASSIGN_OR_RETURN(const Source source, ReadSource(q.job_file));
    absl::StrAppend(&text, source.text);
  }
  for (const auto& [name, value] : q.flags) absl::StrAppend(&text, "|", name, "=", value);
  for (const Axis& axis : q.axes) absl::StrAppend(&text, "|", axis.name, "=", absl::StrJoin(axis.values, ";"));
  return absl::StrFormat("%016x", Hash(text));
}

std::string CsvHeader(const std::vector<Axis>& axes) {
  std::string text = "index,run";
  for (const Axis& axis : axes) absl::StrAppend(&text, ",", Cell(axis.name));
  return absl::StrCat(text, ",fits,tensor_bytes,allocated_bytes,reserved_bytes,process_bytes,peak_phase,peak_op,peak_module,note\n");
}

std::string CsvRow(const SweepRow& row, const std::string& run) {
  std::string text = absl::StrCat(row.index, ",", run);
  for (const std::string& value : row.values) absl::StrAppend(&text, ",", Cell(value));
  const Outcome& o = row.outcome;
  absl::StrAppend(&text, ",", FitsWord(row), ",", o.tensor, ",", o.allocated, ",", o.reserved, ",", o.process);
  return absl::StrCat(text, ",", o.phase, ",", Cell(o.op), ",", Cell(o.module), ",", Cell(Note(row)), "\n");
}

absl::StatusOr<std::map<int64_t, SweepRow>> ReadCsv(const std::string& name, const std::string& text, const std::vector<Axis>& axes,
                                                    const std::string& run) {
  std::map<int64_t, SweepRow> rows;
  std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  lines.pop_back();  // what stands behind the last line end
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i == 0 && absl::StrCat(lines[0], "\n") == CsvHeader(axes)) continue;
    SweepRow row;
    if (i == 0 || !ReadRow(lines[i], axes.size(), run, row)) return OtherRun(name, i + 1);
    rows[row.index] = std::move(row);
  }
  return rows;
}

std::string SweepTable(const std::vector<Axis>& axes, const std::map<int64_t, SweepRow>& rows) {
  TextTable table(std::string(axes.size(), 'r') + "rrrll", 2, 120);
  std::vector<std::string> head;
  for (const Axis& axis : axes) head.push_back(axis.name);
  for (const char* name : {"allocated", "reserved", "process", "fits", "peak in"}) head.push_back(name);
  table.Row(head);
  for (const auto& [index, row] : rows) {
    std::vector<std::string> cells = row.values;
    const Outcome& o = row.outcome;
    for (const Bytes b : {o.allocated, o.reserved, o.process}) cells.push_back(row.refused.empty() ? HumanBytes(b) : "");
    cells.push_back(FitsWord(row));
    cells.push_back(row.refused.empty() ? absl::StrCat(o.phase, o.module.empty() ? "" : " of ", o.module) : row.refused);
    table.Row(cells);
  }
  return table.Text();
}

std::string SweepJson(const SweepQuestion& question, double headroom, const std::map<int64_t, SweepRow>& rows) {
  JsonWriter json;
  json.Open('{');
  json.Number("schema", 1);
  json.Text("model", question.model_path);
  json.Seconds("headroom", headroom);
  json.Open('[', "rows");
  for (const auto& [index, row] : rows) {
    json.Open('{', "", true);
    json.Number("index", index);
    json.Open('{', "setting", true);
    for (size_t a = 0; a < row.values.size(); ++a) json.Text(question.axes[a].name, row.values[a]);
    json.Close();
    json.Text("fits", FitsWord(row));
    json.Number("tensor_bytes", row.outcome.tensor);
    json.Number("allocated_bytes", row.outcome.allocated);
    json.Number("reserved_bytes", row.outcome.reserved);
    json.Number("process_bytes", row.outcome.process);
    json.Text("peak_phase", row.outcome.phase);
    json.Text("peak_module", row.outcome.module);
    json.Text("note", Note(row));
    json.Close();
  }
  json.Close();
  json.Close();
  return json.Finish();
}

}  // namespace memcrest
