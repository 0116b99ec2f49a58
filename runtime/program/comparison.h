#pragma once

#include "core/support/result.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace workbench {

struct Difference {
    double maxAbsError = 0;
    double maxAbs = 0; ///< largest absolute value of the reference
    double relativeError =
        0; ///< maxAbsError / maxAbs; the largest double where the reference is all zeros and the other is not
};

/// How far `other` is from `reference`; `what` names them in messages. Different shapes or dtypes, nothing to
/// compare, or a value that is not finite on either side is an Error: NaN compares false with everything and
/// would pass for equal.
Result<Difference> compare(const at::Tensor& reference, const at::Tensor& other, const std::string& what);

/// The most likely token of one row, and how far ahead of the second it is.
struct Choice {
    std::int64_t token = 0;
    double gap = 0; ///< logit of the first minus logit of the second; 0 with a vocabulary of one
};

/// One choice for each row of f32 logits [rows, vocabulary]; the lowest id wins a tie. An Error for values
/// that are not finite.
Result<std::vector<Choice>> greedyChoices(const at::Tensor& logits);

} // namespace workbench
