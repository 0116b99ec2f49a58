#include "core/archive/pt2_metadata.h"

#include <algorithm>
#include <charconv>

namespace workbench::pt2 {
namespace {

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos)
        return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// Splits at `separator` outside of brackets.
std::vector<std::string_view> splitOutsideBrackets(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '[' || text[i] == '(')
            ++depth;
        else if (text[i] == ']' || text[i] == ')')
            --depth;
        else if (text[i] == separator && depth == 0) {
            parts.push_back(text.substr(begin, i - begin));
            begin = i + 1;
        }
    }
    parts.push_back(text.substr(begin));
    return parts;
}

/// "transformers.models.llama.modeling_llama.LlamaMLP", "<class 'a.b.C'>" -> the last name.
std::string className(std::string_view type) {
    const std::size_t quote = type.find('\'');
    if (quote != std::string_view::npos) {
        type = type.substr(quote + 1);
        type = type.substr(0, type.find('\''));
    }
    const std::size_t dot = type.rfind('.');
    return std::string(dot == std::string_view::npos ? type : type.substr(dot + 1));
}

std::string modulePath(std::string_view path) {
    const std::size_t call = path.rfind('@');
    const bool isRepeat = call != std::string_view::npos && call + 1 < path.size() &&
                          path.find_first_not_of("0123456789", call + 1) == std::string_view::npos;
    return std::string(isRepeat ? path.substr(0, call) : path);
}

/// `File "path", line 12, in function`
bool parseFrameLine(std::string_view line, SourceFrame& frame) {
    constexpr std::string_view kFile = "File \"";
    constexpr std::string_view kLine = "\", line ";
    constexpr std::string_view kIn = ", in ";
    if (line.substr(0, kFile.size()) != kFile)
        return false;
    const std::size_t fileEnd = line.find(kLine, kFile.size());
    if (fileEnd == std::string_view::npos)
        return false;
    const std::string_view rest = line.substr(fileEnd + kLine.size());
    const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), frame.line);
    if (status != std::errc() || frame.line < 0)
        return false;
    const std::string_view after = rest.substr(static_cast<std::size_t>(end - rest.data()));
    frame.file = line.substr(kFile.size(), fileEnd - kFile.size());
    frame.function = after.substr(0, kIn.size()) == kIn ? after.substr(kIn.size()) : std::string_view();
    return true;
}

bool isInside(const SourceFrame& frame, std::string_view package) {
    const std::string folder = "/" + std::string(package) + "/";
    return frame.file.find("site-packages" + folder) != std::string::npos ||
           frame.file.find("dist-packages" + folder) != std::string::npos;
}

} // namespace

std::vector<ModuleInfo> parseModuleStack(std::string_view text) {
    std::vector<ModuleInfo> stack;
    if (text.empty())
        return stack;
    for (std::string_view entry : splitOutsideBrackets(text, ';')) {
        const std::vector<std::string_view> fields = splitOutsideBrackets(entry, ',');
        if (fields.size() == 3)
            stack.push_back({modulePath(fields[1]), className(fields[2])});
    }
    return stack;
}

SourceStack parseStackTrace(std::string_view text) {
    SourceStack stack;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        SourceFrame frame;
        if (parseFrameLine(line, frame))
            stack.push_back(std::move(frame));
        // The frame's source comes next; a line of carets below it is decoration.
        else if (!stack.empty() && stack.back().text.empty() &&
                 line.find_first_not_of("^~ ") != std::string_view::npos)
            stack.back().text = line;
    }
    std::erase_if(stack, [](const SourceFrame& frame) {
        return frame.file.find("/workbench_tracer/") != std::string::npos;
    });
    const auto ownEnd = std::find_if(stack.rbegin(), stack.rend(),
                                     [](const SourceFrame& frame) { return !isInside(frame, "torch"); });
    if (ownEnd != stack.rend())
        stack.erase(ownEnd.base(), stack.end());
    return stack;
}

} // namespace workbench::pt2
