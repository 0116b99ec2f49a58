#pragma once

namespace workbench::gui::test {

/// Three layers, the last two with experts; random weights, since there is a configuration only.
inline constexpr const char* kSmallMoe =
    R"({"architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe",
"vocab_size": 211, "hidden_size": 60, "intermediate_size": 108, "num_hidden_layers": 3, "num_attention_heads": 6,
"num_key_value_heads": 2, "head_dim": 14, "max_position_embeddings": 256, "moe_intermediate_size": 36,
"num_experts": 6, "num_experts_per_tok": 2, "norm_topk_prob": true, "mlp_only_layers": [0], "rope_theta": 1000000.0,
"torch_dtype": "float32"})";

} // namespace workbench::gui::test
