#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace workbench {

/// What kind of failure an Error is; the command line maps each kind to one documented exit code.
enum class ErrorCode {
    requirementFailed, ///< a --require or a verification did not hold (exit 1)
    usage,             ///< the command line is wrong (exit 2)
    badInput,          ///< a file, model or plan cannot be used (exit 3)
    cannotTrace,       ///< the model cannot be traced (exit 4)
    runtimeFailed,     ///< the worker failed or died (exit 5)
    cancelled,         ///< the user cancelled (exit 130)
};

/// A failure as a value. `message` is one sentence: what, at which node or file, what to do.
struct Error {
    ErrorCode code = ErrorCode::badInput;
    std::string message;
    std::string where; ///< file, node or module path; empty when the message says it all
};

/// A value or an Error. `value()` on an Error is a broken invariant and aborts.
template <typename T>
class [[nodiscard]] Result {
public:
    Result(T value) : m_state(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : m_state(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return m_state.index() == 0; }
    explicit operator bool() const { return ok(); }

    const T& value() const& { return *checked(); }
    T& value() & { return *const_cast<T*>(checked()); }
    T&& value() && { return std::move(*const_cast<T*>(checked())); }
    const T* operator->() const { return checked(); }
    T* operator->() { return const_cast<T*>(checked()); }
    const T& operator*() const& { return *checked(); }
    T& operator*() & { return *const_cast<T*>(checked()); }

    const Error& error() const { return std::get<1>(m_state); }

private:
    const T* checked() const {
        const T* value = std::get_if<0>(&m_state);
        if (!value)
            __builtin_trap();
        return value;
    }

    std::variant<T, Error> m_state;
};

/// The value of an operation that only can fail.
struct Ok {};
using Status = Result<Ok>;

/// That of the first that has one; null where none has.
template <typename... T>
const Error* firstError(const Result<T>&... results) {
    const Error* first = nullptr;
    ((first = first || results ? first : &results.error()), ...);
    return first;
}

} // namespace workbench
