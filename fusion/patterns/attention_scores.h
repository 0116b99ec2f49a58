#pragma once

#include "fusion/match/search.h"
#include "fusion/patterns/mask_proof.h"

/// What stands between the products of an attention: scale, softcap and mask.

namespace workbench {

/// How the scores are made; the same facts whichever way they were found.
struct Scores {
    double scale = 1, softcap = 0;
    ProvenMask mask{"full", 0};
};

/// Node `at` adds or fills in the mask: proven, or the reason. `inverted`: true where a token is hidden.
bool matchMask(Search& search, NodeId at, ValueId mask, bool inverted, Scores& scores);

/// From the softmax's input down to the product of query and key, where `value` ends; takes the nodes
/// between.
bool matchScores(Search& search, ValueId& value, Scores& scores);

/// A cast that the op makes as well or makes better: it computes in a type at least as wide as the query's.
/// One to an integer or to a narrower type is another function.
bool isHarmlessCast(const Search& search, NodeId node);

} // namespace workbench
