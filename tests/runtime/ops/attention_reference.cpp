#include "tests/runtime/ops/attention_reference.h"

#include "tests/runtime/ops/support.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace workbench::ops::testing {
namespace {

bool sameRun(const std::vector<int64_t>& positions, int64_t i, int64_t j) {
    for (int64_t t = std::min(i, j); t < std::max(i, j); ++t) {
        if (positions[static_cast<size_t>(t + 1)] != positions[static_cast<size_t>(t)] + 1)
            return false;
    }
    return true;
}

/// One query of one head: weights of all tokens, zero where it does not see.
std::vector<double> weights(const AttentionArgs& args, const at::Tensor& scores,
                            const std::vector<bool>& seen, int64_t head, int64_t i) {
    const int64_t tokens = scores.size(1);
    std::vector<double> result(static_cast<size_t>(tokens), 0);
    double denominator = args.sinks.has_value() ? std::exp((*args.sinks)[head].item<double>()) : 0;
    const double slope = args.slopes.has_value() ? (*args.slopes)[head].item<double>() : 0;
    const auto* row = scores.const_data_ptr<double>() + (head * tokens + i) * tokens;
    for (int64_t j = 0; j < tokens; ++j) {
        if (!seen[static_cast<size_t>(i * tokens + j)])
            continue;
        double logit = args.scale * row[j];
        if (args.softcap != 0)
            logit = args.softcap * std::tanh(logit / args.softcap);
        logit += slope * static_cast<double>(j - i);
        result[static_cast<size_t>(j)] = std::exp(logit);
        denominator += std::exp(logit);
    }
    for (double& weight : result)
        weight /= denominator;
    return result;
}

} // namespace

std::vector<int64_t> toIntegers(const at::Tensor& positions) {
    const at::Tensor values = positions.to(at::kCPU).contiguous();
    const auto* data = values.const_data_ptr<int64_t>();
    return {data, data + values.numel()};
}

bool plainSees(const std::vector<int64_t>& positions, int64_t i, int64_t j, MaskKind mask, int64_t window) {
    if (!sameRun(positions, i, j))
        return false;
    const int64_t a = positions[static_cast<size_t>(i)];
    const int64_t b = positions[static_cast<size_t>(j)];
    switch (mask) {
    case MaskKind::Causal:
        return b <= a;
    case MaskKind::Sliding:
        return b <= a && a - b < window;
    case MaskKind::Chunked:
        return b <= a && a / window == b / window;
    case MaskKind::Full:
        return true;
    }
    return false;
}

std::vector<double> plainAttention(const AttentionArgs& args) {
    const auto widen = [](const at::Tensor& tensor) {
        return tensor[0].to(at::kCPU).to(at::kDouble).contiguous();
    };
    const int64_t groups = args.query.size(1) / args.key.size(1);
    const at::Tensor keys = widen(args.key).repeat_interleave(groups, 0);
    const at::Tensor scores = at::matmul(widen(args.query), keys.transpose(1, 2)).contiguous(); // [Hq, T, T]
    const std::vector<double> values = toDoubles(args.value[0]);
    const std::vector<int64_t> positions = toIntegers(args.positions);
    const auto tokens = static_cast<int64_t>(positions.size());
    std::vector<bool> seen;
    for (int64_t i = 0; i < tokens; ++i) {
        for (int64_t j = 0; j < tokens; ++j)
            seen.push_back(plainSees(positions, i, j, args.mask, args.window));
    }
    const int64_t heads = args.query.size(1);
    const int64_t width = args.value.size(3);
    std::vector<double> output(static_cast<size_t>(tokens * heads * width), 0);
    for (int64_t head = 0; head < heads; ++head) {
        for (int64_t i = 0; i < tokens; ++i) {
            const std::vector<double> weight = weights(args, scores, seen, head, i);
            double* to = output.data() + (i * heads + head) * width;
            for (int64_t j = 0; j < tokens; ++j) {
                const double* value = values.data() + (head / groups * tokens + j) * width;
                for (int64_t d = 0; d < width; ++d)
                    to[d] += weight[static_cast<size_t>(j)] * value[d];
            }
        }
    }
    return output;
}

} // namespace workbench::ops::testing
