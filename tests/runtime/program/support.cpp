#include "tests/runtime/program/support.h"

#include "runtime/program/random_weights.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace workbench::test {

Result<at::Tensor> GivenTensors::fetch(const Input& input, const TensorMeta& meta) {
    if (const auto given = m_tensors.find(input.target); given != m_tensors.end())
        return given->second;
    std::vector<std::int64_t> shape;
    for (const SymInt& size : meta.shape)
        shape.push_back(size.constant());
    return at::zeros(shape, toTorch(meta.dtype));
}

std::unique_ptr<Program> compile(const std::string& text, std::map<std::string, at::Tensor> parameters,
                                 Placement placement) {
    auto graph = parseGraph(text);
    if (!graph) {
        ADD_FAILURE() << graph.error().message;
        return nullptr;
    }
    GivenTensors source(std::move(parameters));
    auto program = Program::create(std::move(*graph), source, placement);
    if (!program) {
        ADD_FAILURE() << program.error().message;
        return nullptr;
    }
    return std::make_unique<Program>(std::move(*program));
}

std::string compileError(const std::string& text) {
    auto graph = parseGraph(text);
    if (!graph) {
        ADD_FAILURE() << graph.error().message;
        return {};
    }
    GivenTensors source;
    const auto program = Program::create(std::move(*graph), source);
    return program ? "" : program.error().message;
}

at::Tensor floats(const std::vector<float>& values, at::IntArrayRef shape) {
    at::Tensor tensor = at::empty(shape, at::kFloat);
    std::copy(values.begin(), values.end(), tensor.mutable_data_ptr<float>());
    return tensor;
}

at::Tensor longs(const std::vector<std::int64_t>& values, at::IntArrayRef shape) {
    at::Tensor tensor = at::empty(shape, at::kLong);
    std::copy(values.begin(), values.end(), tensor.mutable_data_ptr<std::int64_t>());
    return tensor;
}

std::vector<float> toVector(const at::Tensor& tensor) {
    const at::Tensor contiguous = tensor.to(at::kFloat).contiguous();
    const auto* data = contiguous.const_data_ptr<float>();
    return {data, data + contiguous.numel()};
}

std::string languageModelText(const std::string& mix) {
    return R"(
input %input_ids: i64[1, s0]
input %position_ids: i64[1, s0]
input %logits_to_keep: i64[s1]
parameter %embed: f32[16, 8] "embed"
parameter %qkv: f32[24, 8] "qkv"
parameter %head: f32[16, 8] "head"
%hidden: f32[1, s0, 8] = aten.embedding.default(weight=%embed, indices=%input_ids)
)" + mix + R"(
%merged: f32[1, s0, 24] = aten.linear.default(input=%mixed, weight=%qkv)
%q: f32[1, s0, 8], %k: f32[1, s0, 8], %v: f32[1, s0, 8] = aten.split_with_sizes.default(self=%merged, split_sizes=[8, 8, 8], dim=-1)
%qv: f32[1, s0, 2, 4] = aten.view.default(self=%q, size=[1, s0, 2, 4])
%kv: f32[1, s0, 2, 4] = aten.view.default(self=%k, size=[1, s0, 2, 4])
%vv: f32[1, s0, 2, 4] = aten.view.default(self=%v, size=[1, s0, 2, 4])
%qt: f32[1, 2, s0, 4] = aten.transpose.int(self=%qv, dim0=1, dim1=2)
%kt: f32[1, 2, s0, 4] = aten.transpose.int(self=%kv, dim0=1, dim1=2)
%vt: f32[1, 2, s0, 4] = aten.transpose.int(self=%vv, dim0=1, dim1=2)
%attended: f32[1, s0, 2, 4] = workbench.attention(query=%qt, key=%kt, value=%vt, positions=%position_ids, layer=0, scale=0.5, mask="causal", window=0, softcap=0.0, sinks=none, slopes=none)
%flat: f32[1, s0, 8] = aten.view.default(self=%attended, size=[1, s0, 8])
%out: f32[1, s0, 8] = aten.add.Tensor(self=%mixed, other=%flat)
%kept: f32[1, s1, 8] = aten.index.Tensor(self=%out, indices=[none, %logits_to_keep])
%logits: f32[1, s1, 16] = aten.linear.default(input=%kept, weight=%head)
output %logits
)";
}

std::map<std::string, at::Tensor> languageModelWeights() {
    return {{"embed", randomWeight(1, "embed", {16, 8}).mul(4)},
            {"qkv", randomWeight(1, "qkv", {24, 8})},
            {"head", randomWeight(1, "head", {16, 8})}};
}

std::vector<std::vector<std::int64_t>> prompts() {
    std::vector<std::vector<std::int64_t>> all;
    for (std::int64_t i = 0; i < 20; ++i) {
        std::vector<std::int64_t> prompt;
        for (std::int64_t at = 0; at < 1 + i * 7 % 40; ++at)
            prompt.push_back(at < 20 ? (at * at + i % 2) % 16 : (at * (i + 3)) % 16);
        all.push_back(std::move(prompt));
    }
    return all;
}

LanguageModel modelOf(int window, const std::string& mixing, Placement placement) {
    std::string text = languageModelText("%mixed: f32[1, s0, 8] = " + mixing);
    if (window > 0) {
        const std::string causal = "mask=\"causal\", window=0";
        text.replace(text.find(causal), causal.size(), "mask=\"sliding\", window=" + std::to_string(window));
    }
    auto program = compile(text, languageModelWeights(), placement);
    return std::move(*LanguageModel::create(std::move(*program)));
}

} // namespace workbench::test
