#include "runtime/program/scalar_types.h"

#include <array>
#include <utility>

namespace workbench {
namespace {

constexpr std::array<std::pair<ScalarType, at::ScalarType>, 12> kTypes{{
    {ScalarType::f64, at::ScalarType::Double},
    {ScalarType::f32, at::ScalarType::Float},
    {ScalarType::f16, at::ScalarType::Half},
    {ScalarType::bf16, at::ScalarType::BFloat16},
    {ScalarType::f8e4m3, at::ScalarType::Float8_e4m3fn},
    {ScalarType::f8e5m2, at::ScalarType::Float8_e5m2},
    {ScalarType::i64, at::ScalarType::Long},
    {ScalarType::i32, at::ScalarType::Int},
    {ScalarType::i16, at::ScalarType::Short},
    {ScalarType::i8, at::ScalarType::Char},
    {ScalarType::u8, at::ScalarType::Byte},
    {ScalarType::boolean, at::ScalarType::Bool},
}};

} // namespace

at::ScalarType toTorch(ScalarType type) {
    for (const auto& [ours, torch] : kTypes)
        if (ours == type)
            return torch;
    __builtin_trap(); // an enumerator is missing in the table
}

void widen(const c10::BFloat16* from, std::int64_t elements, float* to) {
    for (std::int64_t i = 0; i < elements; ++i)
        to[i] = from[i];
}

} // namespace workbench
