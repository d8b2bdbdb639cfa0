// Where families of networks drop out, and how much by default. Source: their transformers configurations
// (hidden_dropout_prob, resid_pdrop, dropout_rate ... = 0.1) and forward methods. Families whose default is 0 (ALBERT,
// ViT, CLIP, Llama, Whisper) are not here.
#include "src/lift/dropouts.h"

namespace memcrest {

const std::vector<DropoutFamily>& DropoutFamilies() {
  using Where = DropoutSite::Where;
  static const std::vector<DropoutFamily>& families = *new std::vector<DropoutFamily>{
      {"BERT, RoBERTa, ELECTRA",
       {"attention.self.query", "attention.output.dense"},
       {{"embeddings.LayerNorm", Where::kAfter, 0.1},
        {"attention.self", Where::kAttention, 0.1},
        {"output.dense", Where::kAfter, 0.1}}},
      {"DistilBERT",
       {"attention.q_lin", "ffn.lin2"},
       {{"embeddings.LayerNorm", Where::kAfter, 0.1},
        {"attention", Where::kAttention, 0.1},
        {"ffn.lin2", Where::kAfter, 0.1}}},
      {"GPT-2",
       {"attn.c_attn", "mlp.c_fc"},
       {{"h.0", Where::kBefore, 0.1},
        {"attn", Where::kAttention, 0.1},
        {"attn.c_proj", Where::kAfter, 0.1},
        {"mlp.c_proj", Where::kAfter, 0.1}}},
      {"T5",
       {"SelfAttention.q", "DenseReluDense.wo"},
       {{"block.0", Where::kBefore, 0.1},
        {"SelfAttention", Where::kAttention, 0.1},
        {"EncDecAttention", Where::kAttention, 0.1},
        {"SelfAttention", Where::kAfter, 0.1},
        {"EncDecAttention", Where::kAfter, 0.1},
        {"DenseReluDense.wo", Where::kBefore, 0.1},
        {"DenseReluDense", Where::kAfter, 0.1},
        {"final_layer_norm", Where::kAfter, 0.1}}},
      {"BART",
       {"self_attn.out_proj", "layernorm_embedding", "fc2"},
       {{"layernorm_embedding", Where::kAfter, 0.1},
        {"self_attn", Where::kAfter, 0.1},
        {"encoder_attn", Where::kAfter, 0.1},
        {"fc2", Where::kAfter, 0.1}}},
      {"wav2vec 2.0",
       {"encoder.pos_conv_embed.conv", "feed_forward.output_dense"},
       {{"encoder.layer_norm", Where::kAfter, 0.1},
        {"attention", Where::kAttention, 0.1},
        {"attention", Where::kAfter, 0.1},
        {"feed_forward.output_dense", Where::kBefore, 0.1},
        {"feed_forward.output_dense", Where::kAfter, 0.1}}},
  };
  return families;
}

}  // namespace memcrest
