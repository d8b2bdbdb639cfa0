// The graph signature of an exported program: which placeholder is which parameter, buffer, constant or input.
//
// Takes: the text under "pkg.torch.export.ExportedProgram.graph_signature".
// Gives: its entries in order; parameters and buffers stand in registration order. Views into the text.
#ifndef MEMCREST_LIFT_SIGNATURE_H_
#define MEMCREST_LIFT_SIGNATURE_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace memcrest {

struct SignatureEntry {
  enum class Kind : uint8_t { kParameter, kBuffer, kConstant, kInput, kOther };
  absl::string_view name;    // "p_model_fc_weight"
  absl::string_view target;  // "model.fc.weight"; empty for inputs
  Kind kind = Kind::kOther;
  bool persistent = true;
};

struct Signature {
  std::vector<SignatureEntry> inputs;
  std::vector<absl::string_view> outputs;  // user outputs only
};

Signature ParseSignature(absl::string_view text);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_SIGNATURE_H_
