#include <gtest/gtest.h>

#include "src/report/renderer.h"
#include "tests/report/sample_report.h"

namespace memcrest {
namespace {

std::string Html(const Report& report) { return Renderers().Find("html")->render(report, {}); }

TEST(HtmlReport, IsOnePageThatAsksForNothing) {
  const std::string page = Html(SampleReport());
  EXPECT_EQ(page.substr(0, 15), "<!doctype html>");
  for (const char* request : {"http:", "https:", "<link rel=\"stylesheet", "src=", "import ", "fetch("}) {
    EXPECT_EQ(page.find(request), std::string::npos) << request;
  }
}

TEST(HtmlReport, CarriesTheJsonReport) {
  const std::string page = Html(SampleReport());
  EXPECT_NE(page.find("\"allocated_bytes\": 18253611008"), std::string::npos);
  EXPECT_EQ(page.find("\"step\":"), std::string::npos) << "the sample has no storages";
}

TEST(HtmlReport, NamesFromTheFileCannotEndTheScript) {
  Report report = SampleReport();
  report.model_file = "</script><script>alert(1)</script>";
  const std::string page = Html(report);
  EXPECT_EQ(page.find("alert(1)</script>"), std::string::npos);
  EXPECT_NE(page.find("\\u003c/script>\\u003cscript>alert(1)"), std::string::npos);
}

TEST(HtmlReport, OnlyTheFirstDevicesAreCarriedWithTheirStorages) {
  Report report = SampleReport();
  report.devices[0].step.events = 1;
  report.devices[0].step.strings = {""};
  report.devices[0].step.lives.resize(150000);
  report.devices.push_back(report.devices[0]);
  const std::string page = Html(report);
  const size_t first = page.find("\"step\":");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(page.find("\"step\":", first + 1), std::string::npos);
}

}  // namespace
}  // namespace memcrest
