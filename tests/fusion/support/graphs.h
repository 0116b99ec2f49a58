#pragma once

#include "core/graph/text.h"
#include "fusion/fusion.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

/// Graph text in, sites and graph text out.

namespace workbench::test {

/// The graph of a text that must be valid.
Graph parsed(std::string_view text);
/// Its canonical form.
Graph canonical(std::string_view text);

/// The site with that id; fails the test when there is none.
Site siteOf(const Analysis& analysis, std::string_view id);
/// Ids of a pattern's sites that are not refused, joined by spaces.
std::string applicable(const Analysis& analysis, std::string_view pattern);
/// "expected; found" of a pattern's only refused site, "" when it has none or is applicable.
std::string refusal(const Graph& canonical, std::string_view pattern);

/// Everything applied, without locations; names of patterns that are rejected may be given.
std::string rewritten(const Graph& canonical, std::initializer_list<std::string_view> rejected = {});
/// Only the sites of one pattern applied.
std::string rewrittenBy(const Graph& canonical, std::string_view pattern);
/// Sites that are applicable on the rewritten graph, joined by spaces: none when a second run finds nothing.
std::string secondRun(const Graph& canonical);

/// `text` with every occurrence of `from` replaced; fails the test when there is none.
std::string changed(std::string text, std::string_view from, std::string_view to);

} // namespace workbench::test
