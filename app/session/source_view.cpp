#include "app/session/source_view.h"

#include "core/support/read_file.h"
#include "core/support/sha256.h"

#include <algorithm>
#include <filesystem>

namespace workbench {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 20;

std::vector<std::string> linesOf(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        lines.push_back(text.substr(start, end - start));
        if (!lines.back().empty() && lines.back().back() == '\r')
            lines.back().pop_back();
        start = end + 1;
    }
    return lines;
}

SourceView recordedLine(SourceView view, const SourceFrame& frame, std::string why) {
    view.notShown = std::move(why);
    view.firstLine = frame.line;
    if (!frame.text.empty())
        view.lines = {frame.text};
    return view;
}

} // namespace

SourceView sourceView(const TracedModel& model, const SourceFrame& frame) {
    SourceView view{frame.file, frame.line, frame.function, {}, 1, {}};
    const std::string name = std::filesystem::path(frame.file).filename().string();
    const auto recorded = model.sources.is_object() ? model.sources.find(frame.file) : model.sources.end();
    if (recorded == model.sources.end() || !recorded->is_string())
        return recordedLine(view, frame,
                            "the trace recorded no hash of " + name + ": only its own line is shown");
    auto text = readFile(frame.file, kMostBytes);
    if (!text)
        return recordedLine(view, frame, text.error().message);
    if (sha256Hex(*text) != recorded->get<std::string>())
        return recordedLine(
            view, frame, name + " was changed since the model was traced: only the recorded line is shown");
    view.lines = linesOf(*text);
    if (frame.line < 1 || static_cast<std::size_t>(frame.line) > view.lines.size())
        return recordedLine(view, frame, name + " has no line " + std::to_string(frame.line));
    return view;
}

} // namespace workbench
