#include "app/cli/commands.h"
#include "app/cli/log.h"
#include "app/session/bisect_session.h"

namespace workbench::cli {
namespace {

using Json = nlohmann::ordered_json;

Json namesOf(const SessionBisect& found, const std::vector<std::size_t>& indices) {
    Json names = Json::array();
    for (const std::size_t i : indices)
        names.push_back(found.sites[i]);
    return names;
}

Json bisectJson(const SessionBisect& found, const std::string& by) {
    Json guilty = Json::array();
    for (const auto& set : found.result.guilty)
        guilty.push_back(namesOf(found, set));
    Json steps = Json::array();
    for (const BisectStep& step : found.result.steps)
        steps.push_back({{"applied", namesOf(found, step.on)}, {"wrong", step.wrong}, {"found", step.found}});
    return {{"by", by},
            {"wrong", found.result.wrong},
            {"guilty", std::move(guilty)},
            {"more", found.result.rest},
            {"steps", std::move(steps)}};
}

} // namespace

Status runBisect(const Options& options, Context& context) {
    auto opened = openSession(options, context);
    if (!opened)
        return opened.error();
    Runtime runtime(context.locations, options.worker, options.workerModel, kStoredWeights, options.device);
    SessionBisectRequest request;
    request.by =
        options.bisectBy == "speed" ? SessionBisectRequest::By::speed : SessionBisectRequest::By::numbers;
    request.load = options.load;
    request.onStep = [](const BisectStep& step) {
        logProgress("bisect", std::to_string(step.on.size()) +
                                  " sites: " + (step.wrong ? "WRONG, " : "fine, ") + step.found);
    };
    auto found = bisectSession(**opened, runtime, request, context.job);
    if (!found)
        return found.error();
    const std::string sentence = describe(*found, request.by);
    if (options.json)
        context.out << bisectJson(*found, options.bisectBy).dump(1) << '\n';
    else
        context.out << sentence << '\n';
    if (found->result.wrong)
        return Error{ErrorCode::requirementFailed, sentence, {}};
    return Ok{};
}

} // namespace workbench::cli
