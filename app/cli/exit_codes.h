#pragma once

#include "core/support/result.h"

namespace workbench::cli {

/// The documented exit code of each kind of failure.
inline int exitCode(ErrorCode code) {
    switch (code) {
    case ErrorCode::requirementFailed:
        return 1;
    case ErrorCode::usage:
        return 2;
    case ErrorCode::badInput:
        return 3;
    case ErrorCode::cannotTrace:
        return 4;
    case ErrorCode::runtimeFailed:
        return 5;
    case ErrorCode::cancelled:
        return 130;
    }
    return 5;
}

} // namespace workbench::cli
