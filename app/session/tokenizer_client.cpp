#include "app/session/tokenizer_client.h"

#include <nlohmann/json.hpp>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace workbench {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

Error helperFailed(const std::string& message) {
    return {ErrorCode::runtimeFailed, message, {}};
}

std::string text(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Error died(Subprocess& process) {
    process.closeInput();
    const auto exit = process.wait(2s);
    if (!exit)
        process.kill();
    const std::string witness = lastLine(process.errorTail());
    return helperFailed("the tokenizer " + (exit ? exit->text() : std::string("closed its output")) +
                        (witness.empty() ? "" : ": " + witness));
}

} // namespace

Result<TokenizerClient> TokenizerClient::start(const Tracer& tracer, const std::filesystem::path& model,
                                               bool trustRemoteCode) {
    std::vector<std::string> arguments = {"tokenizer", "--model", model.string()};
    if (trustRemoteCode)
        arguments.emplace_back("--trust-remote-code");
    auto process = Subprocess::start(
        {tracer.commandWords(std::move(arguments)), pythonEnvironment(tracer.packages()), {}});
    if (!process)
        return process.error();
    return TokenizerClient(std::move(process).value());
}

Result<std::string> TokenizerClient::readLine(const Job& job) {
    for (;;) {
        if (const std::size_t end = m_pending.find('\n'); end != std::string::npos) {
            std::string line = m_pending.substr(0, end);
            m_pending.erase(0, end + 1);
            return line;
        }
        std::array<pollfd, 2> entries{pollfd{m_process.output(), POLLIN, 0},
                                      pollfd{job.cancel ? job.cancel->fd() : -1, POLLIN, 0}};
        ::poll(entries.data(), entries.size(), -1);
        if (job.cancelled())
            return cancelledError();
        std::array<char, 16384> buffer;
        const ssize_t count =
            entries[0].revents ? ::read(m_process.output(), buffer.data(), buffer.size()) : -1;
        if (count > 0)
            m_pending.append(buffer.data(), static_cast<std::size_t>(count));
        else if (count == 0)
            return died(m_process);
    }
}

Result<json> TokenizerClient::request(const json& request, const Job& job) {
    if (!m_process.write(request.dump(-1, ' ', false, json::error_handler_t::replace) + "\n"))
        return died(m_process);
    for (;;) {
        auto line = readLine(job);
        if (!line)
            return line.error();
        json answer = json::parse(*line, nullptr, false);
        if (!answer.is_object())
            continue; // a library's greeting
        // {"event": "error", "message"} ends the process, {"error"} answers one request.
        if (const std::string reason = text(answer, "error"); !reason.empty())
            return Error{ErrorCode::badInput, reason, {}};
        const std::string event = text(answer, "event");
        if (event == "error")
            return Error{ErrorCode::badInput, text(answer, "message"), text(answer, "where")};
        if (event.empty())
            return answer;
    }
}

Result<TokenizerClient::Tokens> TokenizerClient::idsOf(const Result<json>& answer) {
    if (!answer)
        return answer.error();
    const auto ids = answer->find("ids");
    if (ids == answer->end() || !ids->is_array())
        return helperFailed("the tokenizer gave no tokens");
    Tokens tokens;
    for (const json& id : *ids) {
        if (!id.is_number_integer())
            return helperFailed("the tokenizer gave a token that is no integer");
        tokens.push_back(id.get<std::int64_t>());
    }
    return tokens;
}

Result<TokenizerClient::Tokens> TokenizerClient::encode(std::string_view text, const Job& job) {
    return idsOf(request({{"op", "encode"}, {"text", text}, {"add_special_tokens", true}}, job));
}

Result<TokenizerClient::Tokens> TokenizerClient::chat(std::string_view message, const Job& job) {
    const json messages = json::array({{{"role", "user"}, {"content", message}}});
    return idsOf(request({{"op", "chat"}, {"messages", messages}}, job));
}

Result<std::string> TokenizerClient::decode(const Tokens& tokens, const Job& job) {
    auto answer = request({{"op", "decode"}, {"ids", tokens}}, job);
    if (!answer)
        return answer.error();
    const auto text = answer->find("text");
    if (text == answer->end() || !text->is_string())
        return helperFailed("the tokenizer gave no text");
    return text->get<std::string>();
}

} // namespace workbench
