// Gathers the StepRecord of a report from the trace and the allocator's replay; one pass over the events.
#ifndef MEMCREST_REPORT_RECORD_STEP_H_
#define MEMCREST_REPORT_RECORD_STEP_H_

#include "src/report/report_source.h"
#include "src/report/step_record.h"

namespace memcrest {

StepRecord RecordStep(const ReportSource& source);

}  // namespace memcrest

#endif  // MEMCREST_REPORT_RECORD_STEP_H_
