#pragma once

#include "core/support/result.h"

#include <exception>
#include <string>
#include <type_traits>

/// The one place where LibTorch's exceptions become Errors.

namespace workbench {

/// What `exception` says, as one sentence without a stack trace; `what` is put in front ("Loading
/// model.norm.weight").
Error describeException(const std::exception_ptr& exception, const std::string& what);

/// The result of `work`, or the exception that it threw as an Error. `work` returns a Result or Status.
template <typename Work>
auto guarded(const std::string& what, Work&& work) -> std::invoke_result_t<Work> {
    try {
        return work();
    } catch (...) {
        return describeException(std::current_exception(), what);
    }
}

} // namespace workbench
