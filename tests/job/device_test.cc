#include "src/job/device.h"

#include <gtest/gtest.h>

namespace memcrest {
namespace {

TEST(Devices, EveryProfileIsCompleteAndNamedAsItsFile) {
  ASSERT_GE(EmbeddedDevices().size(), 15u);
  std::string last;
  for (const auto& [name, text] : EmbeddedDevices()) {
    const auto device = ParseDevice(name, text);
    ASSERT_TRUE(device.ok()) << device.status();
    EXPECT_EQ(device->name, name);
    EXPECT_LT(last, name) << "sorted";
    last = name;
    // Sanity of hand-typed numbers: 8 to 512 GiB, half-precision rates not below single ones.
    EXPECT_GT(device->usable_bytes, Bytes{8} << 30) << name;
    EXPECT_LT(device->memory_bytes, Bytes{512} << 30) << name;
    EXPECT_GE(device->peak_tflops.fp16, device->peak_tflops.fp32) << name;
    EXPECT_FALSE(device->link.empty()) << name;
  }
}

TEST(Devices, H100HasTheNumbersOfItsDataSheet) {
  const auto device = FindDevice("h100-80gb");
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ(device->sm(), 90);
  EXPECT_EQ(device->multiprocessors, 132);
  EXPECT_EQ(device->memory_bytes, Bytes{81559} << 20);
  EXPECT_EQ(device->cublas_workspace_bytes, 33554432);
}

TEST(Devices, AnUnknownNameSuggestsTheNearest) {
  EXPECT_EQ(FindDevice("rtx4090").status().message(),
            "error E0110: unknown device \"rtx4090\"\n"
            "  where: --device rtx4090\n"
            "  why: memcrest devices lists the known ones; --device-file takes a profile of your own\n"
            "  fix: did you mean rtx-4090?\n");
}

TEST(Devices, AProfileWithoutSourceIsRefused) {
  const std::string text =
      "name: \"x\" memory_bytes: 100 usable_bytes: 90 compute_capability: \"9.0\" multiprocessors: 1 "
      "bandwidth_gb_per_second: 1 peak_tflops { fp32: 1 } cublas_workspace_bytes: 1";
  EXPECT_EQ(ParseDevice("x.textproto", text).status().message(),
            "error E0111: the device profile's \"source\" is missing or impossible\n"
            "  where: x.textproto\n  why: a simulation needs it\n  fix: see models/devices for complete profiles\n");
  EXPECT_TRUE(ParseDevice("x.textproto", text + " source: \"mine\"").ok());
}

}  // namespace
}  // namespace memcrest
