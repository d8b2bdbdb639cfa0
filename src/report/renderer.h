// Output formats: one file each in src/report/renderers/, registered by the build's list.
//
// Takes: Report.  Gives: the text of a file. A renderer is a function of its inputs: no clock, no locale, no terminal.
#ifndef MEMCREST_REPORT_RENDERER_H_
#define MEMCREST_REPORT_RENDERER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "src/report/breakdown.h"
#include "src/report/report.h"

namespace memcrest {

struct RenderOptions {
  bool color = false;     // terminal colours (text only)
  bool verbose = false;   // text: everything that the report has; json: every storage of the step
  // Text only: rows of each list (0: a few), what to list (none: categories, patterns of modules, tensors), segments of
  // module paths that are kept (0: all).
  int64_t top = 0;
  std::optional<By> by = std::nullopt;
  int64_t depth = 0;
};

struct Renderer {
  const char* name = "";       // as --format takes it
  const char* extension = "";  // of files; "" for the terminal
  const char* help = "";
  std::string (*render)(const Report& report, const RenderOptions& options) = nullptr;
  // Whether it reads DeviceReport::step, which takes a walk over all events to make. Null: always.
  bool (*needs_step)(const RenderOptions& options) = nullptr;
};

bool NeedsStep(const Renderer& renderer, const RenderOptions& options);

class RendererRegistry {
 public:
  void Add(const Renderer& renderer) { entries_.push_back(renderer); }
  const Renderer* Find(absl::string_view name) const;  // nullptr if unknown
  const std::vector<Renderer>& All() const { return entries_; }

 private:
  std::vector<Renderer> entries_;
};

// The built-in formats; made once by the generated RegisterAllRenderers.
const RendererRegistry& Renderers();
void RegisterAllRenderers(RendererRegistry& registry);

}  // namespace memcrest

#endif  // MEMCREST_REPORT_RENDERER_H_
