#include <map>

#include <gtest/gtest.h>

#include "src/job/document.h"
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

TEST(CsvReport, WithoutARecordOfTheStepHasTheLargestTensors) {
  EXPECT_EQ(Renderers().Find("csv")->render(SampleReport(), {}),
            "ranks,name,module,op,bytes,category,seen,born,dies,at_peak\n"
            "0,output of gelu,model.layers.31.mlp,gelu,1073741824,activations,both,,,true\n");
}

// A step of ten events: a weight throughout, an activation in [2, 7) that becomes a gradient at 5, the peak at 3.
Report WithStep() {
  Report report = SampleReport();
  DeviceReport& d = report.devices[0];
  d.peak.event = 3;
  d.step.events = 10;
  d.step.strings = {"", "fc.weight", "fc", "init", "output of mm", "mm", "step"};
  StorageLife weight;
  weight.dies = 10;
  weight.bytes = 512;
  weight.category = Category::kParameters;
  weight.name = 1, weight.module = 2, weight.op = 3;
  StorageLife output;
  output.born = 2, output.dies = 7;
  output.bytes = 1024, output.slack = 512;
  output.name = 4, output.module = 2, output.op = 5;
  d.step.lives = {weight, output};
  d.step.changes = {{1, 5, Category::kGradients}};
  d.step.spans = {{0, 5, 2, Phase::kForward, Pass::kForward, 0, 0}, {4, 6, 0, Phase::kOptimizer, Pass::kForward, 0, 1}};
  d.step.segments = {{-1, 4096, 2 << 20, true}};
  return report;
}

TEST(CsvReport, HasALineForEachStorageOfTheStep) {
  EXPECT_EQ(Renderers().Find("csv")->render(WithStep(), {}),
            "ranks,name,module,op,bytes,category,seen,born,dies,at_peak\n"
            "0,fc.weight,fc,init,512,parameters,both,-1,,true\n"
            "0,output of mm,fc,mm,1024,activations,both,2,7,true\n");
}

TEST(JsonReport, HasTheStoragesOfTheStepWhereAskedFor) {
  EXPECT_EQ(Renderers().Find("json")->render(WithStep(), {}).find("\"lives\""), std::string::npos);
  const std::string text = Renderers().Find("json")->render(WithStep(), {.verbose = true});
  EXPECT_NE(text.find(R"("step": {
    "events": 10,
    "strings": ["", "fc.weight", "fc", "init", "output of mm", "mm", "step"],
    "lives": {
     "born": [-1,2],
     "dies": [10,7],
     "bytes": [512,1024],
     "slack": [0,512],)"), std::string::npos) << text;
}

TEST(TraceReport, HasSlicesOfPhasesAndOperatorsOnTheirStreams) {
  const std::string text = Renderers().Find("trace")->render(WithStep(), {});
  for (const char* line : {
           R"({"ph": "M", "name": "thread_name", "pid": 0, "tid": 11, "args": {"name": "stream 1"}})",
           R"({"ph": "X", "name": "forward", "pid": 0, "tid": 1, "cat": "phase", "ts": 0, "dur": 4, "args": {"micro_batch": 0}})",
           R"({"ph": "X", "name": "mm", "pid": 0, "tid": 10, "cat": "forward", "ts": 0, "dur": 4, "args": {"module": "fc"}})",
           R"({"ph": "X", "name": "step", "pid": 0, "tid": 11, "cat": "optimizer", "ts": 4, "dur": 6, "args": {"module": ""}})",
       }) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
}

// Each counter changes where its sum does: activations leave at 5, when they become gradients.
TEST(TraceReport, CountsLiveAllocatedAndReservedBytes) {
  const std::string text = Renderers().Find("trace")->render(WithStep(), {});
  for (const char* line : {
           R"("name": "live activations", "pid": 0, "tid": 0, "ts": 2, "args": {"bytes": 1024})",
           R"("name": "live activations", "pid": 0, "tid": 0, "ts": 5, "args": {"bytes": 0})",
           R"("name": "live gradients", "pid": 0, "tid": 0, "ts": 7, "args": {"bytes": 0})",
           R"("name": "allocated", "pid": 0, "tid": 0, "ts": 2, "args": {"bytes": 2048})",
           R"("name": "reserved", "pid": 0, "tid": 0, "ts": 0, "args": {"bytes": 2097152})",
       }) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
}

// From 0 to 4 events take 2 us, from 4 to 10 another 9: 3.5 at event 5.
TEST(TraceReport, UsesTheClockWhereItIsKnown) {
  Report report = WithStep();
  report.devices[0].step.clock = {{0, 0}, {4, 2000}, {10, 11000}};
  const std::string text = Renderers().Find("trace")->render(report, {});
  EXPECT_NE(text.find(R"("name": "forward", "pid": 0, "tid": 1, "cat": "phase", "ts": 0, "dur": 2,)"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("name": "live activations", "pid": 0, "tid": 0, "ts": 3.5, "args": {"bytes": 0})"), std::string::npos) << text;
}

// The Trace Event Format: every event has a phase of one letter, a name and a process; slices and counters have a time.
TEST(TraceReport, EveryEventHasTheFieldsOfItsKind) {
  for (const Report& report : {WithStep(), SampleReport()}) {
    const absl::StatusOr<Doc> doc = ParseDocument({"trace.json", Renderers().Find("trace")->render(report, {})});
    ASSERT_TRUE(doc.ok()) << doc.status();
    ASSERT_EQ(doc->items.back().key, "traceEvents");
    for (const Doc& event : doc->items.back().items) {
      std::map<std::string, std::string> fields;
      for (const Doc& field : event.items) fields[field.key] = field.text;
      const std::string kind = fields["ph"];
      EXPECT_NE(std::string("MXCi").find(kind), std::string::npos) << kind;
      for (const char* key : {"name", "pid", "tid"}) EXPECT_TRUE(fields.count(key)) << key;
      EXPECT_EQ(fields.count("ts"), kind == "M" ? 0u : 1u);
      EXPECT_EQ(fields.count("dur"), kind == "X" ? 1u : 0u);
      EXPECT_TRUE((kind != "C" && kind != "M") || fields.count("args") == 1u) << kind;
    }
  }
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
