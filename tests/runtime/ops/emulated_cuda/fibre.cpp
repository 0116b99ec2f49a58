#include "tests/runtime/ops/emulated_cuda/fibre.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

#ifdef __has_feature // Clang's name for it
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace workbench::emulated_cuda {
namespace {

constexpr size_t kStackBytes = 256 << 10;
constexpr size_t kGuardBytes = 64 << 10; // a multiple of any page; an overflow faults there

char* newStack() {
    void* memory = mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, kGuardBytes, PROT_NONE) != 0) {
        std::perror("emulated CUDA: no memory for the stack of a thread");
        std::abort();
    }
    return static_cast<char*>(memory) + kGuardBytes;
}

} // namespace

Fibre::Fibre(void (*body)()) : m_isNew(true), m_stack(newStack()), m_bytes(kStackBytes) {
    getcontext(&m_start);
    m_start.uc_stack.ss_sp = const_cast<void*>(m_stack);
    m_start.uc_stack.ss_size = m_bytes;
    m_start.uc_link = nullptr;
    makecontext(&m_start, body, 0);
}

// swapcontext() would do, but asks the kernel for the signal mask each time: twenty times slower.
void Fibre::switchTo(Fibre& next) {
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(&m_fakeStack, next.m_stack, next.m_bytes);
#endif
    if (_setjmp(m_state) == 0) {
        if (!next.m_isNew)
            _longjmp(next.m_state, 1);
        next.m_isNew = false;
        setcontext(&next.m_start);
    }
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(m_fakeStack, nullptr, nullptr);
#endif
}

void Fibre::begin([[maybe_unused]] Fibre& host) {
#ifdef __SANITIZE_ADDRESS__
    const void* stack = nullptr; // of who switched: the host, the first time
    size_t bytes = 0;
    __sanitizer_finish_switch_fiber(nullptr, &stack, &bytes);
    if (host.m_stack == nullptr) {
        host.m_stack = stack;
        host.m_bytes = bytes;
    }
#endif
}

} // namespace workbench::emulated_cuda
