#include "runtime/program/direct_call.h"

#include "runtime/ops/activation.h"
#include "runtime/ops/checks.h"
#include "runtime/ops/linear.h"
#include "runtime/ops/norm.h"
#include "runtime/ops/rope.h"
#include "runtime/program/program.h"
#include "runtime/program/view_call.h"

#include <map>
#include <string>
#include <tuple>

namespace workbench {
namespace {

using Values = std::vector<at::Tensor>;
using OptionalTensor = std::optional<at::Tensor>;

at::Tensor& valueOf(Values& values, ValueId id) {
    return values[static_cast<std::size_t>(id)];
}

/// A node's arguments by their place in the schema.
class Arguments {
public:
    explicit Arguments(const BoundNode& node) : m_node(node) {}

    /// The value that a run brings for the argument; kNone for a constant.
    ValueId value(std::size_t argument) const {
        for (const BoundNode::Slot& slot : m_node.slots)
            if (slot.argument == argument && slot.kind == BoundNode::Slot::Kind::tensor)
                return slot.values[0];
        return kNone;
    }
    double number(std::size_t argument) const { return m_node.arguments[argument].toDouble(); }
    std::int64_t integer(std::size_t argument) const { return m_node.arguments[argument].toInt(); }
    std::string text(std::size_t argument) const { return m_node.arguments[argument].toStringRef(); }
    ValueId output(std::size_t index) const { return m_node.outputs[index]; }
    const BoundNode& node() const { return m_node; }

private:
    const BoundNode& m_node;
};

OptionalTensor optionalAt(const Values& values, ValueId id) {
    return id == kNone ? OptionalTensor() : values[static_cast<std::size_t>(id)];
}

DirectCall rmsNorm(const Arguments& a) {
    const ops::NormSpec spec{a.number(2), a.number(3), ops::parseCast("rms_norm", a.text(4))};
    return [input = a.value(0), weight = a.value(1), output = a.output(0),
            spec](Values& values, const SymTable&, const RunOptions&) {
        valueOf(values, output) = ops::rmsNorm(valueOf(values, input), optionalAt(values, weight), spec);
    };
}

DirectCall addRmsNorm(const Arguments& a) {
    const ops::NormSpec spec{a.number(3), a.number(4), ops::parseCast("add_rms_norm", a.text(5))};
    return [input = a.value(0), residual = a.value(1), weight = a.value(2), normed = a.output(0),
            sum = a.output(1), spec](Values& values, const SymTable&, const RunOptions&) {
        std::tie(valueOf(values, normed), valueOf(values, sum)) = ops::addRmsNorm(
            valueOf(values, input), valueOf(values, residual), optionalAt(values, weight), spec);
    };
}

DirectCall actAndMul(const Arguments& a) {
    return [input = a.value(0), output = a.output(0), activation = ops::parseActivation(a.text(1))](
               Values& values, const SymTable&, const RunOptions&) {
        valueOf(values, output) = ops::actAndMul(valueOf(values, input), activation);
    };
}

DirectCall rope(const Arguments& a) {
    return [query = a.value(0), key = a.value(1), cos = a.value(2), sin = a.value(3), first = a.output(0),
            second = a.output(1),
            style = ops::parseStyle("rope", a.text(4))](Values& values, const SymTable&, const RunOptions&) {
        std::tie(valueOf(values, first), valueOf(values, second)) = ops::rope(
            valueOf(values, query), valueOf(values, key), valueOf(values, cos), valueOf(values, sin), style);
    };
}

DirectCall qkNormRope(const Arguments& a) {
    const ops::NormSpec spec{a.number(6), a.number(7), ops::parseCast("qk_norm_rope", a.text(8))};
    return [query = a.value(0), key = a.value(1), queryWeight = a.value(2), keyWeight = a.value(3),
            cos = a.value(4), sin = a.value(5), first = a.output(0), second = a.output(1), spec,
            style = ops::parseStyle("qk_norm_rope", a.text(9))](Values& values, const SymTable&,
                                                                const RunOptions&) {
        std::tie(valueOf(values, first), valueOf(values, second)) =
            ops::qkNormRope(valueOf(values, query), valueOf(values, key),
                            {optionalAt(values, queryWeight), optionalAt(values, keyWeight), spec},
                            valueOf(values, cos), valueOf(values, sin), style);
    };
}

DirectCall attention(const Arguments& a) {
    ops::AttentionArgs constants;
    constants.layer = a.integer(4);
    constants.scale = a.number(5);
    constants.mask = ops::parseMask("attention", a.text(6));
    constants.window = a.integer(7);
    constants.softcap = a.number(8);
    return [query = a.value(0), key = a.value(1), value = a.value(2), positions = a.value(3),
            sinks = a.value(9), slopes = a.value(10), output = a.output(0), index = a.node().attention,
            constants](Values& values, const SymTable&, const RunOptions& options) {
        ops::AttentionArgs args = constants;
        args.query = valueOf(values, query);
        args.key = valueOf(values, key);
        args.value = valueOf(values, value);
        args.positions = valueOf(values, positions);
        args.sinks = optionalAt(values, sinks);
        args.slopes = optionalAt(values, slopes);
        if (PagedRun* paged = options.paged)
            valueOf(values, output) = ops::attentionPaged(args, paged->cache->layer(index),
                                                          paged->sequences[paged->cache->group(index)]);
        else if (options.cache)
            valueOf(values, output) = ops::attentionWithCache(args, options.cache->layer(index));
        else
            valueOf(values, output) = ops::attention(args);
    };
}

DirectCall linear(const Arguments& a) {
    if (!a.node().packed)
        return {};
    return [input = a.value(0), bias = a.value(2), output = a.output(0),
            weight = a.node().packed](Values& values, const SymTable&, const RunOptions&) {
        valueOf(values, output) = ops::linear(valueOf(values, input), *weight, optionalAt(values, bias));
    };
}

DirectCall embedding(const Arguments& a) {
    if (!a.node().packed)
        return {};
    return [indices = a.value(1), output = a.output(0),
            weight = a.node().packed](Values& values, const SymTable&, const RunOptions&) {
        valueOf(values, output) = ops::embedding(*weight, valueOf(values, indices));
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

DirectCall directCall(const BoundNode& node) {
    using Make = DirectCall (*)(const Arguments&);
    static const std::map<std::string, Make, std::less<>> kCalls{
        {"workbench::rms_norm", rmsNorm},
        {"workbench::add_rms_norm", addRmsNorm},
        {"workbench::act_and_mul", actAndMul},
        {"workbench::rope", rope},
        {"workbench::qk_norm_rope", qkNormRope},
        {"workbench::attention", attention},
        {"aten::linear", linear},
        {"aten::embedding", embedding},
    };
    const auto call = kCalls.find(node.op.operator_name().name);
    if (call == kCalls.end())
        return viewCall(node);
    return isPlain(node) ? call->second(Arguments(node)) : DirectCall();
}

} // namespace workbench
