#include "runtime/program/generation.h"
#include "runtime/worker/workshop.h"

namespace workbench {
namespace {

using Integers = std::vector<std::int64_t>;

Result<GenerateRequest> requestFromJson(const Request& request) {
    auto prompt = required<Integers>(request.params(), "prompt");
    auto maxTokens = required<std::int64_t>(request.params(), "max_tokens");
    auto eos = optional<Integers>(request.params(), "eos", {});
    auto ignoreEos = optional<bool>(request.params(), "ignore_eos", false);
    for (const Error* error : {prompt ? nullptr : &prompt.error(), maxTokens ? nullptr : &maxTokens.error(),
                               eos ? nullptr : &eos.error(), ignoreEos ? nullptr : &ignoreEos.error()})
        if (error)
            return *error;
    return GenerateRequest{std::move(*prompt), *maxTokens,           std::move(*eos),
                           *ignoreEos,         &request.cancelled(), {}};
}

} // namespace

Result<Reply> Workshop::generateText(const Request& request) {
    auto program = model(request, "program");
    if (!program)
        return program.error();
    auto wanted = requestFromJson(request);
    if (!wanted)
        return wanted.error();
    wanted->onToken = [&](std::int64_t token) -> Status {
        request.emit("token", {{"token", token}});
        return Ok{};
    };
    auto text = generate(**program, *wanted);
    if (!text)
        return text.error();
    const std::size_t decoded = text->tokens.empty() ? 0 : text->tokens.size() - 1;
    return Reply{{{"tokens", text->tokens},
                  {"prefill_s", text->prefillSeconds},
                  {"decode_s", text->decodeSeconds},
                  {"prefill_tokens", wanted->prompt.size()},
                  {"decode_tokens", decoded},
                  {"top2_gap", text->gaps},
                  {"kv_cache", text->usedCache}}};
}

} // namespace workbench
