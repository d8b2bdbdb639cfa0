// The program from words to exit code, with captured output.
#include "src/cli/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "src/cli/command.h"
#include "src/cli/output.h"

namespace memcrest {
namespace {

using ::testing::HasSubstr;

struct Ran {
  int code = -1;
  std::string out, err;
};

Ran RunWords(const std::vector<std::string>& words) {
  Ran ran;
  Console console;
  console.out = [&](absl::string_view text) { absl::StrAppend(&ran.out, text); };
  console.err = [&](absl::string_view text) { absl::StrAppend(&ran.err, text); };
  ran.code = RunProgram(words, console);
  return ran;
}

TEST(Program, VersionAndHelpSucceed) {
  EXPECT_EQ(RunWords({"--version"}).out, absl::StrCat("memcrest ", kVersion, "\n"));
  EXPECT_EQ(RunWords({"--help"}).code, 0);
  EXPECT_THAT(RunWords({"--help"}).out,
              HasSubstr("exit codes: 0 fits, 1 does not fit, 2 wrong input, 3 a bug of memcrest"));
}

TEST(Program, NoCommandIsWrongInput) { EXPECT_EQ(RunWords({}).code, 2); }

TEST(Program, AMisspeltCommandSuggestsTheNearest) {
  const Ran ran = RunWords({"simulte"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err,
            "error E0113: unknown command \"simulte\"\n  where: command line\n  fix: did you mean simulate?\n");
}

TEST(Program, EveryCommandHasHelp) {
  for (const Command& command : Commands().All()) {
    const Ran ran = RunWords({command.name, "--help"});
    EXPECT_EQ(ran.code, 0) << command.name;
    EXPECT_THAT(ran.out, HasSubstr(command.help));
  }
}

TEST(Program, UnknownFlagsAreAllNamed) {
  const Ran ran = RunWords({"simulate", "net.onnx", "--precison", "bf16", "--optimiser=sgd"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("error E0101: unknown flag --precison"));
  EXPECT_THAT(ran.err, HasSubstr("did you mean --precision?"));
  EXPECT_THAT(ran.err, HasSubstr("did you mean --optimizer?"));
}

TEST(Program, AFlagWithoutItsValueAndAMissingModelAreToldApart) {
  EXPECT_THAT(RunWords({"simulate", "net.onnx", "--bind"}).err, HasSubstr("error E0112: --bind needs a value"));
  EXPECT_THAT(RunWords({"simulate"}).err, HasSubstr("error E0112: MODEL.onnx is missing"));
  EXPECT_THAT(RunWords({"simulate", "a.onnx", "b.onnx"}).err, HasSubstr("unexpected word \"b.onnx\""));
}

TEST(Program, ASwitchTakesNoWordThatIsNotAValue) {
  // "--padding" before the model must not swallow it: the file is looked for, and is missing.
  const Ran ran = RunWords({"simulate", "--padding", "/nonexistent/net.onnx"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("/nonexistent/net.onnx"));
}

TEST(Program, AnUnknownFormatListsTheKnownOnes) {
  const Ran ran = RunWords({"simulate", "net.onnx", "--format", "jsn"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("did you mean json?"));
}

TEST(Program, AnUnknownOptimizerSuggestsTheNearest) {
  const Ran ran = RunWords({"simulate", "net.onnx", "--optimizer", "adamww"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("error E0105: unknown optimizer \"adamww\""));
  EXPECT_THAT(ran.err, HasSubstr("did you mean adamw?"));
}

TEST(Program, RegistriesAreListed) {
  EXPECT_THAT(RunWords({"devices"}).out, HasSubstr("h100-80gb"));
  EXPECT_THAT(RunWords({"devices", "t4"}).out, HasSubstr("source:"));
  EXPECT_THAT(RunWords({"optimizers"}).out, HasSubstr("adamw"));
  EXPECT_THAT(RunWords({"ops"}).out, HasSubstr("addmm"));
}

TEST(Output, AnExistingFileIsKeptUnlessForced) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/memcrest_output_test.txt");
  std::remove(path.c_str());
  Console console;
  EXPECT_TRUE(WriteOutput(path, "one", false, console).ok());
  EXPECT_EQ(WriteOutput(path, "two", false, console).message(),
            absl::StrCat("error E0701: the output file exists\n  where: ", path,
                         "\n  fix: choose another name, or --force to overwrite it\n"));
  EXPECT_TRUE(WriteOutput(path, "three", true, console).ok());
  std::remove(path.c_str());
}

TEST(Output, AFolderThatIsNotThereIsSaid) {
  Console console;
  EXPECT_THAT(std::string(WriteOutput("/nonexistent/report.json", "x", false, console).message()),
              HasSubstr("error E0702"));
}

}  // namespace
}  // namespace memcrest
