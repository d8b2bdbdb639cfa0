#include "src/job/allocator_conf.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/base/problem.h"
#include "src/job/nearest.h"

namespace memcrest {
namespace {

constexpr Bytes kMiB = Bytes{1} << 20;

int Log2(int64_t n) { return static_cast<int>(std::bit_width(static_cast<uint64_t>(n))) - 1; }
bool PowerOf2(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

// One option: reads `value` into `conf`; false: the value is wrong, `wanted` says what is right.
struct ConfOption {
  const char* name;
  const char* wanted;
  bool (*read)(const std::string& value, AllocatorConf& conf);
};

bool ReadNumber(const std::string& value, double least, double most, double& out) {
  return absl::SimpleAtod(value, &out) && out >= least && out <= most;
}

bool ReadMegabytes(const std::string& value, int64_t least, Bytes& out) {
  int64_t n = 0;
  if (!absl::SimpleAtoi(value, &n) || n < least) return false;
  out = n > AllocatorConf::kUnlimited / kMiB ? AllocatorConf::kUnlimited : n * kMiB;
  return true;
}

bool ReadDivision(const std::string& text, int64_t& out) {
  return absl::SimpleAtoi(text, &out) && (out == 0 || PowerOf2(out)) && out <= (int64_t{1} << 30);
}

// "[256:1,512:2,>:8]": requests below the first size are divided as it, those after ">" as given there; sizes in MB.
bool ReadIntervals(const std::string& text, AllocatorConf& conf) {
  auto& divisions = conf.roundup_power2_divisions;
  divisions.fill(0);
  size_t last = 0;
  bool first = true;
  for (const absl::string_view part : absl::StrSplit(text.substr(1, text.size() - 2), ',')) {
    const std::vector<std::string> pair = absl::StrSplit(part, ':');
    int64_t value = 0, boundary = 0;
    if (pair.size() != 2 || !ReadDivision(pair[1], value)) return false;
    if (pair[0] == ">") {
      for (size_t i = last + 1; i < divisions.size(); ++i) divisions[i] = value;
      continue;
    }
    if (!absl::SimpleAtoi(pair[0], &boundary) || !PowerOf2(boundary)) return false;
    last = std::min(static_cast<size_t>(Log2(boundary)), divisions.size() - 1);
    if (first) std::fill(divisions.begin(), divisions.begin() + static_cast<std::ptrdiff_t>(last), value);
    divisions[last] = value;
    first = false;
  }
  return true;
}

bool ReadDivisions(const std::string& value, AllocatorConf& conf) {
  if (value.size() > 2 && value.front() == '[' && value.back() == ']') return ReadIntervals(value, conf);
  int64_t n = 0;
  if (!ReadDivision(value, n)) return false;
  conf.roundup_power2_divisions.fill(n);
  return true;
}

bool Ignored(const std::string&, AllocatorConf&) { return true; }

constexpr ConfOption kOptions[] = {
    {"expandable_segments", "True or False",
     [](const std::string& v, AllocatorConf& c) {
       c.expandable_segments = v == "True";
       return v == "True" || v == "False";
     }},
    {"max_split_size_mb", "a number above 20",
     [](const std::string& v, AllocatorConf& c) { return ReadMegabytes(v, 21, c.max_split_size); }},
    {"max_non_split_rounding_mb", "a number above 20",
     [](const std::string& v, AllocatorConf& c) { return ReadMegabytes(v, 21, c.max_non_split_rounding); }},
    {"large_segment_size_mb", "a number from 20 on",
     [](const std::string& v, AllocatorConf& c) { return ReadMegabytes(v, 20, c.large_segment); }},
    {"roundup_power2_divisions", "a power of two, or a list as [256:1,512:2,>:8]", ReadDivisions},
    {"garbage_collection_threshold", "a number between 0 and 1",
     [](const std::string& v, AllocatorConf& c) {
       return ReadNumber(v, 1e-9, 1 - 1e-9, c.garbage_collection_threshold);
     }},
    {"per_process_memory_fraction", "a number between 0 and 1",
     [](const std::string& v, AllocatorConf& c) { return ReadNumber(v, 1e-9, 1, c.memory_fraction); }},
    {"backend", "native; cudaMallocAsync is another allocator, which is not modelled",
     [](const std::string& v, AllocatorConf&) { return v == "native"; }},
    {"roundup_bypass_threshold_mb", "", Ignored},
    {"release_lock_on_cudamalloc", "", Ignored},
    {"pinned_use_cuda_host_register", "", Ignored},
    {"pinned_num_register_threads", "", Ignored},
    {"pinned_use_background_threads", "", Ignored},
    {"pinned_reserve_segment_size_mb", "", Ignored},
    {"graph_capture_record_stream_reuse", "", Ignored},
};

// Splits at commas outside of brackets.
std::vector<std::string> Entries(const std::string& text) {
  std::vector<std::string> entries(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth <= 0) entries.emplace_back();
    else if (c != ' ') entries.back() += c;
  }
  return entries;
}

Problem Unknown(const std::string& name) {
  std::vector<std::string> names;
  for (const ConfOption& o : kOptions) names.push_back(o.name);
  return Problem{"E0105", absl::StrCat("the allocator has no option \"", name, "\""), "allocator_conf",
                 "these are the options of PYTORCH_ALLOC_CONF", DidYouMean(name, names)};
}

void ReadEntry(const std::string& entry, AllocatorConf& conf, std::vector<Problem>& problems) {
  const std::pair<std::string, std::string> pair = absl::StrSplit(entry, absl::MaxSplits(':', 1));
  for (const ConfOption& o : kOptions) {
    if (pair.first != o.name) continue;
    if (o.read(pair.second, conf)) return;
    problems.push_back(Problem{"E0106", absl::StrCat("\"", pair.first, "\" is \"", pair.second, "\""), "allocator_conf", "",
                               absl::StrCat("it takes ", o.wanted)});
    return;
  }
  problems.push_back(Unknown(pair.first));
}

}  // namespace

int64_t AllocatorConf::DivisionsFor(Bytes bytes) const {
  const int interval = std::clamp(Log2(std::max<Bytes>(bytes, 1)) - 20, 0, static_cast<int>(kIntervals) - 1);
  return roundup_power2_divisions[static_cast<size_t>(interval)];
}

AllocatorConf ParseAllocatorConf(const std::string& text, std::vector<Problem>& problems) {
  AllocatorConf conf;
  for (const std::string& entry : Entries(text)) {
    if (!entry.empty()) ReadEntry(entry, conf, problems);
  }
  return conf;
}

}  // namespace memcrest
