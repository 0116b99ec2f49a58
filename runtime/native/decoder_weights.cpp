#include "runtime/native/decoder_weights.h"

#include <utility>

namespace workbench::native {
namespace {

/// Fetches by name; after the first failure every further one is empty, and error() has it.
class Fetcher {
public:
    Fetcher(ScalarType dtype, ParameterSource& source) : m_dtype(dtype), m_source(source) {}

    at::Tensor vector(const std::string& name, std::int64_t width) { return tensor(name, {width}); }

    at::Tensor tensor(const std::string& name, SymShape shape) {
        auto fetched = m_source.fetch(inputOf({name}), {m_dtype, std::move(shape)});
        if (fetched)
            return fetched->contiguous();
        fail(fetched.error());
        return {};
    }
    /// Several names: their rows, one after the other.
    ops::PackedWeight product(const std::vector<std::string>& names, std::int64_t rows,
                              std::int64_t columns) {
        auto fetched = m_source.fetchPacked(inputOf(names), {m_dtype, {rows, columns}});
        if (fetched)
            return std::move(*fetched);
        fail(fetched.error());
        return {c10::ScalarType::Float, columns, {}};
    }
    std::optional<ops::PackedWeight> known(const std::string& name, std::int64_t rows, std::int64_t columns) {
        return m_source.findPacked(inputOf({name}), {m_dtype, {rows, columns}});
    }
    const std::optional<Error>& error() const { return m_error; }

private:
    static Input inputOf(const std::vector<std::string>& names) {
        Input input{.kind = Input::Kind::parameter, .target = names.front()};
        if (names.size() > 1)
            input.derived = DerivedParameter{names, 0};
        return input;
    }
    void fail(const Error& error) {
        if (!m_error)
            m_error = error;
    }

    ScalarType m_dtype;
    ParameterSource& m_source;
    std::optional<Error> m_error;
};

LayerWeights layerWeights(Fetcher& fetch, const DecoderConfig& config, std::int64_t layer) {
    const std::string prefix = "model.layers." + std::to_string(layer) + ".";
    const std::string attention = prefix + "self_attn.";
    const std::string feedForward = prefix + "mlp.";
    const auto headNorm = [&](const char* name) {
        return config.headNorms ? fetch.vector(attention + name, config.headWidth) : at::Tensor();
    };
    return {
        fetch.vector(prefix + "input_layernorm.weight", config.hidden),
        fetch.vector(prefix + "post_attention_layernorm.weight", config.hidden),
        headNorm("q_norm.weight"),
        headNorm("k_norm.weight"),
        fetch.product({attention + "q_proj.weight", attention + "k_proj.weight", attention + "v_proj.weight"},
                      config.mergedWidth(), config.hidden),
        fetch.product({attention + "o_proj.weight"}, config.hidden, config.queryWidth()),
        fetch.product({feedForward + "gate_proj.weight", feedForward + "up_proj.weight"},
                      2 * config.intermediate, config.hidden),
        fetch.product({feedForward + "down_proj.weight"}, config.hidden, config.intermediate)};
}

} // namespace

Result<DecoderWeights> decoderWeights(const DecoderConfig& config, ScalarType dtype,
                                      const std::set<std::string>& names, ParameterSource& source) {
    const std::string embedding = "model.embed_tokens.weight";
    const std::string head = "lm_head.weight";
    Fetcher fetch(dtype, source);
    DecoderWeights weights{
        {},
        {},
        {},
        {},
        fetch.product({names.contains(head) ? head : embedding}, config.vocabulary, config.hidden)};
    // A tied embedding is read from the packed head, where the store says that it is the same tensor.
    const std::string lookup = names.contains(embedding) ? embedding : head;
    weights.packedEmbedding = fetch.known(lookup, config.vocabulary, config.hidden);
    if (!weights.packedEmbedding)
        weights.embedding = fetch.tensor(lookup, {config.vocabulary, config.hidden});
    for (std::int64_t layer = 0; layer < config.layers && !fetch.error(); ++layer)
        weights.layers.push_back(layerWeights(fetch, config, layer));
    weights.norm = fetch.vector("model.norm.weight", config.hidden);
    if (fetch.error())
        return *fetch.error();
    return weights;
}

} // namespace workbench::native
