// Random tensors, dtypes and devices, and comparison with plain references computed in double precision.
#pragma once

#include "runtime/ops/kernels.h"

#include <ATen/core/Tensor.h>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace workbench::ops::testing {

/// What every operator test is repeated for.
struct Where {
    at::ScalarType dtype;
    at::DeviceType device;
};
std::string whereName(const ::testing::TestParamInfo<Where>& info);

/// CUDA's kernels on emulated threads, where the program is made of these (emulated_cuda/); else null. All of
/// its tests then run them, on tensors in the CPU's memory.
const Kernels* emulatedCudaKernels();

/// All dtypes on the CPU and, when the library was built for CUDA, on the GPU.
std::vector<Where> allPlaces();

class OpTest : public ::testing::TestWithParam<Where> {
protected:
    /// Skips CUDA cases on a machine without a GPU.
    void SetUp() override;
    at::Tensor random(at::IntArrayRef shape, double scale = 1);
    at::Tensor random(std::initializer_list<int64_t> shape, double scale = 1) {
        return random(at::IntArrayRef(shape.begin(), shape.size()), scale);
    }
    at::ScalarType dtype() const { return GetParam().dtype; }
    /// Those that the operators take.
    const Kernels& kernels() const;
    /// Not CUDA's, real or emulated.
    bool runsCpuKernels() const;
    /// Whether to try the next case of a sweep. Emulated kernels are slow: each dtype takes a fourth of the
    /// cases, and the four together all.
    bool takesNextCase();
    /// x after a round trip through the test's dtype.
    double rounded(double x) const;

private:
    uint64_t m_seed = 0;
    int m_cases = 0;
};

/// The elements in row-major order.
std::vector<double> toDoubles(const at::Tensor& tensor);

/// Every element within `ulps` last places of the dtype. float32 and float64: places of the largest element
/// or of 1, since sums are kept in the same type. 16-bit dtypes: places of the element itself (or of a
/// thousandth of the largest), and at most 3 % of the elements and two more differ at all, since sums are
/// kept in float32: a rounding at the wrong place changes far more.
void expectClose(const at::Tensor& actual, const std::vector<double>& expected, double ulps = 4);

/// For sums over many keys that the two add up in another order: more places in float32 and float64; 16-bit
/// results, whose sums are kept in float32, still differ by one rounding at most.
void expectCloseSums(const at::Tensor& actual, const at::Tensor& expected);

/// Equal bits.
void expectEqual(const at::Tensor& actual, const std::vector<double>& expected);

/// The call throws c10::Error whose sentence contains `part`.
void expectRefused(const std::function<void()>& call, const std::string& part);

/// A view with the same values whose last dimension is not contiguous in memory.
at::Tensor stridedCopy(const at::Tensor& tensor);

/// A view with the same values, cut out of a wider tensor as a slice of a merged projection is.
at::Tensor slicedCopy(const at::Tensor& tensor);

} // namespace workbench::ops::testing
