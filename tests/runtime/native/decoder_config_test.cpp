#include "runtime/native/decoder_config.h"

#include <gtest/gtest.h>

namespace workbench::native {
namespace {

using nlohmann::json;

/// SmolLM2-135M's configuration, as transformers writes it.
json smolLm2() {
    return json::parse(R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false, "head_dim": 64,
        "hidden_act": "silu", "hidden_size": 576, "intermediate_size": 1536, "mlp_bias": false, "model_type": "llama",
        "num_attention_heads": 9, "num_hidden_layers": 30, "num_key_value_heads": 3, "rms_norm_eps": 1e-05,
        "rope_parameters": {"rope_theta": 100000.0, "rope_type": "default"}, "tie_word_embeddings": true,
        "vocab_size": 49152})");
}

std::string reasonAgainst(const char* key, const json& value) {
    json config = smolLm2();
    config[key] = value;
    const auto read = decoderConfig(config);
    return read ? "" : read.error().message;
}

TEST(DecoderConfig, ReadsSizesAndRotation) {
    const auto config = decoderConfig(smolLm2());
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->layers, 30);
    EXPECT_EQ(config->queryWidth(), 576);
    EXPECT_EQ(config->kvWidth(), 192);
    EXPECT_EQ(config->mergedWidth(), 960);
    EXPECT_EQ(config->normEps, 1e-5);
    EXPECT_EQ(config->rotary.theta, 100000);
    EXPECT_FALSE(config->headNorms);
}

TEST(DecoderConfig, ReadsWhatOlderVersionsWrite) {
    json config = smolLm2();
    config.erase("rope_parameters");
    config.erase("head_dim");
    config["rope_theta"] = 500000.0;
    config["rope_scaling"] = {{"type", "linear"}, {"factor", 2.0}};
    const auto read = decoderConfig(config);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->headWidth, 64);
    EXPECT_EQ(read->rotary.theta, 500000);
    EXPECT_EQ(read->rotary.scaling, RotaryConfig::Scaling::linear);
    EXPECT_EQ(read->rotary.factor, 2);
}

// transformers lets the outer context length take the place of the inner one.
TEST(DecoderConfig, RefusesTwoOriginalContextLengths) {
    json config = smolLm2();
    config["rope_parameters"] = {{"rope_type", "llama3"},   {"rope_theta", 5e5},
                                 {"factor", 8.0},           {"low_freq_factor", 1.0},
                                 {"high_freq_factor", 4.0}, {"original_max_position_embeddings", 8192}};
    EXPECT_TRUE(decoderConfig(config));
    config["original_max_position_embeddings"] = 8192;
    EXPECT_TRUE(decoderConfig(config));
    config["original_max_position_embeddings"] = 64;
    EXPECT_FALSE(decoderConfig(config));
}

TEST(DecoderConfig, Qwen3NormalisesItsHeads) {
    json config = smolLm2();
    config["architectures"] = {"Qwen3ForCausalLM"};
    EXPECT_FALSE(decoderConfig(config)); // transformers goes by the model type
    config["model_type"] = "qwen3";
    const auto read = decoderConfig(config);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(read->headNorms);
    config.erase("head_dim"); // 128 there, whatever the other sizes are
    EXPECT_FALSE(decoderConfig(config));
}

TEST(DecoderConfig, SaysWhatItDoesNotCompute) {
    const auto names = [](const std::string& reason, const char* what) {
        return reason.starts_with(
                   "There is hand-written code for plain LlamaForCausalLM and Qwen3ForCausalLM only: ") &&
               reason.find(what) != std::string::npos;
    };
    EXPECT_PRED2(names, reasonAgainst("architectures", {"Gemma2ForCausalLM"}), "this is a Gemma2ForCausalLM");
    EXPECT_PRED2(names, reasonAgainst("architectures", nullptr), "names no architecture");
    EXPECT_PRED2(names, reasonAgainst("attention_bias", true), "attention_bias is true");
    EXPECT_PRED2(names, reasonAgainst("mlp_bias", true), "mlp_bias");
    EXPECT_PRED2(names, reasonAgainst("use_sliding_window", true), "use_sliding_window");
    EXPECT_PRED2(names, reasonAgainst("hidden_act", "gelu"), "hidden_act is \"gelu\"");
    EXPECT_PRED2(names, reasonAgainst("hidden_size", nullptr), "hidden_size is missing");
    EXPECT_PRED2(names, reasonAgainst("num_hidden_layers", 0), "num_hidden_layers is 0");
    EXPECT_PRED2(names, reasonAgainst("num_key_value_heads", 4), "no multiple");
    EXPECT_PRED2(names, reasonAgainst("head_dim", 63), "odd width 63");
    EXPECT_PRED2(names, reasonAgainst("quantization_config", {{"bits", 4}}), "quantization_config");
    EXPECT_PRED2(names, reasonAgainst("rope_parameters", {{"rope_type", "yarn"}}), "scaling is 'yarn'");
    EXPECT_PRED2(names, reasonAgainst("rope_parameters", {{"rope_type", "linear"}}), "factor");
    EXPECT_PRED2(names, reasonAgainst("rope_parameters", {{"rope_type", 3}}), "scaling is '3'");
    EXPECT_PRED2(names, reasonAgainst("rope_parameters", {{"partial_rotary_factor", 0.5}}),
                 "partial_rotary_factor");
    EXPECT_PRED2(names, reasonAgainst("rope_scaling", {{"rope_type", "linear"}, {"factor", 4.0}}),
                 "described twice");
    EXPECT_PRED2(names, reasonAgainst("model_type", "mistral"), "model_type is \"mistral\"");
    EXPECT_PRED2(names, reasonAgainst("auto_map", {{"AutoModelForCausalLM", "own.Own"}}), "auto_map");
    EXPECT_FALSE(decoderConfig(json::array()));
}

} // namespace
} // namespace workbench::native
