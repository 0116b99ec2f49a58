#pragma once

#include "runtime/program/program.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace workbench {

/// What one run of a language model works on: tokens of one or more sequences side by side. A sequence is a
/// maximal run of consecutive positions.
struct TokenBatch {
    std::vector<std::int64_t> tokens;
    std::vector<std::int64_t> positions; ///< one for each token
    std::vector<std::int64_t> rows;      ///< indices of the tokens whose logits are wanted
};

/// A program with the interface of a causal language model: inputs input_ids [1, T], position_ids [1, T] and
/// logits_to_keep [L], one output [1, L, vocabulary].
class LanguageModel {
public:
    static Result<LanguageModel> create(Program program);

    /// The same model with its tokens picked as early as can be (pickRowsEarly): what an engine runs. Weights
    /// are shared; the two may run at the same time.
    Result<LanguageModel> forEngine() const;

    /// float32 [rows, vocabulary], on the host.
    Result<at::Tensor> logits(const TokenBatch& batch, const RunOptions& options = {});
    /// The same on the program's device.
    Result<at::Tensor> logitsThere(const TokenBatch& batch, const RunOptions& options);
    /// The same for a batch in tensors there, which are not looked at: tokens [1,
    /// T], positions [1, T], rows [L]. Does not wait for the device.
    Result<at::Tensor> logitsOf(const at::Tensor& tokens, const at::Tensor& positions, const at::Tensor& rows,
                                const RunOptions& options);

    /// Whether decoding with a KV cache gives the logits of the whole sequence at once. A graph that lets
    /// tokens meet outside of its attention nodes (a convolution, a state space, a rotary table chosen by
    /// length) does not; nothing in a single run shows that, so that the first call tries it on a few tokens.
    Result<bool> canUseCache();
    Result<KvCache> makeCache(std::int64_t capacity) const;

    /// Tokens of the vocabulary, positions and rows that there are.
    Status checkBatch(const TokenBatch& batch) const;
    /// The program's inputs for a batch, checked, on its device.
    Result<std::vector<at::Tensor>> inputsFor(const TokenBatch& batch) const;
    std::int64_t vocabulary() const { return m_vocabulary; }
    Program& program() { return m_program; }
    const Program& program() const { return m_program; }

private:
    LanguageModel(Program program, std::vector<std::size_t> order, std::int64_t vocabulary)
        : m_program(std::move(program)), m_order(std::move(order)), m_vocabulary(vocabulary) {}

    Result<bool> tryCache();
    Result<bool> tryPages();
    using CachedStep = std::function<Result<at::Tensor>(const TokenBatch&)>;
    Result<bool> agreesWith(const CachedStep& step);
    Result<at::Tensor> logitsFrom(std::span<const at::Tensor> inputs, std::int64_t rows,
                                  const RunOptions& options);

    Program m_program;
    std::vector<std::size_t> m_order; ///< for each input of the program: 0 tokens, 1 positions, 2 rows
    std::int64_t m_vocabulary = 0;
    std::optional<bool> m_canUseCache;
};

} // namespace workbench
