// The StepRecord as JSON, by column (docs/JSON.md).
#ifndef MEMCREST_REPORT_STEP_JSON_H_
#define MEMCREST_REPORT_STEP_JSON_H_

#include "src/report/json_writer.h"
#include "src/report/step_record.h"

namespace memcrest {

// Writes the field "step" of the device's object.
void WriteStep(JsonWriter& writer, const StepRecord& step);

}  // namespace memcrest

#endif  // MEMCREST_REPORT_STEP_JSON_H_
