#pragma once

#include "runtime/server/logprobs.h"

#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

namespace workbench {

/// What one endpoint's answers look like.
class AnswerShape {
public:
    virtual ~AnswerShape() = default;

    virtual const char* idPrefix() const = 0;
    virtual const char* object(bool isChunk) const = 0;
    /// The fields of a choice of a whole answer; `finish` is "stop" or "length".
    virtual nlohmann::json choice(std::size_t index, const std::string& text, nlohmann::json logprobs,
                                  const char* finish) const = 0;
    /// The fields of a choice of a streamed chunk; `finish` is nullptr before the last.
    virtual nlohmann::json delta(std::size_t index, const std::string& text, nlohmann::json logprobs,
                                 const char* finish) const = 0;
    /// The chunk before any text of a choice; null: none.
    virtual nlohmann::json opening(std::size_t index) const = 0;
    virtual nlohmann::json logprobs(const std::vector<NamedToken>& tokens, std::int64_t& offset) const = 0;
};

const AnswerShape& chatShape();
/// `prefixes`: text that each choice repeats before its own; empty for none.
std::unique_ptr<AnswerShape> completionShape(std::vector<std::string> prefixes);

} // namespace workbench
