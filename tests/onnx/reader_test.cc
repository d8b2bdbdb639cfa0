// Files: mapped, large, wrong, cut off, damaged.
#include "src/onnx/reader.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/onnx/read.h"

namespace memcrest::onnx {
namespace {

using ::testing::HasSubstr;
using testing::GraphParts;
using testing::ModelOf;
using testing::NodeOf;
using testing::TensorOf;
using testing::ValueOf;
using testing::Wire;

// A file that is gone at the end of the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(absl::string_view bytes)
      : path_(absl::StrCat(::testing::TempDir(), "memcrest_reader_test_", getpid(), ".onnx")) {
    std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Wire SmallModel() {
  const GraphParts parts{.nodes = {NodeOf("Add", {"x", "w"}, {"y"})},
                         .initializers = {TensorOf("w", kInt64, {2}).Packed(7, {1, 2})},
                         .inputs = {ValueOf("x", kInt64, {-1, 2})},
                         .outputs = {ValueOf("y", kInt64, {-1, 2})}};
  return ModelOf(parts.Build());
}

// Resident memory of this process now, in bytes.
int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(Reader, AMappedFileReadsLikeItsBytes) {
  const TemporaryFile file(SmallModel().bytes());
  const absl::StatusOr<Model> model = ReadFile(file.path());
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(Dump(*model), Dump(Read(SmallModel())));
}

TEST(Reader, AModelOutlivesTheBytesItWasReadFrom) {
  std::string bytes = SmallModel().bytes();
  absl::StatusOr<Model> model = ReadBytes(bytes, "m.onnx");
  ASSERT_TRUE(model.ok());
  const std::string before = Dump(*model);
  bytes.assign(bytes.size(), 'x');
  const Model moved = *std::move(model);
  EXPECT_EQ(Dump(moved), before);
}

TEST(Reader, WeightsInAFileOverTwoGibibytesAreNotTouched) {
  // A model of three nodes around one tensor of 3 GiB, whose bytes are a hole in the file.
  constexpr int64_t kWeightBytes = int64_t{3} << 30;
  const Wire head = TensorOf("w", kFloat, {kWeightBytes / 4});
  const Wire raw_tag = Wire().Cut(9, kWeightBytes);  // its data come from the hole
  const Wire tensor_tag = Wire().Cut(5, head.bytes().size() + raw_tag.bytes().size() + kWeightBytes);
  const Wire rest =
      GraphParts{.nodes = {NodeOf("MatMul", {"x", "w"}, {"y"})}, .inputs = {ValueOf("x")}, .outputs = {ValueOf("y")}}
          .Build();
  const uint64_t graph_bytes =
      tensor_tag.bytes().size() + head.bytes().size() + raw_tag.bytes().size() + kWeightBytes + rest.bytes().size();
  const std::string start =
      absl::StrCat(Wire().Number(1, 10).Message(8, Wire().Number(2, 18)).Cut(7, graph_bytes).bytes(),
                   tensor_tag.bytes(), head.bytes(), raw_tag.bytes());
  const TemporaryFile file(start);
  {
    std::fstream out(file.path(), std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(static_cast<std::streamoff>(start.size()) + kWeightBytes);
    out.write(rest.bytes().data(), static_cast<std::streamsize>(rest.bytes().size()));
    if (!out.flush()) GTEST_SKIP() << "no room for a sparse file of 3 GiB";
  }
  const int64_t before = ResidentBytes();
  const absl::StatusOr<Model> model = ReadFile(file.path());
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->graph.initializers[0].stored_bytes, kWeightBytes);
  EXPECT_EQ(model->graph.nodes.size(), 1u);
  EXPECT_LT(ResidentBytes() - before, 16 << 20);
}

TEST(Reader, TellsWhyAFileCannotBeOpened) {
  const absl::Status missing = ReadFile("/no/such/model.onnx").status();
  EXPECT_EQ(missing.message(),
            "error E0201: the model file cannot be opened\n"
            "  where: /no/such/model.onnx\n"
            "  why: No such file or directory\n"
            "  fix: check the path\n");
  EXPECT_THAT(std::string(ReadFile("/tmp").status().message()), HasSubstr("the model path is a directory"));
  EXPECT_THAT(std::string(ReadFile("/dev/zero").status().message()), HasSubstr("not a regular file"));
}

TEST(Reader, RecognisesOtherFiles) {
  const std::pair<absl::string_view, absl::string_view> cases[] = {
      {absl::string_view("PK\x03\x04\x00\x00", 6), "a zip archive"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "a Git LFS pointer"},
      {"<!DOCTYPE html><html>", "an HTML page"},
      {"  <html lang=en>", "an HTML page"},
      {"{\"config\": 1}", "JSON"},
      {"<ir_version: 8>\nagraph (float x) => (y) {}", "a model in text form"},
      {"hello world, this is no model", "a text file"},
      {absl::string_view("\x40\x00\x00\x00\x00\x00\x00\x00{\"w\":{}}", 16), "a safetensors file"},
      {absl::string_view("\x1f\x8b\x08\x00", 4), "gzip-compressed"},
      {absl::string_view("\x80\x02}q\x00", 5), "a Python pickle"},
      {absl::string_view("\x1c\x00\x00\x00TFL3\x00", 9), "a TensorFlow Lite model"},
  };
  for (const auto& [bytes, kind] : cases) {
    const std::string text = Refusal(bytes);
    EXPECT_TRUE(absl::StartsWith(text, "error E0203: the file is not an ONNX model\n")) << kind << ": " << text;
    EXPECT_THAT(text, HasSubstr(absl::StrCat("it looks like ", kind)));
  }
}

TEST(Reader, AnEmptyFileAndAModelWithoutGraphAreRefused) {
  EXPECT_THAT(Refusal(""), HasSubstr("error E0202: the file is empty"));
  EXPECT_THAT(Refusal(Wire().Number(1, 8).bytes()), HasSubstr("error E0205: the file holds no model graph"));
}

TEST(Reader, AFileCutOffSaysHowMuchIsMissing) {
  // The graph of 1000 bytes begins behind the IR version (2 bytes) and its own tag and length (3): 1005 in all.
  const std::string bytes = Wire().Number(1, 8).Bytes(7, std::string(1000, '\0')).bytes();
  EXPECT_EQ(Refusal(absl::string_view(bytes).substr(0, 500)),
            "error E0202: the file is cut off\n"
            "  where: m.onnx, byte 2\n"
            "  why: a field of 1000 bytes begins here, but the file ends after 500 bytes\n"
            "  fix: download or copy the file again; with Git LFS: git lfs pull\n");
}

TEST(Reader, DamageInsideNamesTheByteAndTheMessage) {
  // The node (at byte 4, after the heads of the model's and graph's first fields) claims more than the graph has.
  const Wire file = Wire().Number(1, 8).Message(7, Wire().Cut(1, 77));
  EXPECT_EQ(Refusal(file),
            "error E0204: the file is damaged: it is not valid protobuf\n"
            "  where: m.onnx, byte 4 (in a GraphProto)\n"
            "  why: a field states more bytes than are left\n"
            "  fix: export or download the file again\n");
}

TEST(Reader, StructureIsBounded) {
  GraphParts parts;
  for (int i = 0; i < 1000; ++i) parts.nodes.push_back(NodeOf("Op", {}, {absl::StrCat("v", i)}));
  EXPECT_THAT(Refusal(ModelOf(parts.Build()).bytes(), {.max_structure_bytes = 100000}),
              HasSubstr("error E0215: the model's structure is too large"));
  EXPECT_TRUE(ReadBytes(ModelOf(parts.Build()).bytes(), "m.onnx").ok());
}

TEST(Reader, NamesInMessagesAreEscapedAndCut) {
  const std::string name = absl::StrCat("a\n\x01", std::string(1000, 'z'));
  const std::string text = Refusal(ModelOf(GraphParts{.nodes = {NodeOf("Neg", {name}, {"y"})}}.Build()));
  EXPECT_THAT(text, HasSubstr("value \"a\\n\\x01zzz"));
  EXPECT_LT(text.size(), 600u);
}

TEST(Reader, ATrainingPartIsNoted) {
  const Model model = Read(ModelOf(GraphParts{}.Build()).Message(20, Wire()));
  EXPECT_THAT(model.notes, ::testing::ElementsAre("training_info is not read"));
}

}  // namespace
}  // namespace memcrest::onnx
