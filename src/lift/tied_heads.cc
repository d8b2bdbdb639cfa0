#include "src/lift/tied_heads.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace memcrest {
namespace {

// Llama's published sizes tie the head from 128 thousand tokens on up to 3 thousand features (Llama 3.2, Qwen 2 and 3,
// Gemma); with smaller vocabularies or wider models they do not (Llama 1 to 3.1, Mistral, Mixtral, Phi-3).
constexpr int64_t kLargeVocabulary = 100000, kNarrowWidth = 3072;

// "embed_tokens" of "model.embed_tokens.weight"
absl::string_view ModuleLeaf(absl::string_view weight) {
  const absl::string_view path = weight.substr(0, weight.rfind('.'));
  const size_t dot = path.rfind('.');
  return dot == absl::string_view::npos ? path : path.substr(dot + 1);
}

bool LlamaBlocks(const onnx::Graph& graph) {
  return std::any_of(graph.initializers.begin(), graph.initializers.end(),
                     [](const onnx::Literal& t) { return absl::StrContains(t.name, "post_attention_layernorm."); });
}

}  // namespace

bool KeepsOwnHead(const onnx::Graph& graph, absl::string_view table, absl::string_view head, int64_t vocabulary, int64_t width) {
  const absl::string_view embedding = ModuleLeaf(table), output = ModuleLeaf(head);
  if (embedding == "embed_in") return true;                      // GPT-NeoX, Pythia: tie_word_embeddings = False
  if (output == "output" || output == "embed_out") return true;  // Meta's Llama reference code; older GPT-NeoX
  if (embedding != "embed_tokens" || !LlamaBlocks(graph)) return false;
  return vocabulary < kLargeVocabulary || width > kNarrowWidth;
}

}  // namespace memcrest
