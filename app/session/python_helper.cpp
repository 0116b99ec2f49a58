#include "app/session/python_helper.h"

#include "app/session/json_fields.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace workbench {

using nlohmann::json;
using namespace std::chrono_literals;

Result<PythonHelper> PythonHelper::start(const Tracer& tracer, std::string name,
                                         std::vector<std::string> arguments) {
    auto process = Subprocess::start(
        {tracer.commandWords(std::move(arguments)), pythonEnvironment(tracer.packages()), {}});
    if (!process)
        return process.error();
    return PythonHelper(std::move(name), std::move(process).value());
}

Error PythonHelper::died() {
    m_process.closeInput();
    const auto exit = m_process.wait(2s);
    if (!exit)
        m_process.kill();
    const std::string witness = lastLine(m_process.errorTail());
    return {ErrorCode::runtimeFailed,
            m_name + " " + (exit ? exit->text() : std::string("closed its output")) +
                (witness.empty() ? "" : ": " + witness),
            {}};
}

Result<std::string> PythonHelper::readLine(const Job& job) {
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
            return died();
    }
}

Result<json> PythonHelper::request(const json& request, const Job& job) {
    if (!m_process.write(request.dump(-1, ' ', false, json::error_handler_t::replace) + "\n"))
        return died();
    return answer(job);
}

Result<json> PythonHelper::answer(const Job& job) {
    for (;;) {
        auto line = readLine(job);
        if (!line)
            return line.error();
        json answer = json::parse(*line, nullptr, false);
        if (!answer.is_object())
            continue; // a library's greeting
        // {"event": "error", "message"} ends the process, {"error"} answers one request.
        if (const std::string reason = textOf(answer, "error"); !reason.empty())
            return Error{ErrorCode::badInput, reason, {}};
        const std::string event = textOf(answer, "event");
        if (event == "error")
            return Error{ErrorCode::badInput, textOf(answer, "message"), textOf(answer, "where")};
        if (event.empty())
            return answer;
    }
}

} // namespace workbench
