// The page around a JSON report: generated from src/report/html/ by the build.
#ifndef MEMCREST_REPORT_HTML_PAGE_H_
#define MEMCREST_REPORT_HTML_PAGE_H_

#include "absl/strings/string_view.h"

namespace memcrest {

// All before and all after the report's text.
absl::string_view HtmlPageStart();
absl::string_view HtmlPageEnd();

}  // namespace memcrest

#endif  // MEMCREST_REPORT_HTML_PAGE_H_
