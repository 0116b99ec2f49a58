#pragma once

#include "core/support/result.h"

#include <string_view>
#include <utility>

namespace workbench {

/// Names of error codes in messages between processes.
inline constexpr std::pair<ErrorCode, std::string_view> kErrorCodeNames[] = {
    {ErrorCode::requirementFailed, "requirementFailed"},
    {ErrorCode::usage, "usage"},
    {ErrorCode::badInput, "badInput"},
    {ErrorCode::cannotTrace, "cannotTrace"},
    {ErrorCode::runtimeFailed, "runtimeFailed"},
    {ErrorCode::cancelled, "cancelled"},
};

} // namespace workbench
