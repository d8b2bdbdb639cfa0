// The curve of the step for terminals: a few rows of block characters (UTF-8), phases below.
#ifndef MEMCREST_REPORT_SPARKLINE_H_
#define MEMCREST_REPORT_SPARKLINE_H_

#include <string>
#include <vector>

#include "src/report/report.h"

namespace memcrest {

// `rows` lines and one with the phases, at most `width` columns; "" for an empty timeline.
std::string Sparkline(const std::vector<TimelineSample>& timeline, size_t width, size_t rows);

}  // namespace memcrest

#endif  // MEMCREST_REPORT_SPARKLINE_H_
