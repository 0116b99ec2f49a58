#include "app/session/site_groups.h"

#include "app/session/plan_builder.h"
#include "app/session/summary.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>

namespace workbench {
namespace {

/// A dotted path cut at its first number: "model.layers." 3 ".self_attn".
struct NumberedPath {
    std::string before;
    std::optional<std::int64_t> number;
    std::string after;
};

NumberedPath splitAtNumber(const std::string& path) {
    std::size_t start = 0;
    while (start < path.size()) {
        const std::size_t end = std::min(path.find_first_of(".#", start), path.size());
        std::int64_t number = 0;
        const auto [stop, error] = std::from_chars(path.data() + start, path.data() + end, number);
        const bool isPart = end == path.size() || path[end] == '.' || path[end] == '#';
        if (error == std::errc() && stop == path.data() + end && isPart && end > start)
            return {path.substr(0, start), number, path.substr(end)};
        if (end < path.size() && path[end] == '#')
            break; // what follows counts sites, not modules
        start = end + 1;
    }
    return {path, std::nullopt, {}};
}

std::string stateText(const Site& site, const SiteOutcome& outcome) {
    const std::string shown(shownVerdict(site, outcome));
    if (outcome.with.empty())
        return shown;
    const std::string other = outcome.with.substr(0, outcome.with.find('@'));
    return shown + (outcome.state == SiteOutcome::State::contained ? " in " : " with ") + other;
}

/// What has to be equal for two sites to be told in one line.
struct Key {
    std::string before;
    std::string after;
    bool numbered = false;
    std::string state;
    std::string expected;
    std::string found;
    std::string source;
    auto operator<=>(const Key&) const = default;
};

/// "aten.linear (%linear_l1)" -> "aten.linear (%)": value names differ from layer to layer.
std::string withoutNames(const std::string& text) {
    std::string kept;
    bool inName = false;
    for (const char c : text) {
        inName = inName && (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.');
        if (!inName)
            kept += c;
        inName = inName || c == '%';
    }
    return kept;
}

struct Entry {
    SiteGroup group;
    std::vector<std::int64_t> numbers;
    NumberedPath path;
};

Key keyOf(const Graph& graph, const Site& site, const SiteOutcome& outcome, const NumberedPath& path) {
    Key key{path.before, path.after, path.number.has_value(), stateText(site, outcome), {}, {}, {}};
    if (site.miss) {
        key.expected = withoutNames(site.miss->expected);
        key.found = withoutNames(site.miss->found);
        key.source = sourceText(graph, site.miss->node);
    }
    return key;
}

std::string nameOf(const Entry& entry, const std::string& firstId) {
    if (entry.group.sites.size() == 1)
        return firstId;
    std::vector<std::int64_t> numbers = entry.numbers;
    std::sort(numbers.begin(), numbers.end());
    return entry.path.before + "{" + rangeText(numbers) + "}" + entry.path.after;
}

} // namespace

std::string rangeText(const std::vector<std::int64_t>& numbers) {
    std::string text;
    for (std::size_t first = 0; first < numbers.size();) {
        std::size_t last = first;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
            ++last;
        text += (text.empty() ? "" : ",") + std::to_string(numbers[first]);
        if (last > first)
            text += (last == first + 1 ? "," : "-") + std::to_string(numbers[last]);
        first = last + 1;
    }
    return text;
}

std::vector<SiteGroup> groupSites(const TracedModel& model, const Rewritten& rewritten) {
    const Graph& graph = model.canonical;
    const std::vector<Site>& sites = model.analysis.sites;
    std::vector<Entry> entries;
    std::map<Key, std::size_t> known;
    for (std::size_t i = 0; i < sites.size(); ++i) {
        NumberedPath path = splitAtNumber(sites[i].id);
        const Key key = keyOf(graph, sites[i], rewritten.outcomes[i], path);
        const auto [place, isNew] = known.emplace(key, entries.size());
        if (isNew)
            entries.push_back(
                {{{}, {}, key.state, sites[i].miss ? reasonText(graph, *sites[i].miss) : ""}, {}, path});
        Entry& entry = entries[place->second];
        entry.group.sites.push_back(i);
        if (path.number)
            entry.numbers.push_back(*path.number);
    }
    std::vector<SiteGroup> groups;
    for (Entry& entry : entries) {
        entry.group.name = nameOf(entry, sites[entry.group.sites.front()].id);
        groups.push_back(std::move(entry.group));
    }
    return groups;
}

} // namespace workbench
