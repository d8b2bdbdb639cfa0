// The rows of a sweep as CSV, table and JSON; CSV also reads back, to go on with a sweep or to put shards together.
//
// Takes: rows.  Gives: text; bytes are exact in CSV and JSON. A CSV's columns: index, run, the axes, fits (yes, tight, no,
// refused), tensor_bytes, allocated_bytes, reserved_bytes, process_bytes, peak_phase, peak_op, peak_module, note. `run` is one word for
// model, job and axes: rows of another sweep are told by it.
#ifndef MEMCREST_PLAN_SWEEP_ROWS_H_
#define MEMCREST_PLAN_SWEEP_ROWS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/plan/sweep.h"

namespace memcrest {

// 16 hexadecimal digits. Reads the job file and the size of the model file.
absl::StatusOr<std::string> RunOf(const SweepQuestion& question, double headroom);

std::string CsvHeader(const std::vector<Axis>& axes);
std::string CsvRow(const SweepRow& row, const std::string& run);
// Rows by index; a last line without its end is ignored. E0913: another header or run, or a line that cannot be read.
absl::StatusOr<std::map<int64_t, SweepRow>> ReadCsv(const std::string& name, const std::string& text, const std::vector<Axis>& axes,
                                                    const std::string& run);

std::string SweepTable(const std::vector<Axis>& axes, const std::map<int64_t, SweepRow>& rows);
std::string SweepJson(const SweepQuestion& question, double headroom, const std::map<int64_t, SweepRow>& rows);

}  // namespace memcrest

#endif  // MEMCREST_PLAN_SWEEP_ROWS_H_
