#include "runtime/program/torch_edge.h"

#include <c10/util/Exception.h>

#include <new>
#include <string_view>

namespace workbench {
namespace {

std::string firstLine(std::string_view text) {
    std::string line(text.substr(0, text.find('\n')));
    while (!line.empty() && (line.back() == ' ' || line.back() == '.'))
        line.pop_back();
    return line;
}

/// LibTorch reports an exhausted memory of the CPU as a plain failed check of its allocator.
bool isOutOfMemory(std::string_view message) {
    return message.find("DefaultCPUAllocator") != std::string_view::npos ||
           message.find("out of memory") != std::string_view::npos;
}

Error failed(const std::string& what, const std::string& detail) {
    return Error{ErrorCode::runtimeFailed, what + " failed: " + detail + ".", {}};
}

Error outOfMemory(const std::string& what) {
    return Error{ErrorCode::runtimeFailed,
                 what + " failed: there is not enough memory; use fewer tokens, a smaller dtype or a machine "
                        "with more memory.",
                 {}};
}

} // namespace

Error describeException(const std::exception_ptr& exception, const std::string& what) {
    try {
        std::rethrow_exception(exception);
    } catch (const std::bad_alloc&) {
        return outOfMemory(what);
    } catch (const c10::Error& error) {
        const std::string detail = firstLine(error.what_without_backtrace());
        return isOutOfMemory(detail) ? outOfMemory(what) : failed(what, detail);
    } catch (const std::exception& error) {
        return failed(what, firstLine(error.what()));
    } catch (...) {
        return failed(what, "an exception of unknown type was thrown");
    }
}

} // namespace workbench
