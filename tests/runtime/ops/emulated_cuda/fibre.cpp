#include "tests/runtime/ops/emulated_cuda/fibre.h"

#include <sys/mman.h>

#include <cstdint>
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

#ifdef __x86_64__
/// Puts the registers that a call keeps (System V ABI) on this stack, and its end into `from`; goes on with
/// those on the stack `to`. swapcontext() does the same and asks the kernel for the signal mask each time;
/// AddressSanitizer makes longjmp() slow.
extern "C" void emulatedCudaSwitch(void** from, void* to);
asm(R"(
    .pushsection .text
    .type emulatedCudaSwitch, @function
emulatedCudaSwitch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size emulatedCudaSwitch, . - emulatedCudaSwitch
    .popsection
)");
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

#ifdef __x86_64__
Fibre::Fibre(void (*body)()) : m_stack(newStack()), m_bytes(kStackBytes) {
    // What emulatedCudaSwitch takes off: six registers and where to return to. Above it the place of the
    // caller's address, which `body` has not, so that the stack is aligned as at any function's begin.
    auto* end = reinterpret_cast<uintptr_t*>(static_cast<char*>(const_cast<void*>(m_stack)) + m_bytes);
    end[-2] = reinterpret_cast<uintptr_t>(body);
    m_registers = end - 8;
}
#else
Fibre::Fibre(void (*body)()) : m_stack(newStack()), m_bytes(kStackBytes) {
    getcontext(&m_registers);
    m_registers.uc_stack.ss_sp = const_cast<void*>(m_stack);
    m_registers.uc_stack.ss_size = m_bytes;
    m_registers.uc_link = nullptr;
    makecontext(&m_registers, body, 0);
}
#endif

void Fibre::switchTo(Fibre& next) {
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(&m_fakeStack, next.m_stack, next.m_bytes);
#endif
#ifdef __x86_64__
    emulatedCudaSwitch(&m_registers, next.m_registers);
#else
    swapcontext(&m_registers, &next.m_registers);
#endif
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
