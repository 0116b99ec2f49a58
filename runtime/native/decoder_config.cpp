#include "runtime/native/decoder_config.h"

#include <array>
#include <string>
#include <string_view>

namespace workbench::native {
namespace {

using nlohmann::json;

/// Collects the first reason against a configuration while its values are read.
class Reader {
public:
    explicit Reader(const json& config) : m_config(config) {}

    std::int64_t size(const char* key, std::int64_t fallback = 0) {
        const json* value = find(key);
        if (value && value->is_number_integer() && value->get<std::int64_t>() > 0)
            return value->get<std::int64_t>();
        if (value || fallback == 0)
            refuse(std::string(key) + (value ? " is " + value->dump() : " is missing"));
        return fallback;
    }
    double number(const char* key, double fallback) {
        const json* value = find(key);
        if (value && !value->is_number())
            refuse(std::string(key) + " is " + value->dump());
        return value && value->is_number() ? value->get<double>() : fallback;
    }
    /// Anything but `plain` (or nothing at all) would change the numbers.
    void mustBe(const char* key, const json& plain) {
        const json* value = find(key);
        if (value && *value != plain)
            refuse(std::string(key) + " is " + value->dump());
    }
    const json* find(const char* key) const {
        const auto place = m_config.find(key);
        return place == m_config.end() || place->is_null() ? nullptr : &*place;
    }
    void refuse(const std::string& why) {
        if (m_reason.empty())
            m_reason = why;
    }
    const std::string& reason() const { return m_reason; }

private:
    const json& m_config;
    std::string m_reason;
};

std::string architecture(const json& config) {
    const auto names = config.find("architectures");
    const bool one =
        names != config.end() && names->is_array() && names->size() == 1 && (*names)[0].is_string();
    return one ? (*names)[0].get<std::string>() : std::string();
}

/// transformers 5 writes "rope_parameters"; earlier ones "rope_theta" and "rope_scaling".
RotaryConfig rotaryConfig(Reader& reader) {
    RotaryConfig rotary;
    rotary.theta = reader.number("rope_theta", rotary.theta);
    const json* parameters = reader.find("rope_parameters");
    const json* scaling = reader.find("rope_scaling");
    if (parameters && scaling && !scaling->empty())
        reader.refuse("the rotary embedding is described twice, by rope_parameters and rope_scaling");
    if (!parameters)
        parameters = scaling;
    if (!parameters)
        return rotary;
    if (!parameters->is_object()) {
        reader.refuse("the rotary embedding is " + parameters->dump());
        return rotary;
    }
    Reader rope(*parameters);
    rotary.theta = rope.number("rope_theta", rotary.theta);
    rope.mustBe("partial_rotary_factor", 1.0);
    const json* named = rope.find("rope_type") ? rope.find("rope_type") : rope.find("type");
    const std::string kind = !named               ? "default"
                             : named->is_string() ? named->get<std::string>()
                                                  : named->dump();
    if (kind == "linear" || kind == "llama3")
        rotary.factor = rope.number("factor", 0);
    if (kind == "linear") {
        rotary.scaling = RotaryConfig::Scaling::linear;
    } else if (kind == "llama3") {
        rotary.scaling = RotaryConfig::Scaling::llama3;
        rotary.lowFrequencyFactor = rope.number("low_freq_factor", 0);
        rotary.highFrequencyFactor = rope.number("high_freq_factor", 0);
        rotary.originalTokens = rope.number("original_max_position_embeddings", 0);
        reader.mustBe("original_max_position_embeddings", rotary.originalTokens); // would take its place
        if (!(rotary.originalTokens > 0) || !(rotary.highFrequencyFactor > rotary.lowFrequencyFactor) ||
            !(rotary.lowFrequencyFactor > 0))
            rope.refuse("its llama3 scaling makes no sense");
    } else if (kind != "default") {
        rope.refuse("its scaling is '" + kind + "'");
    }
    if (!(rotary.factor > 0))
        rope.refuse("its factor is not positive");
    if (!rope.reason().empty())
        reader.refuse("of the rotary embedding, " + rope.reason());
    return rotary;
}

Error notAvailable(const std::string& why) {
    return Error{ErrorCode::runtimeFailed,
                 "There is hand-written code for plain LlamaForCausalLM and Qwen3ForCausalLM only: " + why +
                     ".",
                 {}};
}

} // namespace

Result<DecoderConfig> decoderConfig(const json& config) {
    if (!config.is_object())
        return notAvailable("the configuration is no object");
    const std::string name = architecture(config);
    if (name != "LlamaForCausalLM" && name != "Qwen3ForCausalLM")
        return notAvailable(name.empty() ? "the configuration names no architecture" : "this is a " + name);
    Reader reader(config);
    DecoderConfig decoder;
    decoder.layers = reader.size("num_hidden_layers");
    decoder.hidden = reader.size("hidden_size");
    decoder.intermediate = reader.size("intermediate_size");
    decoder.queryHeads = reader.size("num_attention_heads");
    decoder.kvHeads = reader.size("num_key_value_heads", decoder.queryHeads);
    reader.mustBe("model_type", name == "LlamaForCausalLM" ? "llama" : "qwen3"); // decides the class
    reader.mustBe("auto_map", nullptr);                                          // code of its own
    decoder.headNorms = name == "Qwen3ForCausalLM";
    const bool divides = decoder.queryHeads > 0 && decoder.hidden % decoder.queryHeads == 0;
    decoder.headWidth =
        reader.size("head_dim", !decoder.headNorms && divides ? decoder.hidden / decoder.queryHeads : 0);
    decoder.vocabulary = reader.size("vocab_size");
    decoder.normEps = reader.number("rms_norm_eps", decoder.normEps);
    decoder.rotary = rotaryConfig(reader);
    for (const char* bias : {"attention_bias", "mlp_bias", "use_sliding_window"})
        reader.mustBe(bias, false);
    reader.mustBe("hidden_act", "silu");
    reader.mustBe("quantization_config", nullptr);
    if (decoder.kvHeads > 0 && decoder.queryHeads % decoder.kvHeads != 0)
        reader.refuse("its query heads are no multiple of its key heads");
    if (decoder.headWidth % 2 != 0)
        reader.refuse("its heads have the odd width " + std::to_string(decoder.headWidth));
    if (!reader.reason().empty())
        return notAvailable(reader.reason());
    return decoder;
}

} // namespace workbench::native
