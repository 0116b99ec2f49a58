#include "app/session/bisect.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace workbench {
namespace {

using Set = std::vector<std::size_t>; // ascending

Set join(const Set& a, const Set& b) {
    Set all;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
    return all;
}

Set without(const Set& all, const Set& some) {
    Set left;
    std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(left));
    return left;
}

class Search {
public:
    Search(const BisectRequest& request, const Job& job) : m_request(request), m_job(job) {}

    /// Tries a set, once.
    Result<bool> wrong(const Set& on) {
        if (const auto known = m_known.find(on); known != m_known.end())
            return known->second;
        if (m_job.cancelled())
            return cancelledError();
        auto tried = m_request.test(on);
        if (!tried)
            return tried.error();
        m_known[on] = tried->wrong;
        m_steps.push_back({on, tried->wrong, tried->found});
        if (m_request.onStep)
            m_request.onStep(m_steps.back());
        return tried->wrong;
    }

    /// The smallest part of `set` that is wrong together with `kept`; set + kept is, kept alone is not.
    Result<Set> smallest(const Set& set, const Set& kept) {
        if (set.size() <= 1)
            return set;
        const auto middle = set.begin() + static_cast<std::ptrdiff_t>(set.size() / 2);
        const Set halves[] = {Set(set.begin(), middle), Set(middle, set.end())};
        for (const Set& half : halves) {
            auto isWrong = wrong(join(half, kept));
            if (!isWrong)
                return isWrong.error();
            if (*isWrong)
                return smallest(half, kept);
        }
        if (m_request.joint == BisectRequest::Joint::together)
            return set;
        auto first = smallest(halves[0], join(halves[1], kept));
        if (!first)
            return first;
        auto second = smallest(halves[1], join(*first, kept));
        if (!second)
            return second;
        return join(*first, *second);
    }

    std::vector<BisectStep> takeSteps() { return std::move(m_steps); }

private:
    const BisectRequest& m_request;
    const Job& m_job;
    std::map<Set, bool> m_known;
    std::vector<BisectStep> m_steps;
};

} // namespace

Result<BisectResult> bisect(const BisectRequest& request, const Job& job) {
    Search search(request, job);
    BisectResult result;
    Set left(request.count);
    std::iota(left.begin(), left.end(), std::size_t{0});
    while (!left.empty()) {
        auto isWrong = search.wrong(left);
        if (!isWrong)
            return isWrong.error();
        result.rest = *isWrong;
        result.wrong = result.wrong || *isWrong;
        if (!*isWrong || result.guilty.size() == request.most)
            break;
        auto found = search.smallest(left, {});
        if (!found)
            return found.error();
        left = without(left, *found);
        result.guilty.push_back(std::move(found).value());
        result.rest = false;
    }
    result.steps = search.takeSteps();
    return result;
}

} // namespace workbench
