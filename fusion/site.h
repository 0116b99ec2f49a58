#pragma once

#include "core/graph/facts.h"
#include "core/graph/graph.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

/// What static analysis says about a canonical graph. Node and value ids are those of that graph.

namespace workbench {

enum class SiteVerdict {
    applicable, ///< every condition holds; the rewrite is offered
    present,    ///< the traced graph already has the fused op here (attention, plugged in by the tracer):
                ///< nothing to decide
    refused,    ///< the root is here, a condition failed: `miss` says which
};

/// The first condition that failed.
struct NoMatch {
    NodeId node = kNone;  ///< where
    std::string expected; ///< "the mean runs over the last dim"
    std::string found;    ///< "dim=[1]"
};

/// A node of a site with its part in the pattern ("q", "gate", "norm", "add"): source forms and the window's
/// inspector need it.
struct RoleNode {
    std::string role;
    NodeId node = kNone;
};

struct Site {
    std::string id; ///< "qkv@model.layers.0.self_attn"; "#1", "#2" after the module for the 2nd, 3rd of a
                    ///< module in node order
    std::string pattern; ///< "qkv"
    std::string module;  ///< common module path of the pattern's own anchor node
    SiteVerdict verdict = SiteVerdict::refused;
    std::vector<NodeId> nodes; ///< nodes that the rewrite removes, ascending; empty when refused or present
    std::vector<RoleNode> roles;
    std::vector<std::string> parameters;   ///< names of the parameters that take part
    std::vector<DerivedParameter> derived; ///< merged weights that the rewrite adds
    Facts facts;                           ///< eps, scale, sizes, style, ...
    std::optional<NoMatch> miss;           ///< for refused
};

/// "rms-norm 57/57": found of a denominator that is counted without the matcher.
struct Coverage {
    std::string pattern;
    std::int64_t found = 0; ///< applicable + present
    std::int64_t places = 0;
    std::string counted; ///< what was counted: "places where a reciprocal square root or a norm op occurs"
};

struct Matches;

struct Analysis {
    std::vector<Site> sites; ///< in priority order of the patterns, then in node order
    std::vector<Coverage> coverage;
    std::shared_ptr<const Matches> matches; ///< what rewrite() needs of each site
};

enum class Decision { undecided, apply, reject };
using Decisions = std::map<std::string, Decision, std::less<>>; ///< by site id; absent = undecided

} // namespace workbench
