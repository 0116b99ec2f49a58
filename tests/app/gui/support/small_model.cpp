#include "tests/app/gui/support/small_model.h"

#include "core/graph/text.h"
#include "fusion/fusion.h"

#include <QtCore/QRegularExpression>
#include <QtTest/QTest>

#include <gtest/gtest.h>

namespace workbench::gui::test {
namespace {

constexpr const char* kHead = R"(module "" SmallModel
module "layers" ModuleList
module "norm" SmallNorm
parameter %wnorm: f32[32] "norm.weight"
input %x: f32[1, s0, 32]
input %positions: i64[1, s0]
input %cos: f32[1, s0, 8]
input %sin: f32[1, s0, 8]
)";

constexpr const char* kLayerHead = R"(module "layers.L" SmallLayer
module "layers.L.input_layernorm" SmallNorm
module "layers.L.self_attn" SmallAttention
module "layers.L.self_attn.q_proj" Linear
module "layers.L.self_attn.k_proj" Linear
module "layers.L.self_attn.v_proj" Linear
module "layers.L.self_attn.o_proj" Linear
module "layers.L.post_attention_layernorm" SmallNorm
module "layers.L.mlp" SmallMLP
parameter %wiL: f32[32] "layers.L.input_layernorm.weight"
parameter %wqL: f32[48, 32] "layers.L.self_attn.q_proj.weight"
parameter %wkL: f32[16, 32] "layers.L.self_attn.k_proj.weight"
parameter %wvL: f32[16, 32] "layers.L.self_attn.v_proj.weight"
parameter %woL: f32[32, 48] "layers.L.self_attn.o_proj.weight"
parameter %wpL: f32[32] "layers.L.post_attention_layernorm.weight"
parameter %wgL: f32[96, 32] "layers.L.mlp.gate_proj.weight"
parameter %wuL: f32[96, 32] "layers.L.mlp.up_proj.weight"
parameter %wdL: f32[32, 96] "layers.L.mlp.down_proj.weight"
)";

/// IN -> OUT, named PREFIX..., weight W, in module M.
constexpr const char* kNorm =
    R"(%Psquare: f32[1, s0, 32] = aten.pow.Tensor_Scalar(self=IN, exponent=2) @"M" from "modeling_small.py":20 forward
%Pmean: f32[1, s0, 1] = aten.mean.dim(self=%Psquare, dim=[-1], keepdim=true) @"M" from "modeling_small.py":20 forward
%Pvariance: f32[1, s0, 1] = aten.add.Tensor(self=%Pmean, other=1e-05) @"M" from "modeling_small.py":21 forward
%Pinverse: f32[1, s0, 1] = aten.rsqrt.default(self=%Pvariance) @"M" from "modeling_small.py":21 forward
%Pnormed: f32[1, s0, 32] = aten.mul.Tensor(self=IN, other=%Pinverse) @"M" from "modeling_small.py":21 forward
OUT: f32[1, s0, 32] = aten.mul.Tensor(self=W, other=%Pnormed) @"M" from "modeling_small.py":22 forward
)";

constexpr const char* kAttention =
    R"(%qL: f32[1, s0, 48] = aten.linear.default(input=%niL, weight=%wqL) @"layers.L.self_attn.q_proj" from "modeling_small.py":40 forward
%qvL: f32[1, s0, 6, 8] = aten.view.default(self=%qL, size=[1, s0, -1, 8]) @"layers.L.self_attn" from "modeling_small.py":40 forward
%qtL: f32[1, 6, s0, 8] = aten.transpose.int(self=%qvL, dim0=1, dim1=2) @"layers.L.self_attn"
%kL: f32[1, s0, 16] = aten.linear.default(input=%niL, weight=%wkL) @"layers.L.self_attn.k_proj" from "modeling_small.py":41 forward
%kvL: f32[1, s0, 2, 8] = aten.view.default(self=%kL, size=[1, s0, -1, 8]) @"layers.L.self_attn"
%ktL: f32[1, 2, s0, 8] = aten.transpose.int(self=%kvL, dim0=1, dim1=2) @"layers.L.self_attn"
%vL: f32[1, s0, 16] = aten.linear.default(input=%niL, weight=%wvL) @"layers.L.self_attn.v_proj" from "modeling_small.py":42 forward
%vvL: f32[1, s0, 2, 8] = aten.view.default(self=%vL, size=[1, s0, -1, 8]) @"layers.L.self_attn"
%vtL: f32[1, 2, s0, 8] = aten.transpose.int(self=%vvL, dim0=1, dim1=2) @"layers.L.self_attn"
%cL: f32[1, 1, s0, 8] = aten.unsqueeze.default(self=%cos, dim=1) @"layers.L.self_attn"
%sL: f32[1, 1, s0, 8] = aten.unsqueeze.default(self=%sin, dim=1) @"layers.L.self_attn"
%qcL: f32[1, 6, s0, 8] = aten.mul.Tensor(self=%qtL, other=%cL) @"layers.L.self_attn"
%q1L: f32[1, 6, s0, 4] = aten.slice.Tensor(self=%qtL, dim=3, start=0, end=4) @"layers.L.self_attn"
%q2L: f32[1, 6, s0, 4] = aten.slice.Tensor(self=%qtL, dim=3, start=4, end=9223372036854775807) @"layers.L.self_attn"
%qnL: f32[1, 6, s0, 4] = aten.neg.default(self=%q2L) @"layers.L.self_attn"
%qrL: f32[1, 6, s0, 8] = aten.cat.default(tensors=[%qnL, %q1L], dim=-1) @"layers.L.self_attn"
%qsL: f32[1, 6, s0, 8] = aten.mul.Tensor(self=%qrL, other=%sL) @"layers.L.self_attn"
%qeL: f32[1, 6, s0, 8] = aten.add.Tensor(self=%qcL, other=%qsL) @"layers.L.self_attn"
%kcL: f32[1, 2, s0, 8] = aten.mul.Tensor(self=%ktL, other=%cL) @"layers.L.self_attn"
%k1L: f32[1, 2, s0, 4] = aten.slice.Tensor(self=%ktL, dim=3, start=0, end=4) @"layers.L.self_attn"
%k2L: f32[1, 2, s0, 4] = aten.slice.Tensor(self=%ktL, dim=3, start=4, end=9223372036854775807) @"layers.L.self_attn"
%knL: f32[1, 2, s0, 4] = aten.neg.default(self=%k2L) @"layers.L.self_attn"
%krL: f32[1, 2, s0, 8] = aten.cat.default(tensors=[%knL, %k1L], dim=-1) @"layers.L.self_attn"
%ksL: f32[1, 2, s0, 8] = aten.mul.Tensor(self=%krL, other=%sL) @"layers.L.self_attn"
%keL: f32[1, 2, s0, 8] = aten.add.Tensor(self=%kcL, other=%ksL) @"layers.L.self_attn"
%aL: f32[1, s0, 6, 8] = workbench.attention(query=%qeL, key=%keL, value=%vtL, positions=%positions, layer=L, scale=0.25, mask="causal", window=0, softcap=0.0, sinks=none, slopes=none) @"layers.L.self_attn" from "modeling_small.py":47 forward
%ayL: f32[1, s0, 48] = aten.view.default(self=%aL, size=[1, s0, -1]) @"layers.L.self_attn"
%oL: f32[1, s0, 32] = aten.linear.default(input=%ayL, weight=%woL) @"layers.L.self_attn.o_proj" from "modeling_small.py":48 forward
%haL: f32[1, s0, 32] = aten.add.Tensor(self=IN, other=%oL) @"layers.L" from "modeling_small.py":70 forward
)";

constexpr const char* kMlp =
    R"(%gL: f32[1, s0, 96] = aten.linear.default(input=%npL, weight=%wgL) @"layers.L.mlp" from "modeling_small.py":58 forward
%actL: f32[1, s0, 96] = aten.ACT.default(self=%gL) @"layers.L.mlp" from "modeling_small.py":58 forward
%uL: f32[1, s0, 96] = aten.linear.default(input=%npL, weight=%wuL) @"layers.L.mlp" from "modeling_small.py":58 forward
%mL: f32[1, s0, 96] = aten.mul.Tensor(self=%actL, other=%uL) @"layers.L.mlp" from "modeling_small.py":58 forward
%dL: f32[1, s0, 32] = aten.linear.default(input=%mL, weight=%wdL) @"layers.L.mlp" from "modeling_small.py":59 forward
%hmL: f32[1, s0, 32] = aten.add.Tensor(self=%haL, other=%dL) @"layers.L" from "modeling_small.py":73 forward
)";

QString numbered(const char* text, int layer) {
    // Only the layer's own L: no other capital L stands alone or at the end of a name.
    QString out = QString::fromUtf8(text);
    out.replace("layers.L", QString("layers.%1").arg(layer));
    out.replace("layer=L", QString("layer=%1").arg(layer));
    static const QRegularExpression name("%([a-z0-9]+)L\\b");
    return out.replace(name, QString("%\\1_%1").arg(layer));
}

QString norm(const QString& prefix, const QString& in, const QString& out, const QString& weight,
             const QString& module) {
    QString text = QString::fromUtf8(kNorm);
    return text.replace("%P", "%" + prefix)
        .replace("IN", in)
        .replace("OUT", out)
        .replace("self=W", "self=" + weight)
        .replace("@\"M\"", "@\"" + module + "\"");
}

} // namespace

std::string smallModelText(int layers) {
    QString head = kHead;
    QString body;
    QString in = "%x";
    for (int layer = 0; layer < layers; ++layer) {
        const QString n = QString::number(layer);
        head += numbered(kLayerHead, layer);
        body += norm("i" + n + "_", in, "%ni_" + n, "%wi_" + n, "layers." + n + ".input_layernorm");
        body += numbered(kAttention, layer).replace("IN", in);
        body += norm("p" + n + "_", "%ha_" + n, "%np_" + n, "%wp_" + n,
                     "layers." + n + ".post_attention_layernorm");
        body += numbered(kMlp, layer).replace("ACT", layer + 1 < layers ? "silu" : "mish");
        in = "%hm_" + n;
    }
    body += norm("f", in, "%y", "%wnorm", "norm");
    return (head + body + "output %y\n").toStdString();
}

std::shared_ptr<const TracedModel> smallModel(int layers) {
    auto traced = parseGraph(smallModelText(layers));
    if (!traced) {
        ADD_FAILURE() << traced.error().message;
        std::abort();
    }
    auto canonical = canonicalize(*traced);
    if (!canonical) {
        ADD_FAILURE() << canonical.error().message;
        std::abort();
    }
    auto model = std::make_shared<TracedModel>();
    model->archive = "/nowhere/small.pt2";
    model->facts.className = "SmallModel";
    model->facts.modelType = "small";
    model->facts.dtype = "f32";
    model->facts.layers = layers;
    model->facts.hiddenSize = 32;
    model->facts.vocabulary = 100;
    model->canonical = std::move(canonical).value();
    model->analysis = analyze(model->canonical);
    model->fingerprint = fingerprint(model->canonical, "{}");
    return model;
}

Session smallSession(int layers) {
    return Session::of(smallModel(layers), {}, Locations::find());
}

bool waitFor(const std::function<bool()>& done, int seconds) {
    return QTest::qWaitFor(done, seconds * 1000);
}

void openSmallModel(Document& document, int layers) {
    document.openSession(smallSession(layers));
    ASSERT_TRUE(waitFor([&] { return document.state() == Document::State::ready; }));
}

void settle(Document& document) {
    ASSERT_TRUE(waitFor([&] { return document.rewrittenIsCurrent(); }));
}

} // namespace workbench::gui::test
