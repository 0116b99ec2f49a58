#include "runtime/program/direct_call.h"

#include "runtime/ops/activation.h"
#include "runtime/ops/attention_tables.h"
#include "runtime/ops/checks.h"
#include "runtime/ops/linear.h"
#include "runtime/ops/norm.h"
#include "runtime/ops/rope.h"
#include "runtime/program/program.h"
#include "runtime/program/view_call.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/index.h>

#include <algorithm>
#include <cstddef>
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

Function rmsNorm(const Arguments& a) {
    const ops::NormSpec spec{a.number(2), a.number(3), ops::parseCast("rms_norm", a.text(4))};
    return [input = a.value(0), weight = a.value(1), output = a.output(0),
            spec](Values& values, const SymTable&, const RunOptions&) {
        at::Tensor& normed = valueOf(values, output);
        const at::Tensor& x = valueOf(values, input);
        if (normed.defined())
            ops::rmsNormInto(normed, x, optionalAt(values, weight), spec);
        else
            normed = ops::rmsNorm(x, optionalAt(values, weight), spec);
    };
}

Prepare prepareRmsNorm(const Arguments& a) {
    const ops::NormSpec spec{a.number(2), a.number(3), ops::parseCast("rms_norm", a.text(4))};
    return [input = a.value(0), weight = a.value(1), output = a.output(0), spec](Values& values) {
        return kernelCall(&ops::Kernels::rmsNorm,
                          ops::bindRmsNorm(valueOf(values, output), valueOf(values, input),
                                           optionalAt(values, weight), spec));
    };
}

Function addRmsNorm(const Arguments& a) {
    const ops::NormSpec spec{a.number(3), a.number(4), ops::parseCast("add_rms_norm", a.text(5))};
    return [input = a.value(0), residual = a.value(1), weight = a.value(2), first = a.output(0),
            second = a.output(1), spec](Values& values, const SymTable&, const RunOptions&) {
        at::Tensor& normed = valueOf(values, first);
        at::Tensor& sum = valueOf(values, second);
        const at::Tensor& x = valueOf(values, input);
        const at::Tensor& added = valueOf(values, residual);
        if (normed.defined())
            ops::addRmsNormInto(normed, sum, x, added, optionalAt(values, weight), spec);
        else
            std::tie(normed, sum) = ops::addRmsNorm(x, added, optionalAt(values, weight), spec);
    };
}

Prepare prepareAddRmsNorm(const Arguments& a) {
    const ops::NormSpec spec{a.number(3), a.number(4), ops::parseCast("add_rms_norm", a.text(5))};
    return [input = a.value(0), residual = a.value(1), weight = a.value(2), normed = a.output(0),
            sum = a.output(1), spec](Values& values) {
        return kernelCall(&ops::Kernels::rmsNorm,
                          ops::bindAddRmsNorm(valueOf(values, normed), valueOf(values, sum),
                                              valueOf(values, input), valueOf(values, residual),
                                              optionalAt(values, weight), spec));
    };
}

Function actAndMul(const Arguments& a) {
    return [input = a.value(0), output = a.output(0), activation = ops::parseActivation(a.text(1))](
               Values& values, const SymTable&, const RunOptions&) {
        at::Tensor& product = valueOf(values, output);
        if (product.defined())
            ops::actAndMulInto(product, valueOf(values, input), activation);
        else
            product = ops::actAndMul(valueOf(values, input), activation);
    };
}

Prepare prepareActAndMul(const Arguments& a) {
    return [input = a.value(0), output = a.output(0),
            activation = ops::parseActivation(a.text(1))](Values& values) {
        return kernelCall(&ops::Kernels::actAndMul,
                          ops::bindActAndMul(valueOf(values, output), valueOf(values, input), activation));
    };
}

Function rope(const Arguments& a) {
    return [query = a.value(0), key = a.value(1), cos = a.value(2), sin = a.value(3), first = a.output(0),
            second = a.output(1),
            style = ops::parseStyle("rope", a.text(4))](Values& values, const SymTable&, const RunOptions&) {
        at::Tensor& q = valueOf(values, first);
        at::Tensor& k = valueOf(values, second);
        if (q.defined())
            ops::ropeInto(q, k, valueOf(values, query), valueOf(values, key), valueOf(values, cos),
                          valueOf(values, sin), style);
        else
            std::tie(q, k) = ops::rope(valueOf(values, query), valueOf(values, key), valueOf(values, cos),
                                       valueOf(values, sin), style);
    };
}

Prepare prepareRope(const Arguments& a) {
    return [query = a.value(0), key = a.value(1), cos = a.value(2), sin = a.value(3), first = a.output(0),
            second = a.output(1), style = ops::parseStyle("rope", a.text(4))](Values& values) {
        return kernelCall(&ops::Kernels::rope,
                          ops::bindRope(valueOf(values, first), valueOf(values, second),
                                        valueOf(values, query), valueOf(values, key), valueOf(values, cos),
                                        valueOf(values, sin), style));
    };
}

Function qkNormRope(const Arguments& a) {
    const ops::NormSpec spec{a.number(6), a.number(7), ops::parseCast("qk_norm_rope", a.text(8))};
    return [query = a.value(0), key = a.value(1), queryWeight = a.value(2), keyWeight = a.value(3),
            cos = a.value(4), sin = a.value(5), first = a.output(0), second = a.output(1), spec,
            style = ops::parseStyle("qk_norm_rope", a.text(9))](Values& values, const SymTable&,
                                                                const RunOptions&) {
        at::Tensor& q = valueOf(values, first);
        at::Tensor& k = valueOf(values, second);
        const ops::QkNorm norm{optionalAt(values, queryWeight), optionalAt(values, keyWeight), spec};
        if (q.defined())
            ops::qkNormRopeInto(q, k, valueOf(values, query), valueOf(values, key), norm,
                                valueOf(values, cos), valueOf(values, sin), style);
        else
            std::tie(q, k) = ops::qkNormRope(valueOf(values, query), valueOf(values, key), norm,
                                             valueOf(values, cos), valueOf(values, sin), style);
    };
}

Prepare prepareQkNormRope(const Arguments& a) {
    const ops::NormSpec spec{a.number(6), a.number(7), ops::parseCast("qk_norm_rope", a.text(8))};
    return [query = a.value(0), key = a.value(1), queryWeight = a.value(2), keyWeight = a.value(3),
            cos = a.value(4), sin = a.value(5), first = a.output(0), second = a.output(1), spec,
            style = ops::parseStyle("qk_norm_rope", a.text(9))](Values& values) {
        const ops::QkNorm norm{optionalAt(values, queryWeight), optionalAt(values, keyWeight), spec};
        return kernelCall(&ops::Kernels::rope,
                          ops::bindQkNormRope(valueOf(values, first), valueOf(values, second),
                                              valueOf(values, query), valueOf(values, key), norm,
                                              valueOf(values, cos), valueOf(values, sin), style));
    };
}

/// The operator's arguments by the values of a run.
class AttentionArguments {
public:
    explicit AttentionArguments(const Arguments& a)
        : m_query(a.value(0)), m_key(a.value(1)), m_value(a.value(2)), m_positions(a.value(3)),
          m_sinks(a.value(9)), m_slopes(a.value(10)) {
        m_constants.layer = a.integer(4);
        m_constants.scale = a.number(5);
        m_constants.mask = ops::parseMask("attention", a.text(6));
        m_constants.window = a.integer(7);
        m_constants.softcap = a.number(8);
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

Function linear(const Arguments& a) {
    if (!a.node().packed)
        return {};
    return [input = a.value(0), bias = a.value(2), output = a.output(0),
            weight = a.node().packed](Values& values, const SymTable&, const RunOptions&) {
        at::Tensor& product = valueOf(values, output);
        if (product.defined())
            ops::linearInto(product, valueOf(values, input), *weight, optionalAt(values, bias));
        else
            product = ops::linear(valueOf(values, input), *weight, optionalAt(values, bias));
    };
}

Prepare prepareLinear(const Arguments& a) {
    if (!a.node().packed)
        return {};
    return [input = a.value(0), bias = a.value(2), output = a.output(0),
            weight = a.node().packed](Values& values) {
        return kernelCall(&ops::Kernels::linear,
                          ops::bindLinear(valueOf(values, output), valueOf(values, input), *weight,
                                          optionalAt(values, bias)));
    };
}

Function embedding(const Arguments& a) {
    if (!a.node().packed)
        return {};
    return [indices = a.value(1), output = a.output(0),
            weight = a.node().packed](Values& values, const SymTable&, const RunOptions&) {
        at::Tensor& rows = valueOf(values, output);
        if (rows.defined())
            ops::embeddingInto(rows, *weight, valueOf(values, indices));
        else
            rows = ops::embedding(*weight, valueOf(values, indices));
    };
}

/// Whether index() with a null and `rows` picks rows of one [1, rows, ...].
bool picksRows(const at::Tensor& from, const at::Tensor& rows) {
    return from.is_cpu() && from.dim() >= 3 && from.size(0) == 1 && from.is_contiguous() && rows.is_cpu() &&
           rows.dim() == 1 && rows.scalar_type() == at::kLong && rows.is_contiguous();
}

void copyRows(const at::Tensor& from, const at::Tensor& rows, at::Tensor& to) {
    const std::int64_t count = from.size(1);
    // Not the stride: of a dimension of size 1, which any tensor may have anywhere, it means nothing.
    const auto rowBytes = count > 0 ? from.nbytes() / static_cast<std::size_t>(count) : 0;
    const auto* source = static_cast<const std::byte*>(from.const_data_ptr());
    auto* target = static_cast<std::byte*>(to.mutable_data_ptr());
    const auto* wanted = rows.const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < rows.numel(); ++i) {
        TORCH_CHECK_INDEX(wanted[i] >= -count && wanted[i] < count, "row ", wanted[i], " is not one of the ",
                          count, ".");
        const std::int64_t row = wanted[i] < 0 ? wanted[i] + count : wanted[i];
        std::copy_n(source + static_cast<std::size_t>(row) * rowBytes, rowBytes,
                    target + static_cast<std::size_t>(i) * rowBytes);
    }
}

/// aten.index(self, [null, rows]): a language model picks the tokens whose logits are wanted. Empty for any
/// other use.
DirectCall pickCall(const BoundNode& node) {
    using Kind = BoundNode::Slot::Kind;
    const auto slot = [&](std::size_t argument, Kind kind) -> const BoundNode::Slot* {
        for (const BoundNode::Slot& it : node.slots)
            if (it.argument == argument && it.kind == kind)
                return &it;
        return nullptr;
    };
    const BoundNode::Slot* self = slot(0, Kind::tensor);
    const BoundNode::Slot* indices = slot(1, Kind::optionalTensorList);
    if (node.packed || !self || !indices || indices->values.size() != 2 || indices->values[0] != kNone ||
        indices->values[1] == kNone)
        return {};
    const auto call = [from = self->values[0], which = indices->values[1],
                       output = node.outputs[0]](Values& values, const SymTable&, const RunOptions&) {
        const at::Tensor& all = valueOf(values, from);
        const at::Tensor& rows = valueOf(values, which);
        at::Tensor& picked = valueOf(values, output);
        if (picksRows(all, rows)) {
            if (!picked.defined()) {
                at::DimVector shape(all.sizes());
                shape[1] = rows.numel();
                picked = ops::emptyOf(shape, all);
            }
            copyRows(all, rows, picked);
        } else if (const at::Tensor made = at::index(all, {std::nullopt, rows}); picked.defined()) {
            picked.copy_(made);
        } else {
            picked = made;
        }
    };
    return {.call = call, .memory = DirectCall::Memory::given};
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
        direct.varying = arguments.value(3);
    return direct;
}

} // namespace workbench
