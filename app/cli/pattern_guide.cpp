#include "app/cli/pattern_guide.h"

#include <algorithm>
#include <array>

namespace workbench::cli {
namespace {

constexpr std::array kGuides = {
    PatternGuide{
        "attention", "softmax(QK^T)V as one operator that a paged KV cache can be bound to",
        "y = softmax(mask(softcap(scale * Q K^T))) V, a row for each query, sinks as one more logit per head",
        R"(query, key, value, positions
        |
workbench.attention(layer, scale, mask, window, softcap, sinks, slopes))",
        "every model with transformers' attention interface: the tracer puts the operator in place",
        "a mask that the operator cannot express; a scale or a window that is not a constant"},
    PatternGuide{"qk-norm-rope", "RMSNorm of each query and key head, then the rotation",
                 "q' = rope(rms_norm(q, wq)), k' = rope(rms_norm(k, wk)), over the width of a head",
                 R"(query -> rms-norm -> transpose -> rope        query, key
key   -> rms-norm -> transpose -> rope   =>       |
                                         workbench.qk_norm_rope)",
                 "Qwen3, Gemma 3",
                 "a norm over the full width (OLMo 2); different epsilons or cast orders for query and key"},
    PatternGuide{"add-rms-norm", "a residual sum and the RMSNorm that reads it, across module borders",
                 "s = a + b;  y = s / sqrt(mean(s^2) + eps) * w",
                 R"(a   b
 \ /                      a, b
 add ----> residual   =>   |
  |                  workbench.add_rms_norm -> y, s
rms-norm -> y)",
                 "nearly every decoder: the sum after attention and the one after the feed-forward block",
                 "a sum that is broadcast, scaled or of another element type than the norm's input"},
    PatternGuide{"qkv", "the query, key and value projections of one value as one matrix product",
                 "[q | k | v] = x [Wq; Wk; Wv]^T + [bq; bk; bv], then a split",
                 R"(      x                         x
    / | \                       |
  Wq  Wk  Wv       =>     [Wq; Wk; Wv]
   |  |   |                     |
   q  k   v                split q, k, v)",
                 "Llama, Qwen, Gemma, Mistral and most others, with grouped and with full heads",
                 "projections of different values; biases on some of them only; a weight that is no "
                 "parameter; one that is used elsewhere"},
    PatternGuide{"gate-up",
                 "the two projections of a gated feed-forward block, its activation and its product",
                 "y = act(x Wg^T) * (x Wu^T)",
                 R"(    x                    x
   / \                   |
 Wg   Wu           [Wg; Wu]
 |    |       =>         |
act   |         workbench.act_and_mul
  \  /                   |
  mul -> y               y)",
                 "SwiGLU and GeGLU blocks: Llama, Qwen, Gemma, Mistral",
                 "an activation without a kernel; gate and up of the same weight; a value between that is "
                 "used elsewhere"},
    PatternGuide{
        "rope", "the rotation of query and key by one pair of tables",
        "x' = x * cos + rotate(x) * sin, rotate by halves or by neighbours, on all or the first dims of a "
        "head",
        R"(query, key, cos, sin                       query, key, cos, sin
slice, neg, cat, mul, mul, add (twice)  =>        |
                                            workbench.rope)",
        "Llama, Qwen, Gemma; partial: StableLM, GPT-NeoX; interleaved: Cohere",
        "different tables for query and key; a rotation that is neither by halves nor by neighbours"},
    PatternGuide{"rms-norm", "RMSNorm in all common spellings",
                 "y = x / sqrt(mean(x^2) + eps) * w, with weight w, 1 + w or none, in either cast order",
                 R"(x -> pow -> mean -> + eps -> rsqrt         x
x -------------------------> mul      =>    |
                       weight > mul     workbench.rms_norm)",
                 "Llama, Qwen, OLMo 2 (cast before or after the weight), Gemma (1 + w)",
                 "a sum instead of the mean; another dim; a part of the width; a mean that is subtracted; a "
                 "weight that is no parameter"},
};

} // namespace

std::span<const PatternGuide> patternGuides() {
    return kGuides;
}

const PatternGuide* findPattern(std::string_view name) {
    const auto found =
        std::find_if(kGuides.begin(), kGuides.end(), [&](const auto& guide) { return guide.name == name; });
    return found == kGuides.end() ? nullptr : &*found;
}

std::string patternNames() {
    std::string names;
    for (const PatternGuide& guide : kGuides)
        names += (names.empty() ? "" : ", ") + std::string(guide.name);
    return names;
}

} // namespace workbench::cli
