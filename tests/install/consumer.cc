// Reads the model named on the command line with the installed library and says what it holds.
#include <cstdio>

#include "src/base/bytes.h"
#include "src/onnx/reader.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto model = memcrest::onnx::ReadFile(argv[1]);
  if (!model.ok()) {
    std::fprintf(stderr, "%s\n", model.status().ToString().c_str());
    return 1;
  }
  memcrest::Bytes stored = 0;
  for (const auto& literal : model->graph.initializers) stored += literal.stored_bytes;
  std::printf("%zu nodes, %s stored\n", model->graph.nodes.size(), memcrest::HumanBytes(stored).c_str());
  return model->graph.nodes.empty() ? 1 : 0;
}
