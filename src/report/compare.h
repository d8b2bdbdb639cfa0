// Two reports side by side: what rose, what fell, and which settings that goes with.
#ifndef MEMCREST_REPORT_COMPARE_H_
#define MEMCREST_REPORT_COMPARE_H_

#include <string>

#include "src/report/digest.h"

namespace memcrest {

// 80 columns; the first line answers: "b.json needs 12.3 GiB more than a.json: 61.4 GiB against 49.1 GiB (+25.1 %)".
// `top`: modules shown.
std::string CompareText(const Digest& a, const Digest& b, size_t top);

// The settings that decide what a category holds and differ between the two, as "precision fp32 -> bf16".
std::vector<std::string> Reasons(const Digest& a, const Digest& b, const std::string& category);

}  // namespace memcrest

#endif  // MEMCREST_REPORT_COMPARE_H_
