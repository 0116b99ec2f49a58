#include "runtime/server/http_message.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace workbench::http {
namespace {

constexpr std::size_t kLongestTarget = 8 << 10; // bytes
constexpr std::size_t kMostHeaders = 100;

char lower(char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
        text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
        text.remove_suffix(1);
    return text;
}

/// A token of RFC 9110, 5.6.2: what a method and a header's name are made of.
bool isToken(std::string_view text) {
    constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::ranges::all_of(text, [&](unsigned char c) {
        return std::isalnum(c) || kMarks.find(static_cast<char>(c)) != std::string_view::npos;
    });
}

bool hasControl(std::string_view text) {
    return std::ranges::any_of(text, [](unsigned char c) { return (c < ' ' && c != '\t') || c == 0x7F; });
}

/// Whether a comma-separated list has an element, in any case.
bool lists(std::string_view list, std::string_view element) {
    while (!list.empty()) {
        const std::size_t comma = list.find(',');
        if (equalIgnoringCase(trimmed(list.substr(0, comma)), element))
            return true;
        list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    }
    return false;
}

int hexDigit(char c) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const std::size_t place = kDigits.find(lower(c));
    return place == std::string_view::npos ? -1 : static_cast<int>(place);
}

/// The path of a target: without host (RFC 9112, 3.2.2) and query, its escapes resolved; nothing for a broken
/// one.
std::optional<std::string> pathOf(std::string_view target) {
    for (const std::string_view scheme : {"http://", "https://"})
        if (target.starts_with(scheme)) {
            const std::size_t slash = target.find('/', scheme.size());
            target = slash == std::string_view::npos ? "/" : target.substr(slash);
        }
    target = target.substr(0, target.find('?'));
    std::string path;
    for (std::size_t i = 0; i < target.size(); ++i) {
        if (target[i] != '%') {
            path += target[i];
            continue;
        }
        const int high = i + 2 <= target.size() - 1 ? hexDigit(target[i + 1]) : -1;
        const int low = high >= 0 ? hexDigit(target[i + 2]) : -1;
        if (low < 0)
            return {};
        path += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return path;
}

std::optional<Failure> readRequestLine(std::string_view line, Request& request) {
    const std::size_t first = line.find(' ');
    const std::size_t last = line.rfind(' ');
    if (first == std::string_view::npos || first == last || !isToken(line.substr(0, first)))
        return Failure{400, "The request line is not 'METHOD TARGET HTTP/1.1'."};
    const std::string_view target = line.substr(first + 1, last - first - 1);
    const std::string_view version = line.substr(last + 1);
    if (version != "HTTP/1.1" && version != "HTTP/1.0") {
        if (version.starts_with("HTTP/"))
            return Failure{505, "This server speaks HTTP/1.1 and HTTP/1.0."};
        return Failure{400, "The request line does not end in a version of HTTP."};
    }
    if (target.size() > kLongestTarget)
        return Failure{414,
                       "The request's target is longer than " + std::to_string(kLongestTarget) + " bytes."};
    if (target.empty() || target.find(' ') != std::string_view::npos || hasControl(target))
        return Failure{400, "The request's target has a space or a control character."};
    request.method = line.substr(0, first);
    request.minorVersion = version.back() - '0';
    const std::size_t question = target.find('?');
    auto path = pathOf(target);
    if (!path)
        return Failure{400, "An escape in the request's target is not '%' and two hexadecimal digits."};
    request.path = *std::move(path);
    request.query = question == std::string_view::npos ? "" : target.substr(question + 1);
    return {};
}

std::optional<Failure> readHeader(std::string_view line, Request& request) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !isToken(line.substr(0, colon)))
        return Failure{400, "A header is not 'Name: value'."};
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (hasControl(value))
        return Failure{400, "A header's value has a control character."};
    std::string name(line.substr(0, colon));
    std::ranges::transform(name, name.begin(), lower);
    const auto [place, isNew] = request.headers.try_emplace(name, value);
    if (isNew)
        return request.headers.size() > kMostHeaders
                   ? std::optional(Failure{431, "The request has more than " + std::to_string(kMostHeaders) +
                                                    " headers."})
                   : std::nullopt;
    if (name == "content-length" || name == "transfer-encoding" || name == "host" ||
        name == "authorization" || name == "content-type")
        return Failure{400, "The header '" + name + "' occurs twice."};
    place->second.append(", ").append(value);
    return {};
}

} // namespace

bool equalIgnoringCase(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, {}, lower, lower);
}

std::string_view Request::header(std::string_view lowerCaseName) const {
    const auto place = headers.find(lowerCaseName);
    return place == headers.end() ? std::string_view() : std::string_view(place->second);
}

bool Request::keepAlive() const {
    const std::string_view connection = header("connection");
    return minorVersion == 0 ? lists(connection, "keep-alive") : !lists(connection, "close");
}

Outcome<Request> parseHead(std::string_view head) {
    Request request;
    bool first = true;
    while (!head.empty() || first) {
        const std::size_t end = head.find("\r\n");
        const std::string_view line = head.substr(0, end);
        auto failure = first ? readRequestLine(line, request) : readHeader(line, request);
        if (failure)
            return *std::move(failure);
        first = false;
        head = end == std::string_view::npos ? std::string_view() : head.substr(end + 2);
    }
    if (request.minorVersion == 1 && !request.headers.contains("host"))
        return Failure{400, "The header 'Host' is missing."};
    return request;
}

Outcome<BodyFraming> bodyFraming(const Request& request) {
    const bool hasLength = request.headers.contains("content-length");
    if (request.headers.contains("transfer-encoding")) {
        if (hasLength)
            return Failure{400, "The request has both 'Content-Length' and 'Transfer-Encoding'."};
        if (!equalIgnoringCase(request.header("transfer-encoding"), "chunked") || request.minorVersion == 0)
            return Failure{501, "The only transfer encoding of a request is 'chunked', in HTTP/1.1."};
        return BodyFraming{true, 0};
    }
    if (!hasLength)
        return BodyFraming{};
    const std::string_view text = request.header("content-length");
    const bool digits =
        !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c); });
    if (!digits)
        return Failure{400, "'Content-Length' is not a number."};
    std::uint64_t length = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), length).ec != std::errc())
        return Failure{413, "The body is larger than 64 bits can tell."};
    return BodyFraming{false, length};
}

std::optional<std::uint64_t> chunkSize(std::string_view line) {
    line = trimmed(line.substr(0, line.find(';')));
    std::uint64_t size = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), size, 16);
    if (line.empty() || error != std::errc() || end != line.data() + line.size())
        return {};
    return size;
}

const char* reasonPhrase(int status) {
    static const std::map<int, const char*> phrases{
        {200, "OK"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {417, "Expectation Failed"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {505, "HTTP Version Not Supported"},
    };
    const auto place = phrases.find(status);
    return place == phrases.end() ? "Status" : place->second;
}

std::string headOf(const Response& response, std::optional<std::size_t> length, bool chunked,
                   bool keepAlive) {
    std::string head =
        "HTTP/1.1 " + std::to_string(response.status) + " " + reasonPhrase(response.status) + "\r\n";
    head += "Content-Type: " + response.contentType + "\r\n";
    if (length)
        head += "Content-Length: " + std::to_string(*length) + "\r\n";
    if (chunked)
        head += "Transfer-Encoding: chunked\r\n";
    for (const auto& [name, value] : response.headers)
        head += name + ": " + value + "\r\n";
    return head + "Connection: " + (keepAlive ? "keep-alive" : "close") + "\r\n\r\n";
}

} // namespace workbench::http
