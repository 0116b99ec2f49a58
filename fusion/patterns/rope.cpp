#include "fusion/patterns/list.h"
#include "fusion/patterns/rotation.h"

/// rope:  out = x * cos + rotate(x) * sin, for the query and the key of one attention   (Su et al. 2021,
/// arXiv:2104.09864)
///
///     x --> * cos ---------------------------> + --> attention
///     x --> halves --> cat(-x2, x1) --> * sin -'                          (twice: query, key)
///     becomes   query, key, cos, sin --> workbench.rope --> query', key'
///
/// Half-split and interleaved rotations, of the whole head or of its first columns. Refused: different tables
/// for query and key, another sign or order of the halves, an odd width, a value in between that something
/// else reads.

namespace workbench {
namespace {

bool matchRope(Search& search, NodeId place) {
    return matchPresentRotation(search, place, "rope") || matchRotations(search, place);
}

void build(const MatchContext& context, const Match& match, Replacement& replacement) {
    const ScalarType dtype = context.view().meta(match.value("query_out")).dtype;
    const ValueId query = replacement.cast(match.value("query"), dtype),
                  key = replacement.cast(match.value("key"), dtype);
    const auto [cos, sin] = tables(match, dtype, replacement);
    replacement.add("workbench.rope",
                    {tensor("query", query), tensor("key", key), tensor("cos", cos), tensor("sin", sin),
                     text("style", match.fact<std::string>("style", "half"))},
                    {match.value("query_out"), match.value("key_out")});
}

} // namespace

Pattern rope() {
    return {.name = "rope",
            .summary = "the rotation of query and key, half or interleaved, in full or in part",
            .formula = "out = x * cos + rotate(x) * sin, for query and key",
            .sketch = "x -> * cos --------------------------> + -> attention\n"
                      "x -> halves -> cat(-x2, x1) -> * sin -'       (twice: query and key)\n"
                      "query, key, cos, sin -> rope -> query', key'",
            .explanation = "Some twenty small ops per layer that each read and write query or key "
                           "become one pass over both. The halves may be split in the middle (Llama) "
                           "or interleaved (Cohere, GPT-J); the rotation may cover only the first "
                           "columns of a head (GPT-NeoX, Phi).",
            .refuses = "different tables for query and key, another sign or order of the halves, an "
                       "odd width, layers without a rotation",
            .op = "workbench.rope",
            .counted = Counted::attentions,
            .places = attentionPlaces,
            .match = matchRope,
            .module = moduleOfPlace,
            .build = build};
}

} // namespace workbench
