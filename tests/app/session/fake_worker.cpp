/// A worker that behaves as its requests say: answers, dies, hangs, breaks the protocol. It measures and
/// compares programs by their text alone (see norm_model.h).

#include "core/wire/frame.h"

#include <nlohmann/json.hpp>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace workbench;
using nlohmann::json;

void send(const json& message, std::vector<std::byte> payload = {}) {
    if (!writeFrame(STDOUT_FILENO, {message.dump(), std::move(payload)}))
        std::exit(1);
}

void sleepForever() {
    for (;;)
        ::pause();
}

/// Ends when a cancel of that request comes.
void waitForCancel(const json& id) {
    for (;;) {
        auto frame = readFrame(STDIN_FILENO);
        if (!frame)
            std::exit(0);
        const json message = json::parse(frame->json);
        if (message.at("method") == "cancel" && message.at("params").at("id") == id)
            return;
    }
}

std::map<std::string, std::string> g_graphs;
std::string g_version = WORKBENCH_VERSION; ///< the first argument, where there is one
std::vector<std::string> g_devices{"cpu"}; ///< and those that further ones name
json g_weights;                            ///< of the last load
int g_received = 0;

/// Whether the program has the norm of that name as one op.
bool fuses(const std::string& graph, const std::string& norm) {
    return graph.find("workbench.rms_norm(input=%in_" + norm + ",") != std::string::npos;
}

/// 10 ms; a fused norm saves a tenth of it, a fused "slow" one doubles it.
double secondsPerToken(const std::string& graph) {
    double seconds = 0.010;
    for (const char* norm : {"a", "b", "c", "d"})
        seconds -= fuses(graph, norm) ? 0.001 : 0;
    return fuses(graph, "slow") ? 2 * seconds : seconds;
}

void sendSample(const json& id, const std::string& program, int round, const json& params) {
    const auto prompt = params.contains("prompts") ? params["prompts"][0].size()
                                                   : params.at("prompt_tokens").get<std::size_t>();
    const auto count = params.at("new_tokens").get<std::size_t>();
    const double seconds = secondsPerToken(g_graphs[program]);
    send({{"id", id},
          {"event", "pace"},
          {"program", program},
          {"round", round},
          {"tokens", 1},
          {"seconds", seconds}});
    std::vector<double> times;
    for (std::size_t i = 0; i < count; ++i)
        times.push_back(0.001 * static_cast<double>(prompt) + static_cast<double>(i) * seconds);
    const json request = {{"arrival_s", 0.0}, {"prompt_tokens", prompt}, {"token_s", times}};
    const std::size_t requests = params.value("concurrency", std::size_t{1});
    send({{"id", id},
          {"event", "sample"},
          {"program", program},
          {"round", round},
          {"requests", std::vector<json>(requests, request)}});
}

/// new_tokens 13: dies as if memory ran out; 14: goes on until it is cancelled; 15: sends no numbers.
void bench(const json& id, const json& params) {
    const int kind = params.contains("requests") ? 0 : params.at("new_tokens").get<int>();
    for (int round = 0; round < params.at("rounds").get<int>(); ++round)
        for (const auto& program : params.at("programs")) {
            if (kind == 15)
                send({{"id", id}, {"event", "sample"}, {"program", program}, {"requests", "many"}});
            sendSample(id, program, round, params);
            if (kind == 13 && round == 1)
                std::raise(SIGKILL);
        }
    json result = {{"memory", {{"peak_bytes", 1000}}}};
    if (params.value("profile", false))
        for (const auto& program : params.at("programs"))
            result["profile"][program] = {
                {"steps", 4}, {"step_s", 0.04}, {"model_s", 0.036}, {"kernels", {{"norms", 0.03}}}};
    if (kind != 14)
        return send({{"id", id}, {"result", result}});
    waitForCancel(id);
    send({{"id", id}, {"error", {{"code", "cancelled"}, {"message", "cancelled"}, {"where", ""}}}});
}

/// Wrong logits where the norm "wrong" is fused, and where both "c" and "d" are; dies as if memory ran out
/// where "killer" is.
void verify(const json& id, const json& params) {
    const std::string& graph = g_graphs.at(params.at("rewritten"));
    if (fuses(graph, "killer"))
        std::raise(SIGKILL);
    const bool isWrong = fuses(graph, "wrong") || (fuses(graph, "c") && fuses(graph, "d"));
    const auto difference = [](double error) -> json {
        return {{"max_abs_error", error}, {"relative_error", error}, {"max_abs", 1.0}};
    };
    json sites = json::array();
    for (const auto& site : params.at("sites")) {
        sites.push_back(difference(0));
        sites.back()["id"] = site.at("id");
    }
    send({{"id", id}, {"result", {{"sites", sites}, {"end_to_end", difference(isWrong ? 0.5 : 0)}}}});
}

/// Whether the request is one about programs; answers it.
bool answerProgramRequest(const json& id, const std::string& method, const json& params) {
    if (method == "load") {
        g_graphs[params.at("name")] = params.at("graph");
        g_weights = params.at("weights");
        // With int4 it is as a worker that finds two matrices in a form that it does not quantise.
        json result = json::object();
        if (g_weights.value("format", "") == "int4")
            result["products"] = {{"quantised", {{"matrices", 1}, {"bytes", 100000}}},
                                  {"stored", {{"matrices", 2}, {"bytes", 300000}}}};
        send({{"id", id}, {"result", result}});
    } else if (method == "load_native") {
        const bool known = params.at("config").value("architecture", "") == "norms";
        send({{"id", id}, {"result", {{"available", known}, {"reason", "there is no code for it"}}}});
    } else if (method == "bench") {
        bench(id, params);
    } else if (method == "verify") {
        verify(id, params);
    } else if (method == "run" && params.value("engine", false)) {
        send(
            {{"id", id}, {"error", {{"code", "requirementFailed"}, {"message", "no cache"}, {"where", ""}}}});
    } else if (method == "run") {
        const std::string why = "no memory to run " + params.at("program").get<std::string>();
        send({{"id", id}, {"error", {{"code", "runtimeFailed"}, {"message", why}, {"where", ""}}}});
    } else if (method == "generate") {
        const std::vector<int> tokens(params.at("max_tokens").get<std::size_t>(), 7);
        send({{"id", id}, {"result", {{"tokens", tokens}, {"top2_gap", tokens}}}});
    } else {
        return false;
    }
    return true;
}

void answer(const json& request) {
    const json& id = request.at("id");
    const json& params = request.at("params");
    const std::string method = request.at("method");
    if (answerProgramRequest(id, method, params))
        return;
    if (method == "hello")
        return send(
            {{"id", id},
             {"result", {{"version", g_version}, {"threads", 2}, {"isa", "NONE"}, {"devices", g_devices}}}});
    if (method == "receive")
        return send({{"id", id}, {"result", {{"path", "/received/" + std::to_string(++g_received)}}}});
    if (method == "weights")
        return send({{"id", id}, {"result", g_weights}});
    if (method == "echo")
        return send({{"id", id}, {"result", params}}, {std::byte{1}, std::byte{2}});
    if (method == "events") {
        for (int i = 0; i < 3; ++i)
            send({{"id", id}, {"event", "token"}, {"token", i}});
        return send({{"id", id}, {"result", json::object()}});
    }
    if (method == "stale") {
        send({{"id", id.get<int>() - 1}, {"result", "of an earlier request"}});
        return send({{"id", id}, {"result", "mine"}});
    }
    if (method == "fail")
        return send({{"id", id}, {"error", params}});
    if (method == "exit") {
        std::fprintf(stderr, "first words\n%s\n", params.at("words").get<std::string>().c_str());
        std::exit(params.at("status").get<int>());
    }
    if (method == "signal")
        std::raise(params.at("number").get<int>());
    if (method == "text")
        std::puts("hello, I am no frame"), std::fflush(stdout), sleepForever();
    if (method == "notJson")
        return (void)writeFrame(STDOUT_FILENO, {"[1, 2", {}});
    if (method == "hang") {
        send({{"id", id}, {"event", "started"}});
        sleepForever();
    }
    if (method == "cancellable") {
        send({{"id", id}, {"event", "started"}});
        waitForCancel(id);
        return send(
            {{"id", id}, {"error", {{"code", "cancelled"}, {"message", "cancelled"}, {"where", ""}}}});
    }
}

} // namespace

int main(int count, char** arguments) {
    if (count > 1)
        g_version = arguments[1];
    for (int i = 2; i < count; ++i)
        g_devices.emplace_back(arguments[i]);
    while (auto frame = readFrame(STDIN_FILENO))
        if (const json request = json::parse(frame->json);
            request.contains("id")) // else a cancel that came late
            answer(request);
}
