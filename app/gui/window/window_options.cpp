#include "app/gui/window/window_options.h"

#include "app/gui/document/qt_text.h"

#include <QtCore/QCommandLineParser>

namespace workbench::gui {
namespace {

Error wrongUsage(const QString& sentence) {
    return {ErrorCode::usage, sentence.toStdString(), {}};
}

QString dtypeNames() {
    QStringList names;
    for (const auto& [name, dtype] : kTraceDtypes)
        names += qt(name);
    return names.join(", ");
}

Result<TraceOptions> traceOptions(const QCommandLineParser& parser) {
    TraceOptions trace;
    const auto dtype = traceDtypeFromName(parser.value("dtype").toStdString());
    if (!dtype)
        return wrongUsage(QString("--dtype '%1' is none of %2").arg(parser.value("dtype"), dtypeNames()));
    bool isNumber = false;
    const qlonglong seconds = parser.value("time-limit").toLongLong(&isNumber);
    if (!isNumber || seconds < 0 || seconds > kLongestTimeLimit.count())
        return wrongUsage(QString("--time-limit '%1' is no whole number of seconds from 0 (never) to %2")
                              .arg(parser.value("time-limit"))
                              .arg(static_cast<qlonglong>(kLongestTimeLimit.count())));
    trace.dtype = *dtype;
    trace.timeLimit = std::chrono::seconds(seconds);
    trace.trustRemoteCode = parser.isSet("trust-remote-code");
    return trace;
}

/// What is about one model needs that model: the window would otherwise drop it, or hand one model's plan,
/// weights or consent to another.
Status checkOfOneModel(const QCommandLineParser& parser) {
    const auto models = parser.positionalArguments().size();
    for (const char* option : {"plan", "trust-remote-code", "worker-model", "screenshots"})
        if (parser.isSet(option) && models != 1)
            return wrongUsage(QString("--%1 is about one model: name that MODEL too").arg(option));
    if (parser.isSet("worker-model") && !parser.isSet("worker"))
        return wrongUsage("--worker-model says where a worker finds the model: name the worker by --worker");
    return Ok{};
}

} // namespace

void addWindowOptions(QCommandLineParser& parser) {
    parser.addPositionalArgument("MODEL", "Directories, .pt2 archives or org/name[@revision]", "[MODEL...]");
    parser.addOptions({{"plan", "Start from the decisions of a saved plan of the MODEL.", "file"},
                       {"dtype", "Compute in f32, bf16 or the checkpoint's own type.", "type", "auto"},
                       {"trust-remote-code", "Run the Python code that the MODEL brings."},
                       {"time-limit", "Seconds after which tracing is given up.", "seconds", "0"},
                       {"worker", "Command of the worker.", "command"},
                       {"worker-model", "The MODEL's directory where that worker runs.", "folder"},
                       {"screenshots", "Write pictures of each panel into a folder, and end.", "folder"}});
}

Result<WindowRequest> windowRequest(const QCommandLineParser& parser) {
    auto trace = traceOptions(parser);
    if (!trace)
        return trace.error();
    if (auto fine = checkOfOneModel(parser); !fine)
        return fine.error();
    WindowRequest request;
    request.trace = *trace;
    request.worker = parser.value("worker");
    request.workerModel = parser.value("worker-model");
    request.screenshots = parser.value("screenshots");
    for (const QString& model : parser.positionalArguments()) {
        OpenRequest open;
        open.model = model;
        open.plan = parser.value("plan");
        open.trace = *trace;
        request.open.push_back(open);
    }
    return request;
}

} // namespace workbench::gui
