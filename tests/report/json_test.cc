#include <gtest/gtest.h>

#include "src/report/json_writer.h"
#include "src/report/renderer.h"
#include "tests/report/sample_report.h"

namespace memcrest {
namespace {

TEST(JsonReport, HasTheFieldsOfTheContractInTheirOrder) {
  const std::string text = Renderers().Find("json")->render(SampleReport(), {});
  const std::string start = R"({
 "schema": 1,
 "model": {
  "parameter_count": 1073741824,
  "trainable_count": 1073741824,
  "parameter_bytes": 4294967296,
  "buffer_bytes": 0,
  "file": "net.onnx"
 },
 "devices": [
  {
   "ranks": [0],
   "peak": {
    "allocated_bytes": 18253611008,
    "tensor_bytes": 17179869184,
    "phase": "backward",
    "op": "native_layer_norm_backward",
    "module": "model.layers.31.mlp",
    "by_category": {"parameters": 4294967296, "buffers": 0, "inputs": 0, "gradients": 2147483648, "optimizer_state": 0, "activations": 10737418240,)"
    R"( "temporaries": 0, "communication": 0, "workspace": 0}
   },
   "reserved_bytes": 21474836480,
   "process_bytes": 22548578304,
   "fits": true,
   "step_seconds": 0,
   "phases": {
    "forward": {"allocated_bytes": 16106127360, "tensor_bytes": 15032385536},
    "backward": {"allocated_bytes": 18253611008, "tensor_bytes": 17179869184}
   },
   "marks": {
    "step_start": {"allocated_bytes": 5368709120, "tensor_bytes": 4294967296}
   },
)";
  EXPECT_EQ(text.substr(0, start.size()), start);
  EXPECT_NE(text.find(R"("assumptions": [
  {"code": "A0301", "message": "dropout \"p\" is 0.1", "bytes": 512}
 ],
 "unknown_ops": [
  {"op": "com.acme::Foo", "count": 2, "bytes": 1024}
 ],)"), std::string::npos) << text;
}

TEST(JsonReport, TheTimelineIsStoredByColumn) {
  const std::string text = Renderers().Find("json")->render(SampleReport(), {});
  EXPECT_NE(text.find(R"("event": [0, 9],
    "phase": ["forward", "backward"],
    "parameters": [1, 1],)"), std::string::npos) << text;
}

TEST(CsvReport, HasALineForEachTensor) {
  EXPECT_EQ(Renderers().Find("csv")->render(SampleReport(), {}),
            "ranks,name,module,op,bytes,category,born_phase\n"
            "0,output of gelu,model.layers.31.mlp,gelu,1073741824,activations,forward\n");
}

TEST(TraceReport, HasASliceForEachPhaseAndACounterForEachSample) {
  const std::string text = Renderers().Find("trace")->render(SampleReport(), {});
  EXPECT_NE(text.find(R"({"ph": "X", "name": "forward", "pid": 0, "ts": 0, "tid": 0, "dur": 9})"), std::string::npos)
      << text;
  EXPECT_NE(text.find(R"({"ph": "C", "name": "live tensors", "pid": 0, "ts": 9, "args": {"parameters": 1,)"),
            std::string::npos)
      << text;
}

TEST(Renderers, EveryFormatGivesTheSameTextTwice) {
  for (const Renderer& renderer : Renderers().All()) {
    EXPECT_EQ(renderer.render(SampleReport(), {}), renderer.render(SampleReport(), {})) << renderer.name;
    EXPECT_STRNE(renderer.help, "") << renderer.name;
  }
}

TEST(JsonString, EscapesAndReplacesInvalidUtf8) {
  EXPECT_EQ(JsonString("a\"\\\n\x01"), R"("a\"\\\n\u0001")");
  EXPECT_EQ(JsonString("\xC3\xA9"), "\"\xC3\xA9\"");
  EXPECT_EQ(JsonString("\xFFx\xC3"), R"("\ufffdx\ufffd")");
}

}  // namespace
}  // namespace memcrest
