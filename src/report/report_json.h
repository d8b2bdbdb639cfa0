// The report as JSON, schema 1 (docs/JSON.md): what --format json prints and what the page carries.
//
// The contract's fields come first and keep their order; further ones follow them.
#ifndef MEMCREST_REPORT_REPORT_JSON_H_
#define MEMCREST_REPORT_REPORT_JSON_H_

#include <cstddef>

#include "src/report/json_writer.h"
#include "src/report/report.h"

namespace memcrest {

// `steps`: how many devices, from the first, are written with their StepRecord.
void WriteReport(JsonWriter& writer, const Report& report, size_t steps);

}  // namespace memcrest

#endif  // MEMCREST_REPORT_REPORT_JSON_H_
