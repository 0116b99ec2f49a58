#include "app/session/pt2_export.h"

#include "app/session/parameter_data.h"
#include "core/archive/pt2_writer.h"

namespace workbench {

Status exportPt2(Session& session, const std::filesystem::path& file, const Job& job) {
    const TracedModel& model = session.model();
    if (!model.hasWeights)
        return Error{
            ErrorCode::badInput,
            model.directory.string() +
                " has no weights: an archive holds the data of its parameters, export the plan instead",
            model.directory.string()};
    auto rewritten = session.rewritten();
    if (!rewritten)
        return rewritten.error();
    auto data = ParameterData::open(model);
    if (!data)
        return data.error();
    const Graph& graph = (*rewritten)->graph;
    Pt2WriteOptions options;
    options.envelope = data->archive().envelope;
    options.tied = model.tied;
    options.data = [&](const Input& input) -> Result<std::string> {
        if (job.cancelled())
            return cancelledError();
        return data->of(input, graph.value(input.value).meta);
    };
    job.report("write", file.string());
    return writePt2(graph, options, file);
}

} // namespace workbench
