// Whole outputs of the program: each folder of tests/golden is a case.
//
//   cmd           first line "# what the case pins"; second line the words after "memcrest", run in the source folder
//   expected.txt  "exit N", then what the command prints (standard output, then errors)
// MEMCREST_ACCEPT=1 writes expected.txt anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/cli/program.h"

namespace memcrest {
namespace {

namespace fs = std::filesystem;

fs::path Folder() { return fs::path(MEMCREST_SOURCE_DIR) / "tests" / "golden"; }

std::string ReadText(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> Cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(Folder())) {
    if (fs::exists(entry.path() / "cmd")) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string OutputOf(const std::vector<std::string>& words) {
  std::string out, err;
  Console console;
  console.out = [&](absl::string_view text) { absl::StrAppend(&out, text); };
  console.err = [&](absl::string_view text) { absl::StrAppend(&err, text); };
  fs::current_path(MEMCREST_SOURCE_DIR);
  const int code = RunProgram(words, console);
  return absl::StrCat("exit ", code, "\n", out, err);
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, PrintsWhatIsExpected) {
  const fs::path folder = Folder() / GetParam();
  const std::vector<std::string> lines = absl::StrSplit(ReadText(folder / "cmd"), '\n');
  ASSERT_GE(lines.size(), 2u);
  ASSERT_EQ(lines[0].substr(0, 2), "# ") << "the first line says what the case pins";
  const std::vector<std::string> words = absl::StrSplit(lines[1], ' ', absl::SkipEmpty());
  const std::string text = OutputOf(words);
  if (std::getenv("MEMCREST_ACCEPT") != nullptr) std::ofstream(folder / "expected.txt", std::ios::binary) << text;
  EXPECT_EQ(text, ReadText(folder / "expected.txt")) << "MEMCREST_ACCEPT=1 accepts it";
}

std::string NameOf(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

// The manual's examples are these outputs: "<!-- golden: NAME -->", then the command and what it prints, fenced.
TEST(Manual, ShowsWhatTheProgramPrints) {
  const fs::path path = fs::path(MEMCREST_SOURCE_DIR) / "docs" / "REPORTS.md";
  const std::string manual = ReadText(path);
  std::string wanted;
  size_t at = 0;
  const std::string mark = "<!-- golden: ", fence = "\n```\n";
  for (size_t found = manual.find(mark); found != std::string::npos; found = manual.find(mark, at)) {
    const size_t name = found + mark.size();
    const fs::path folder = Folder() / manual.substr(name, manual.find(' ', name) - name);
    const size_t begin = manual.find(fence, found) + fence.size(), end = manual.find("```\n", begin);
    const std::vector<std::string> lines = absl::StrSplit(ReadText(folder / "cmd"), '\n');
    const std::string expected = ReadText(folder / "expected.txt");
    absl::StrAppend(&wanted, manual.substr(at, begin - at), "$ memcrest ", lines[1], "\n", expected.substr(expected.find('\n') + 1));
    at = end;
  }
  wanted += manual.substr(at);
  if (std::getenv("MEMCREST_ACCEPT") != nullptr) std::ofstream(path, std::ios::binary) << wanted;
  EXPECT_EQ(wanted, ReadText(path)) << "MEMCREST_ACCEPT=1 accepts it";
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, ::testing::ValuesIn(Cases()), NameOf);

}  // namespace
}  // namespace memcrest
