#include "runtime/program/direct_call.h"

#include "runtime/ops/activation.h"
#include "runtime/ops/attention_tables.h"
#include "runtime/ops/checks.h"
#include "runtime/ops/linear.h"
#include "runtime/ops/norm.h"
#include "runtime/ops/rope.h"
#include "runtime/program/pick_call.h"
#include "runtime/program/program.h"
#include "runtime/program/view_call.h"

#include <ATen/ops/empty.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>

namespace workbench {
namespace {

using Values = std::vector<at::Tensor>;
using OptionalTensor = std::optional<at::Tensor>;

at::Tensor& valueOf(Values& values, ValueId id) {
    return values[static_cast<std::size_t>(id)];
}

/// A node's arguments by their names in the operator's schema.
class Arguments {
public:
    explicit Arguments(const BoundNode& node) : m_node(node) {}

    /// The value that a run brings for the argument; kNone for a constant.
    ValueId value(std::string_view name) const {
        for (const BoundNode::Slot& slot : m_node.slots)
            if (slot.argument == placeOf(name) && slot.kind == BoundNode::Slot::Kind::tensor)
                return slot.values[0];
        return kNone;
    }
    double number(std::string_view name) const { return m_node.arguments[placeOf(name)].toDouble(); }
    std::int64_t integer(std::string_view name) const { return m_node.arguments[placeOf(name)].toInt(); }
    std::string text(std::string_view name) const { return m_node.arguments[placeOf(name)].toStringRef(); }
    ValueId output(std::size_t index) const { return m_node.outputs[index]; }
    const BoundNode& node() const { return m_node; }

private:
    std::size_t placeOf(std::string_view name) const {
        const auto place = m_node.op.schema().argumentIndexWithName(name);
        TORCH_CHECK(place, m_node.op.schema(), " has no argument '", name, "'.");
        return static_cast<std::size_t>(*place);
    }
    const BoundNode& m_node;
};

ops::NormSpec normSpec(const Arguments& a, const char* op) {
    return {a.number("eps"), a.number("weight_offset"), ops::parseCast(op, a.text("cast"))};
}

OptionalTensor optionalAt(const Values& values, ValueId id) {
    return id == kNone ? OptionalTensor() : values[static_cast<std::size_t>(id)];
}

/// Every call below writes its outputs to the tensors that are there already, or makes them.
using Function = DirectCall::Function;
using Prepare = DirectCall::Prepare;

/// Runs one of the CPU's kernels with arguments that are ready. The table is looked up each time: kernels may
/// be timed meanwhile.
template <class Call>
Function kernelCall(void (*ops::Kernels::*kernel)(const Call&), const std::optional<Call>& call) {
    if (!call)
        return {};
    return [kernel, call = *call](Values&, const SymTable&, const RunOptions&) {
        (ops::cpuKernels().*kernel)(call);
    };
}

struct RmsNorm {
    ValueId input, weight, output;
    ops::NormSpec spec;

    explicit RmsNorm(const Arguments& a)
        : input(a.value("input")), weight(a.value("weight")), output(a.output(0)),
          spec(normSpec(a, "rms_norm")) {}
};

Function rmsNorm(const Arguments& arguments) {
    return [a = RmsNorm(arguments)](Values& values, const SymTable&, const RunOptions&) {
        at::Tensor& normed = valueOf(values, a.output);
        const at::Tensor& input = valueOf(values, a.input);
        if (normed.defined())
            ops::rmsNormInto(normed, input, optionalAt(values, a.weight), a.spec);
        else
            normed = ops::rmsNorm(input, optionalAt(values, a.weight), a.spec);
    };
}

Prepare prepareRmsNorm(const Arguments& arguments) {
    return [a = RmsNorm(arguments)](Values& values) {
        return kernelCall(&ops::Kernels::rmsNorm,
                          ops::bindRmsNorm(valueOf(values, a.output), valueOf(values, a.input),
                                           optionalAt(values, a.weight), a.spec));
    };
}

struct AddRmsNorm {
    ValueId input, residual, weight, normed, sum;
    ops::NormSpec spec;

    explicit AddRmsNorm(const Arguments& a)
        : input(a.value("input")), residual(a.value("residual")), weight(a.value("weight")),
          normed(a.output(0)), sum(a.output(1)), spec(normSpec(a, "add_rms_norm")) {}
};

Function addRmsNorm(const Arguments& arguments) {
    return [a = AddRmsNorm(arguments)](Values& values, const SymTable&, const RunOptions&) {
        at::Tensor& normed = valueOf(values, a.normed);
        at::Tensor& sum = valueOf(values, a.sum);
        const at::Tensor& input = valueOf(values, a.input);
        const at::Tensor& residual = valueOf(values, a.residual);
        if (normed.defined())
            ops::addRmsNormInto(normed, sum, input, residual, optionalAt(values, a.weight), a.spec);
        else
            std::tie(normed, sum) = ops::addRmsNorm(input, residual, optionalAt(values, a.weight), a.spec);
    };
}

Prepare prepareAddRmsNorm(const Arguments& arguments) {
    return [a = AddRmsNorm(arguments)](Values& values) {
        return kernelCall(&ops::Kernels::rmsNorm,
                          ops::bindAddRmsNorm(valueOf(values, a.normed), valueOf(values, a.sum),
                                              valueOf(values, a.input), valueOf(values, a.residual),
                                              optionalAt(values, a.weight), a.spec));
    };
}

struct ActAndMul {
    ValueId gateUp, output;
    ops::Activation activation;

    explicit ActAndMul(const Arguments& a)
        : gateUp(a.value("gate_up")), output(a.output(0)),
          activation(ops::parseActivation("act_and_mul", a.text("activation"))) {}
};

Function actAndMul(const Arguments& arguments) {
    return [a = ActAndMul(arguments)](Values& values, const SymTable&, const RunOptions&) {
        at::Tensor& product = valueOf(values, a.output);
        if (product.defined())
            ops::actAndMulInto(product, valueOf(values, a.gateUp), a.activation);
        else
            product = ops::actAndMul(valueOf(values, a.gateUp), a.activation);
    };
}

Prepare prepareActAndMul(const Arguments& arguments) {
    return [a = ActAndMul(arguments)](Values& values) {
        return kernelCall(
            &ops::Kernels::actAndMul,
            ops::bindActAndMul(valueOf(values, a.output), valueOf(values, a.gateUp), a.activation));
    };
}

struct Rope {
    ValueId query, key, cos, sin, rotatedQuery, rotatedKey;
    ops::RopeStyle style;

    Rope(const Arguments& a, const char* op)
        : query(a.value("query")), key(a.value("key")), cos(a.value("cos")), sin(a.value("sin")),
          rotatedQuery(a.output(0)), rotatedKey(a.output(1)), style(ops::parseStyle(op, a.text("style"))) {}
};

Function rope(const Arguments& arguments) {
    return [a = Rope(arguments, "rope")](Values& values, const SymTable&, const RunOptions&) {
        at::Tensor& query = valueOf(values, a.rotatedQuery);
        at::Tensor& key = valueOf(values, a.rotatedKey);
        if (query.defined())
            ops::ropeInto(query, key, valueOf(values, a.query), valueOf(values, a.key),
                          valueOf(values, a.cos), valueOf(values, a.sin), a.style);
        else
            std::tie(query, key) = ops::rope(valueOf(values, a.query), valueOf(values, a.key),
                                             valueOf(values, a.cos), valueOf(values, a.sin), a.style);
    };
}

Prepare prepareRope(const Arguments& arguments) {
    return [a = Rope(arguments, "rope")](Values& values) {
        return kernelCall(&ops::Kernels::rope,
                          ops::bindRope(valueOf(values, a.rotatedQuery), valueOf(values, a.rotatedKey),
                                        valueOf(values, a.query), valueOf(values, a.key),
                                        valueOf(values, a.cos), valueOf(values, a.sin), a.style));
    };
}

struct QkNormRope : Rope {
    ValueId queryWeight, keyWeight;
    ops::NormSpec spec;

    explicit QkNormRope(const Arguments& a)
        : Rope(a, "qk_norm_rope"), queryWeight(a.value("query_weight")), keyWeight(a.value("key_weight")),
          spec(normSpec(a, "qk_norm_rope")) {}

    ops::QkNorm norm(const Values& values) const {
        return {optionalAt(values, queryWeight), optionalAt(values, keyWeight), spec};
    }
};

Function qkNormRope(const Arguments& arguments) {
    return [a = QkNormRope(arguments)](Values& values, const SymTable&, const RunOptions&) {
        at::Tensor& query = valueOf(values, a.rotatedQuery);
        at::Tensor& key = valueOf(values, a.rotatedKey);
        if (query.defined())
            ops::qkNormRopeInto(query, key, valueOf(values, a.query), valueOf(values, a.key), a.norm(values),
                                valueOf(values, a.cos), valueOf(values, a.sin), a.style);
        else
            std::tie(query, key) =
                ops::qkNormRope(valueOf(values, a.query), valueOf(values, a.key), a.norm(values),
                                valueOf(values, a.cos), valueOf(values, a.sin), a.style);
    };
}

Prepare prepareQkNormRope(const Arguments& arguments) {
    return [a = QkNormRope(arguments)](Values& values) {
        return kernelCall(&ops::Kernels::rope,
                          ops::bindQkNormRope(valueOf(values, a.rotatedQuery), valueOf(values, a.rotatedKey),
                                              valueOf(values, a.query), valueOf(values, a.key),
                                              a.norm(values), valueOf(values, a.cos), valueOf(values, a.sin),
                                              a.style));
    };
}

/// The operator's arguments by the values of a run.
class AttentionArguments {
public:
    explicit AttentionArguments(const Arguments& a)
        : m_query(a.value("query")), m_key(a.value("key")), m_value(a.value("value")),
          m_positions(a.value("positions")), m_sinks(a.value("sinks")), m_slopes(a.value("slopes")) {
        m_constants.layer = a.integer("layer");
        m_constants.scale = a.number("scale");
        m_constants.mask = ops::parseMask("attention", a.text("mask"));
        m_constants.window = a.integer("window");
        m_constants.softcap = a.number("softcap");
    }
    ops::AttentionArgs of(const Values& values) const {
        const auto at = [&](ValueId id) { return values[static_cast<std::size_t>(id)]; };
        ops::AttentionArgs args = m_constants;
        args.query = at(m_query);
        args.key = at(m_key);
        args.value = at(m_value);
        args.positions = at(m_positions);
        args.sinks = optionalAt(values, m_sinks);
        args.slopes = optionalAt(values, m_slopes);
        return args;
    }
    ValueId positions() const { return m_positions; }

private:
    ValueId m_query, m_key, m_value, m_positions, m_sinks, m_slopes;
    ops::AttentionArgs m_constants;
};

Function attention(const Arguments& a) {
    return [arguments = AttentionArguments(a), output = a.output(0),
            index = a.node().attention](Values& values, const SymTable&, const RunOptions& options) {
        attend(arguments.of(values), index, options, valueOf(values, output));
    };
}

/// For the paged cache; without one as ever.
Prepare prepareAttention(const Arguments& a) {
    return [arguments = AttentionArguments(a), output = a.output(0), index = a.node().attention,
            call = attention(a)](Values& values) -> Function {
        ops::AttentionArgs args = arguments.of(values);
        args.positions = at::empty({1, args.query.size(2)}, at::kLong);
        ops::PagedAttention bound(valueOf(values, output), std::move(args));
        if (!bound.isUsable())
            return {};
        return [bound, call, index, positions = arguments.positions()](Values& now, const SymTable& symbols,
                                                                       const RunOptions& options) mutable {
            if (PagedRun* paged = options.paged)
                bound.run(valueOf(now, positions), paged->cache->layer(index),
                          paged->sequences[paged->cache->group(index)]);
            else
                call(now, symbols, options);
        };
    };
}

struct Linear {
    ValueId input, bias, output;
    std::shared_ptr<const ops::PackedWeight> weight;

    explicit Linear(const Arguments& a)
        : input(a.value("input")), bias(a.value("bias")), output(a.output(0)), weight(a.node().packed) {}
};

Function linear(const Arguments& arguments) {
    if (!arguments.node().packed)
        return {};
    return [a = Linear(arguments)](Values& values, const SymTable&, const RunOptions&) {
        at::Tensor& product = valueOf(values, a.output);
        if (product.defined())
            ops::linearInto(product, valueOf(values, a.input), *a.weight, optionalAt(values, a.bias));
        else
            product = ops::linear(valueOf(values, a.input), *a.weight, optionalAt(values, a.bias));
    };
}

Prepare prepareLinear(const Arguments& arguments) {
    if (!arguments.node().packed)
        return {};
    return [a = Linear(arguments)](Values& values) {
        return kernelCall(&ops::Kernels::linear,
                          ops::bindLinear(valueOf(values, a.output), valueOf(values, a.input), *a.weight,
                                          optionalAt(values, a.bias)));
    };
}

Function embedding(const Arguments& a) {
    if (!a.node().packed)
        return {};
    return [indices = a.value("indices"), output = a.output(0),
            weight = a.node().packed](Values& values, const SymTable&, const RunOptions&) {
        at::Tensor& rows = valueOf(values, output);
        if (rows.defined())
            ops::embeddingInto(rows, *weight, valueOf(values, indices));
        else
            rows = ops::embedding(*weight, valueOf(values, indices));
    };
}

/// Every tensor argument comes from one value, and all else is constant: the dispatcher takes the others.
bool isPlain(const BoundNode& node) {
    for (const BoundNode::Slot& slot : node.slots)
        if (slot.kind != BoundNode::Slot::Kind::tensor)
            return false;
    for (const c10::IValue& argument : node.arguments)
        if (argument.isTensor())
            return false;
    return true;
}

} // namespace

void attend(const ops::AttentionArgs& args, std::int32_t index, const RunOptions& options,
            at::Tensor& output) {
    if (options.paged && !options.paged->tables.empty()) {
        output = ops::attentionOnTables(args, options.paged->cache->layer(index),
                                        options.paged->tables[options.paged->cache->group(index)]);
        return;
    }
    if (!output.defined())
        output = ops::emptyAttention(args);
    if (PagedRun* paged = options.paged)
        ops::attentionPagedInto(output, args, paged->cache->layer(index),
                                paged->sequences[paged->cache->group(index)]);
    else if (options.cache)
        ops::attentionWithCacheInto(output, args, options.cache->layer(index));
    else
        ops::attentionInto(output, args);
}

DirectCall directCall(const BoundNode& node) {
    struct Make {
        Function (*call)(const Arguments&);
        Prepare (*prepare)(const Arguments&) = nullptr;
    };
    static const std::map<std::string, Make, std::less<>> kCalls{
        {"workbench::rms_norm", {rmsNorm, prepareRmsNorm}},
        {"workbench::add_rms_norm", {addRmsNorm, prepareAddRmsNorm}},
        {"workbench::act_and_mul", {actAndMul, prepareActAndMul}},
        {"workbench::rope", {rope, prepareRope}},
        {"workbench::qk_norm_rope", {qkNormRope, prepareQkNormRope}},
        {"workbench::attention", {attention, prepareAttention}},
        {"aten::linear", {linear, prepareLinear}},
        {"aten::embedding", {embedding}},
    };
    if (node.op.operator_name().name == "aten::index")
        return pickCall(node);
    const auto make = kCalls.find(node.op.operator_name().name);
    if (make == kCalls.end())
        return viewCall(node);
    if (!isPlain(node))
        return {};
    const Arguments arguments(node);
    DirectCall direct{.call = make->second.call(arguments), .memory = DirectCall::Memory::given};
    if (make->second.prepare)
        direct.prepare = make->second.prepare(arguments);
    if (node.attention != kNone)
        direct.varying = arguments.value("positions");
    return direct;
}

} // namespace workbench
