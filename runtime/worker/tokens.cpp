#include "runtime/worker/tokens.h"

#include <numeric>

namespace workbench {

Result<TokenBatch> tokenBatch(const Json& params) {
    using Integers = std::vector<std::int64_t>;
    auto tokens = required<Integers>(params, "tokens");
    if (!tokens)
        return tokens.error();
    Integers all(tokens->size());
    std::iota(all.begin(), all.end(), 0);
    auto positions = optional<Integers>(params, "positions", all);
    if (!positions)
        return positions.error();
    auto rows = optional<Integers>(params, "rows", all);
    if (!rows)
        return rows.error();
    return TokenBatch{std::move(*tokens), std::move(*positions), std::move(*rows)};
}

} // namespace workbench
