#include "runtime/ops/cpu/kernel_entries.h"

#define WORKBENCH_STRING_OF(NAME) #NAME
#define WORKBENCH_STRING(NAME) WORKBENCH_STRING_OF(NAME)

namespace workbench::ops::cpu::WORKBENCH_ISA {

const Kernels& table() {
    static constexpr Kernels kTable{WORKBENCH_STRING(WORKBENCH_ISA),
                                    WORKBENCH_KERNELS(WORKBENCH_KERNEL_ENTRY)
                                        WORKBENCH_CPU_KERNELS(WORKBENCH_KERNEL_ENTRY)};
    return kTable;
}

} // namespace workbench::ops::cpu::WORKBENCH_ISA
