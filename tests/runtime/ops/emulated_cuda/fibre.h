// Several stacks in one thread of the host.
#pragma once

#include <cstddef>

#ifndef __x86_64__
#include <ucontext.h>
#endif

namespace workbench::emulated_cuda {

/// A stack that runs until it gives way to another one. Its memory is never given back: it may hold frames.
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
#ifdef __x86_64__
    void* m_registers = nullptr; // on its stack, while it does not run
#else
    ucontext_t m_registers{};
#endif
    const void* m_stack = nullptr; // of the host: known once it has been left
    size_t m_bytes = 0;
    [[maybe_unused]] void* m_fakeStack = nullptr; // AddressSanitizer's
};

} // namespace workbench::emulated_cuda
