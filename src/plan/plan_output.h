// A plan as people and programs take it.
//
// Takes: PlanReport.  Gives: the text of `memcrest plan`; plan.json (the message `checkpoint` of a job: `--checkpoint plan.json`);
// Python that wraps the modules in a live PyTorch model; the curve as CSV; all of it as JSON.
#ifndef MEMCREST_PLAN_PLAN_OUTPUT_H_
#define MEMCREST_PLAN_PLAN_OUTPUT_H_

#include <string>

#include "src/plan/checkpoint_plan.h"

namespace memcrest {

std::string PlanText(const PlanReport& report);
std::string PlanFile(const Plan& plan);
std::string PlanPython(const Plan& plan);
std::string CurveCsv(const PlanReport& report);
std::string PlanReportJson(const PlanReport& report);

// "layers.[0-11] (12)": paths that differ in one number only are one line.
std::vector<std::string> Summary(const std::vector<std::string>& modules);

}  // namespace memcrest

#endif  // MEMCREST_PLAN_PLAN_OUTPUT_H_
