// What two reports are compared by, from a Report or from a file that memcrest wrote.
//
// Takes: Report, or the text of a JSON report or of a page made by --format html.  Gives: Digest of its fullest device.
// Errors: E0103 syntax, E0704 not a report.
#ifndef MEMCREST_REPORT_DIGEST_H_
#define MEMCREST_REPORT_DIGEST_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/job/document.h"
#include "src/report/report.h"

namespace memcrest {

struct Digest {
  std::string name;                             // as the user calls it
  std::map<std::string, std::string> settings;  // "batch" -> "8", "precision" -> "fp32", "model" -> "gpt2.onnx"
  std::string phase, module;                    // of the peak
  Bytes process = 0, reserved = 0, allocated = 0, tensor = 0, capacity = 0;
  double step_seconds = 0;
  bool fits = true;
  std::map<std::string, Bytes> categories;                       // of live tensors at the peak
  std::vector<std::pair<std::string, Bytes>> modules;            // of them, largest first
  std::vector<std::pair<std::string, Bytes>> phases;             // allocated, peak of each, in their order
};

Digest DigestOf(const Report& report, const std::string& name);
// Whether a text can be a report: a page, or JSON with the field "schema".
bool LooksLikeReport(const Source& source);
absl::StatusOr<Digest> ReadDigest(const Source& source);

}  // namespace memcrest

#endif  // MEMCREST_REPORT_DIGEST_H_
