// From a dtype to a template argument, for CPU and CUDA kernels.
#pragma once

#include <c10/core/ScalarType.h>

/// Runs the statement with T as the C++ type of DTYPE, which has been checked to be one of the four.
#define WORKBENCH_DISPATCH(DTYPE, ...)                                                                       \
    switch (DTYPE) {                                                                                         \
    case c10::ScalarType::Float: {                                                                           \
        using T = float;                                                                                     \
        __VA_ARGS__;                                                                                         \
        break;                                                                                               \
    }                                                                                                        \
    case c10::ScalarType::BFloat16: {                                                                        \
        using T = c10::BFloat16;                                                                             \
        __VA_ARGS__;                                                                                         \
        break;                                                                                               \
    }                                                                                                        \
    case c10::ScalarType::Half: {                                                                            \
        using T = c10::Half;                                                                                 \
        __VA_ARGS__;                                                                                         \
        break;                                                                                               \
    }                                                                                                        \
    default: {                                                                                               \
        using T = double;                                                                                    \
        __VA_ARGS__;                                                                                         \
        break;                                                                                               \
    }                                                                                                        \
    }
