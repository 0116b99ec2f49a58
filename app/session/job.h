#pragma once

#include "core/support/cancel.h"
#include "core/support/result.h"

#include <functional>
#include <string>
#include <string_view>

namespace workbench {

/// What long work tells whoever started it, and how it is stopped. Callbacks come from the thread that does
/// the work.
struct Job {
    const CancelToken* cancel = nullptr;
    std::function<void(std::string_view stage, std::string_view detail)> progress;

    bool cancelled() const { return cancel && cancel->cancelled(); }
    void report(std::string_view stage, std::string_view detail = {}) const {
        if (progress)
            progress(stage, detail);
    }
};

inline Error cancelledError() {
    return {ErrorCode::cancelled, "interrupted", {}};
}

} // namespace workbench
