// A small invented report, for the renderers' tests.
#ifndef MEMCREST_TESTS_REPORT_SAMPLE_REPORT_H_
#define MEMCREST_TESTS_REPORT_SAMPLE_REPORT_H_

#include "src/report/report.h"

namespace memcrest {

// Live tensors at the peak: 4 GiB of parameters, 2 of gradients, 10 of activations: 16 GiB. Reserved 20 GiB, of which 2
// are lost; process 21 GiB of 24.
inline Report SampleReport() {
  constexpr Bytes kGiB = Bytes{1} << 30;
  DeviceReport d;
  d.ranks = {0};
  d.device = "test-24gb";
  d.capacity = 24 * kGiB;
  d.peak.live = {17 * kGiB, 16 * kGiB};
  d.peak.phase = "backward";
  d.peak.op = "native_layer_norm_backward";
  d.peak.module = "model.layers.31.mlp";
  d.peak.by_category = {4 * kGiB, 0, 0, 2 * kGiB, 0, 10 * kGiB, 0, 0, 0};
  d.reserved = 20 * kGiB;
  d.requested = 16 * kGiB + 100;
  d.ideal_reserved = 18 * kGiB;
  d.process = 21 * kGiB;
  d.process_parts = {{"context", kGiB / 2, kGiB, 2 * kGiB}};
  d.phases = {{"forward", {15 * kGiB, 14 * kGiB}}, {"backward", {17 * kGiB, 16 * kGiB}}};
  d.marks = {{"step_start", {5 * kGiB, 4 * kGiB}}};
  d.top_modules = {{"model.layers.31.mlp", 3 * kGiB, 7}};
  d.top_tensors = {{"output of gelu", "model.layers.31.mlp", "gelu", kGiB, Category::kActivations, "forward"}};
  d.timeline = {{0, "forward", {1, 0, 0, 0, 0, 2, 0, 0, 0}}, {9, "backward", {1, 0, 0, 4, 0, 3, 0, 0, 0}}};
  Report report;
  report.model_file = "net.onnx";
  report.parameter_count = report.trainable_count = 1073741824;
  report.parameter_bytes = 4 * kGiB;
  report.bind = {{"batch", 8}};
  report.settings = {{"precision", "fp32"}};
  report.devices = {d};
  report.assumptions = {{"A0301", "dropout \"p\" is 0.1", 512}};
  report.unknown_ops = {{"com.acme::Foo", 2, 1024}};
  report.next = {"memcrest inspect net.onnx"};
  return report;
}

}  // namespace memcrest

#endif  // MEMCREST_TESTS_REPORT_SAMPLE_REPORT_H_
