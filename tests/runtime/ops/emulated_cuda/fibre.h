// Several stacks in one thread of the host.
#pragma once

#include <ucontext.h>

#include <csetjmp>
#include <cstddef>

namespace workbench::emulated_cuda {

/// A stack that runs until it gives way to another one. Never destroyed: it may hold frames.
class Fibre {
public:
    /// The stack that runs already.
    Fibre() = default;
    /// A new one, on which `body` begins at the first switch. `body` must not return.
    explicit Fibre(void (*body)());
    Fibre(const Fibre&) = delete;
    Fibre& operator=(const Fibre&) = delete;

    /// Called on this stack; returns when somebody switches back to it.
    void switchTo(Fibre& next);
    /// The first thing that `body` does, for the sake of AddressSanitizer. `host`: the stack that ran already
    /// and was the first to switch.
    static void begin(Fibre& host);

private:
    ucontext_t m_start{};
    jmp_buf m_state{};
    bool m_isNew = false;
    const void* m_stack = nullptr; // of the first Fibre: known once it has been left
    size_t m_bytes = 0;
    void* m_fakeStack = nullptr;
};

} // namespace workbench::emulated_cuda
