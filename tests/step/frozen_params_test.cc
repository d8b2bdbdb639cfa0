#include "src/step/frozen_params.h"

#include <gtest/gtest.h>

namespace memcrest {
namespace {

Param Named(const char* fqn) {
  Param p;
  p.fqn = fqn;
  p.dims = {4};
  return p;
}

// WhisperEncoder.__init__: self.embed_positions.requires_grad_(False); the decoder's table is trained.
TEST(FrozenParams, AnEncodersFixedSinusoidsAreNotTrained) {
  Network net;
  net.modules.resize(2);
  net.modules[1].cls = "transformers.models.whisper.modeling_whisper.WhisperEncoder";
  net.params = {Named("model.encoder.conv2.weight"), Named("model.encoder.embed_positions.weight"),
                Named("model.decoder.embed_positions.weight")};
  EXPECT_EQ(FrozenByConstructor(net), (std::vector<bool>{false, true, false}));
  net.modules[1].cls = "net.Encoder";
  EXPECT_EQ(FrozenByConstructor(net), (std::vector<bool>{false, false, false}));
}

}  // namespace
}  // namespace memcrest
