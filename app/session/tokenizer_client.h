#pragma once

#include "app/session/job.h"
#include "app/session/python_helper.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace workbench {

/// Hugging Face's own tokenizer in a Python helper. One request at a time; one thread at a time.
class TokenizerClient {
public:
    using Tokens = std::vector<std::int64_t>;

    static Result<TokenizerClient> start(const Tracer& tracer, const std::filesystem::path& model,
                                         bool trustRemoteCode);

    Result<Tokens> encode(std::string_view text, const Job& job);
    /// The model's chat template around one message of the user.
    Result<Tokens> chat(std::string_view message, const Job& job);
    Result<std::string> decode(const Tokens& tokens, const Job& job);
    /// {"op", ...} -> its answer, see resources/python/workbench_tracer/tokenizer.py. badInput: the request
    /// was refused; runtimeFailed: the helper is gone.
    Result<nlohmann::json> request(const nlohmann::json& request, const Job& job);
    static Result<Tokens> idsOf(const Result<nlohmann::json>& answer);

private:
    explicit TokenizerClient(PythonHelper helper) : m_helper(std::move(helper)) {}

    PythonHelper m_helper;
};

} // namespace workbench
