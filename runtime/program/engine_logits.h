#pragma once

#include "runtime/program/language_model.h"

#include <atomic>

namespace workbench {

/// Logits of a batch as a batching engine comes to them: keys and values in the blocks of a paged cache,
/// prompts in chunks beside single tokens of other sequences. float32 [rows, vocabulary], as
/// LanguageModel::logits() gives them of all tokens at once. requirementFailed for a model that cannot decode
/// with a KV cache; badInput for a sequence that does not begin at position 0.
Result<at::Tensor> engineLogits(LanguageModel& model, const TokenBatch& batch,
                                const std::atomic<bool>& cancel);

} // namespace workbench
