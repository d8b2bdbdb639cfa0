#include "src/job/device.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/job/fields.h"
#include "src/job/nearest.h"

namespace memcrest {

template <> absl::Span<const Field<PeakTflops>> FieldsOf<PeakTflops>();
template <> absl::Span<const Field<Link>> FieldsOf<Link>();
template <> absl::Span<const Field<ContextBytes>> FieldsOf<ContextBytes>();
template <> absl::Span<const Field<Device>> FieldsOf<Device>();

namespace {

// A repeated message: one of them, or a list.
void ReadLinks(FieldReader& reader, const Doc& doc, Device& device) {
  device.link.clear();
  if (doc.kind != Doc::Kind::kList) return reader.Read(doc, device.link.emplace_back());
  for (const Doc& item : doc.items) reader.Read(item, device.link.emplace_back());
}

constexpr Field<PeakTflops> kPeakTflops[] = {
    Member<&PeakTflops::fp64>("fp64", ""), Member<&PeakTflops::fp32>("fp32", ""), Member<&PeakTflops::tf32>("tf32", ""),
    Member<&PeakTflops::fp16>("fp16", ""), Member<&PeakTflops::bf16>("bf16", ""), Member<&PeakTflops::fp8>("fp8", ""),
    Member<&PeakTflops::fp4>("fp4", ""),   Member<&PeakTflops::int8>("int8", ""),
};

constexpr Field<Link> kLink[] = {
    Member<&Link::name>("name", ""),
    Member<&Link::gb_per_second>("gb_per_second", "one way"),
};

constexpr Field<ContextBytes> kContextBytes[] = {
    Member<&ContextBytes::likely>("likely", ""),
    Member<&ContextBytes::low>("low", ""),
    Member<&ContextBytes::high>("high", ""),
};

constexpr Field<Device> kDevice[] = {
    Member<&Device::name>("name", ""),
    Member<&Device::product>("product", ""),
    Member<&Device::memory_bytes>("memory_bytes", ""),
    Member<&Device::usable_bytes>("usable_bytes", ""),
    Member<&Device::compute_capability>("compute_capability", ""),
    Member<&Device::multiprocessors>("multiprocessors", ""),
    Member<&Device::bandwidth_gb_per_second>("bandwidth_gb_per_second", ""),
    Member<&Device::peak_tflops>("peak_tflops", ""),
    Field<Device>{"link", ReadLinks, ""},
    Member<&Device::cublas_workspace_bytes>("cublas_workspace_bytes", ""),
    Member<&Device::context_bytes>("context_bytes", ""),
    Member<&Device::source>("source", ""),
};

void CheckComplete(const std::string& where, const Device& d, std::vector<Problem>& problems) {
  const std::pair<const char*, bool> kNeeded[] = {
      {"name", !d.name.empty()},
      {"memory_bytes", d.memory_bytes > 0},
      {"usable_bytes", d.usable_bytes > 0 && d.usable_bytes <= d.memory_bytes},
      {"compute_capability", d.sm() > 0},
      {"multiprocessors", d.multiprocessors > 0},
      {"bandwidth_gb_per_second", d.bandwidth_gb_per_second > 0},
      {"peak_tflops.fp32", d.peak_tflops.fp32 > 0},
      {"cublas_workspace_bytes", d.cublas_workspace_bytes > 0},
      {"context_bytes", d.context_bytes.low >= 0 && d.context_bytes.low <= d.context_bytes.likely &&
                            d.context_bytes.likely <= d.context_bytes.high},
      {"source", !d.source.empty()},
  };
  for (const auto& [field, sound] : kNeeded) {
    if (sound) continue;
    problems.push_back(Problem{"E0111", absl::StrCat("the device profile's \"", field, "\" is missing or impossible"),
                               where, "a simulation needs it", "see models/devices for complete profiles"});
  }
}

}  // namespace

template <> absl::Span<const Field<PeakTflops>> FieldsOf<PeakTflops>() { return kPeakTflops; }
template <> absl::Span<const Field<Link>> FieldsOf<Link>() { return kLink; }
template <> absl::Span<const Field<ContextBytes>> FieldsOf<ContextBytes>() { return kContextBytes; }
template <> absl::Span<const Field<Device>> FieldsOf<Device>() { return kDevice; }

int Device::sm() const {
  const std::vector<std::string> parts = absl::StrSplit(compute_capability, '.');
  int major = 0, minor = 0;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &major) || !absl::SimpleAtoi(parts[1], &minor)) return 0;
  return major * 10 + minor;
}

absl::StatusOr<Device> ParseDevice(const std::string& name, const std::string& text) {
  const Source source{name, text};
  MEMCREST_ASSIGN_OR_RETURN(const Doc doc, ParseDocument(source));
  Device device;
  std::vector<Problem> problems;
  FieldReader(source, "", problems).Message(doc, device);
  if (problems.empty()) CheckComplete(name, device, problems);
  MEMCREST_RETURN_IF_ERROR(ToStatus(problems));
  return device;
}

absl::StatusOr<Device> FindDevice(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [known, text] : EmbeddedDevices()) {
    if (name == known) return ParseDevice(absl::StrCat("the profile of ", known), text);
    names.push_back(known);
  }
  return ToStatus(Problem{"E0110", absl::StrCat("unknown device \"", name, "\""), absl::StrCat("--device ", name),
                          "memcrest devices lists the known ones; --device-file takes a profile of your own",
                          DidYouMean(name, names)});
}

absl::StatusOr<Device> DeviceOf(const Job& job) {
  if (job.device_file.empty()) return FindDevice(job.device);
  MEMCREST_ASSIGN_OR_RETURN(const Source source, ReadSource(job.device_file));
  return ParseDevice(source.name, source.text);
}

}  // namespace memcrest
