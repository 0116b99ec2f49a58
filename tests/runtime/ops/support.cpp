#include "tests/runtime/ops/support.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cmath>

namespace workbench::ops::testing {
namespace {

double lastPlace(at::ScalarType dtype) {
    switch (dtype) {
    case at::kDouble:
        return std::ldexp(1.0, -52);
    case at::kFloat:
        return std::ldexp(1.0, -23);
    case at::kHalf:
        return std::ldexp(1.0, -10);
    default:
        return std::ldexp(1.0, -7);
    }
}

} // namespace

std::string whereName(const ::testing::TestParamInfo<Where>& info) {
    const char* kernels = info.param.device == at::kCUDA     ? "OnCuda"
                          : emulatedCudaKernels() == nullptr ? ""
                                                             : "OnEmulatedCuda";
    return c10::toString(info.param.dtype) + std::string(kernels);
}

/// A program with emulated kernels has a definition of its own, which goes first.
[[gnu::weak]] const Kernels* emulatedCudaKernels() {
    return nullptr;
}

std::vector<Where> allPlaces() {
    std::vector<Where> places;
    for (const at::DeviceType device : {at::kCPU, at::kCUDA}) {
        if (device == at::kCUDA && (cudaKernels() == nullptr || emulatedCudaKernels() != nullptr))
            continue;
        for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble})
            places.push_back({dtype, device});
    }
    return places;
}

void OpTest::SetUp() {
    if (GetParam().device == at::kCUDA && !at::hasCUDA())
        GTEST_SKIP() << "no GPU on this machine";
}

at::Tensor OpTest::random(at::IntArrayRef shape, double scale) {
    const at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(++m_seed);
    const at::Tensor values = at::randn(shape, generator, at::TensorOptions().dtype(at::kDouble)) * scale;
    return values.to(at::TensorOptions().dtype(dtype()).device(GetParam().device));
}

const Kernels& OpTest::kernels() const {
    if (emulatedCudaKernels() != nullptr)
        return *emulatedCudaKernels();
    return GetParam().device == at::kCPU ? cpuKernels() : *cudaKernels();
}

bool OpTest::runsCpuKernels() const {
    return &kernels() == &cpuKernels();
}

bool OpTest::takesNextCase() {
    if (emulatedCudaKernels() == nullptr)
        return true;
    int place = 0; // the sum of the digits to the base 4: no inner loop keeps step with it
    for (int rest = m_cases++; rest > 0; rest /= 4)
        place += rest % 4;
    return allPlaces()[static_cast<size_t>(place % 4)].dtype == dtype();
}

double OpTest::rounded(double x) const {
    switch (dtype()) {
    case at::kDouble:
        return x;
    case at::kFloat:
        return static_cast<float>(x);
    case at::kHalf:
        return static_cast<float>(c10::Half(static_cast<float>(x)));
    default:
        return static_cast<float>(c10::BFloat16(static_cast<float>(x)));
    }
}

std::vector<double> toDoubles(const at::Tensor& tensor) {
    const at::Tensor values = tensor.to(at::kCPU).to(at::kDouble).contiguous();
    const auto* data = values.const_data_ptr<double>();
    return {data, data + values.numel()};
}

void expectClose(const at::Tensor& actual, const std::vector<double>& expected, double ulps) {
    const std::vector<double> values = toDoubles(actual);
    ASSERT_EQ(values.size(), expected.size());
    double largest = 0;
    for (const double value : expected)
        largest = std::max(largest, std::abs(value));
    const double unit = lastPlace(actual.scalar_type());
    const bool narrow = actual.element_size() == 2;
    size_t different = 0;
    for (size_t i = 0; i < values.size(); ++i) {
        const double size = std::max(std::abs(expected[i]), narrow ? 1e-3 * largest : std::max(largest, 1.0));
        ASSERT_LE(std::abs(values[i] - expected[i]), ulps * unit * size)
            << "element " << i << ": " << values[i] << ", expected " << expected[i];
        different += values[i] != expected[i];
    }
    const size_t allowed = narrow ? 2 + values.size() * 3 / 100 : values.size();
    EXPECT_LE(different, allowed);
}

void expectCloseSums(const at::Tensor& actual, const at::Tensor& expected) {
    const double ulps = actual.scalar_type() == at::kFloat    ? 200
                        : actual.scalar_type() == at::kDouble ? 1e5
                                                              : 1.01;
    expectClose(actual, toDoubles(expected), ulps);
}

void expectEqual(const at::Tensor& actual, const std::vector<double>& expected) {
    const std::vector<double> values = toDoubles(actual);
    ASSERT_EQ(values.size(), expected.size());
    for (size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(values[i], expected[i]) << "element " << i;
}

void expectRefused(const std::function<void()>& call, const std::string& part) {
    try {
        call();
    } catch (const c10::Error& error) {
        EXPECT_NE(std::string(error.what_without_backtrace()).find(part), std::string::npos)
            << error.what_without_backtrace();
        return;
    }
    ADD_FAILURE() << "not refused: " << part;
}

at::Tensor stridedCopy(const at::Tensor& tensor) {
    return tensor.transpose(-1, 0).contiguous().transpose(-1, 0);
}

at::Tensor slicedCopy(const at::Tensor& tensor) {
    const int64_t width = tensor.size(-1);
    const at::Tensor wide = at::cat({at::full_like(tensor, 7), tensor, at::full_like(tensor, 9)}, -1);
    return wide.narrow(-1, width, width);
}

} // namespace workbench::ops::testing
