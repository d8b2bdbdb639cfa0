#include "src/step/frozen_params.h"

#include <algorithm>
#include <array>

#include "absl/strings/match.h"

namespace memcrest {
namespace {

// Position tables of fixed sinusoids that transformers keeps as parameters. Source: WhisperEncoder.__init__
// (embed_positions.requires_grad_(False)), Marian- and PegasusSinusoidalPositionalEmbedding (weight.requires_grad =
// False), ViTMAEEmbeddings and ViTMAEDecoder (nn.Parameter(..., requires_grad=False)).
struct Rule {
  const char* param;  // end of its name
  const char* cls;    // part of a class of the network, where classes are told
  const char* beside; // end of another parameter's name; both must be there
};
constexpr std::array<Rule, 5> kRules = {{
    {"encoder.embed_positions.weight", "WhisperEncoder", "encoder.conv2.weight"},
    {"embed_positions.weight", "MarianSinusoidal", "shared.weight"},
    {"embed_positions.weight", "PegasusSinusoidal", "shared.weight"},
    {"embeddings.position_embeddings", "ViTMAE", "embeddings.patch_embeddings.projection.weight"},
    {"decoder.decoder_pos_embed", "ViTMAE", "decoder.decoder_embed.weight"},
}};

// Without classes only names speak: those of the encoder with its two convolutions are told apart by them alone.
bool Applies(const Network& net, const Rule& rule) {
  const auto& modules = net.modules;
  const bool told = std::any_of(modules.begin(), modules.end(), [](const Module& m) { return !m.cls.empty(); });
  const bool cls = std::any_of(modules.begin(), modules.end(),
                               [&](const Module& m) { return absl::StrContains(m.cls, rule.cls); });
  const bool beside = std::any_of(net.params.begin(), net.params.end(),
                                  [&](const Param& p) { return absl::EndsWith(p.fqn, rule.beside); });
  return beside && (cls || (!told && &rule == &kRules[0]));
}

}  // namespace

std::vector<bool> FrozenByConstructor(const Network& network) {
  std::vector<bool> frozen(network.params.size());
  for (const Rule& rule : kRules) {
    if (!Applies(network, rule)) continue;
    for (size_t i = 0; i < frozen.size(); ++i) {
      frozen[i] = frozen[i] || absl::EndsWith(network.params[i].fqn, rule.param);
    }
  }
  return frozen;
}

}  // namespace memcrest
