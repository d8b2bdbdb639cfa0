// memcrest devices: the device profiles that --device knows.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/cli/command.h"
#include "src/job/device.h"
#include "src/report/text_table.h"

namespace memcrest {
namespace {

std::string Rate(double tflops) { return tflops > 0 ? absl::StrFormat("%.4g", tflops) : "-"; }

int ListDevices(Console& console) {
  TextTable table("lrrrrrr", 0);
  table.Row({"name", "usable", "nvidia-smi", "sm", "SMs", "GB/s", "bf16 TFLOPS"});
  for (const auto& [name, text] : EmbeddedDevices()) {
    const absl::StatusOr<Device> d = ParseDevice(name, text);
    if (!d.ok()) return Fail(absl::InternalError(d.status().message()), console);
    table.Row({d->name, HumanBytes(d->usable_bytes), HumanBytes(d->memory_bytes), d->compute_capability,
               absl::StrCat(d->multiprocessors), absl::StrFormat("%.4g", d->bandwidth_gb_per_second),
               Rate(d->peak_tflops.bf16)});
  }
  console.out(table.Text());
  console.out("\nmemcrest devices NAME prints a profile with its sources; --device-file takes one of your own\n");
  return kFits;
}

int RunDevices(const Arguments& arguments, Console& console) {
  if (arguments.positional.empty()) return ListDevices(console);
  const absl::StatusOr<Device> device = FindDevice(arguments.positional[0]);
  if (!device.ok()) return Fail(device.status(), console);
  for (const auto& [name, text] : EmbeddedDevices()) {
    if (arguments.positional[0] == name) console.out(text);
  }
  return kFits;
}

}  // namespace

void RegisterDevices(CommandRegistry& registry) {
  registry.Add({"devices", "the known devices, or one profile with its sources", "[NAME]", false, {}, RunDevices, ""});
}

}  // namespace memcrest
