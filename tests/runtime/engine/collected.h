#pragma once

#include "runtime/engine/generation_request.h"

#include <cstdint>
#include <string>
#include <vector>

namespace workbench::testing {

/// What a request's callbacks were told. Read it after Engine::waitIdle().
struct Collected {
    std::vector<std::int64_t> tokens;
    std::vector<Sampled> sampled;
    std::string text;
    std::vector<Completion> completions; ///< must be one

    /// Directs the request's callbacks here; this object must outlive the request.
    GenerationRequest watch(GenerationRequest request) {
        request.onToken = [this](const GeneratedToken& token) {
            tokens.push_back(token.sampled.token);
            sampled.push_back(token.sampled);
            text += token.text;
        };
        request.onFinish = [this](const Completion& completion) {
            text += completion.text;
            completions.push_back(completion);
        };
        return request;
    }
};

/// Token 0 is "a", 1 "b" and so on.
class LetterStream : public TextStream {
public:
    Result<std::string> push(std::int64_t token) override {
        return std::string(1, static_cast<char>('a' + token));
    }
    Result<std::string> finish() override { return std::string("."); }
};

} // namespace workbench::testing
