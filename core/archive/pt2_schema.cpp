#include "core/archive/pt2_schema.h"

#include <algorithm>
#include <array>

namespace workbench::pt2 {
namespace {

struct DtypeRow {
    std::int64_t code;
    ScalarType type;
};
constexpr std::array<DtypeRow, 12> kDtypes{{{1, ScalarType::u8},
                                            {2, ScalarType::i8},
                                            {3, ScalarType::i16},
                                            {4, ScalarType::i32},
                                            {5, ScalarType::i64},
                                            {6, ScalarType::f16},
                                            {7, ScalarType::f32},
                                            {8, ScalarType::f64},
                                            {12, ScalarType::boolean},
                                            {13, ScalarType::bf16},
                                            {29, ScalarType::f8e4m3},
                                            {30, ScalarType::f8e5m2}}};

struct NameRow {
    std::int64_t code;
    std::string_view name;
};
constexpr std::array<NameRow, 7> kOtherDtypes{{{9, "complex32"},
                                               {10, "complex64"},
                                               {11, "complex128"},
                                               {28, "uint16"},
                                               {31, "float8_e4m3fnuz"},
                                               {32, "float8_e5m2fnuz"},
                                               {0, "an unknown type"}}};
constexpr std::array<NameRow, 7> kLayouts{{{1, "sparse_coo"},
                                           {2, "sparse_csr"},
                                           {3, "sparse_csc"},
                                           {4, "sparse_bsr"},
                                           {5, "sparse_bsc"},
                                           {6, "_mkldnn"},
                                           {7, "strided"}}};
constexpr std::array<NameRow, 4> kMemoryFormats{
    {{1, "contiguous_format"}, {2, "channels_last"}, {3, "channels_last_3d"}, {4, "preserve_format"}}};

template <std::size_t Count>
std::optional<std::string_view> nameOf(const std::array<NameRow, Count>& rows, std::int64_t code) {
    for (const NameRow& row : rows)
        if (row.code == code)
            return row.name;
    return std::nullopt;
}

template <std::size_t Count>
std::optional<std::int64_t> codeOf(const std::array<NameRow, Count>& rows, std::string_view name) {
    for (const NameRow& row : rows)
        if (row.name == name)
            return row.code;
    return std::nullopt;
}

constexpr std::string_view kOpsPrefix = "torch.ops.";
constexpr std::string_view kOwnPrefix = "workbench.";
constexpr std::string_view kDefault = ".default";

bool isOpWord(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
}

/// "add_" of "aten.add_.Tensor".
std::string_view plainName(std::string_view op) {
    const std::size_t first = op.find('.');
    if (first == std::string_view::npos)
        return {};
    const std::size_t second = op.find('.', first + 1);
    return op.substr(first + 1, second == std::string_view::npos ? second : second - first - 1);
}

} // namespace

std::optional<ScalarType> scalarType(std::int64_t code) {
    for (const DtypeRow& row : kDtypes)
        if (row.code == code)
            return row.type;
    return std::nullopt;
}

std::int64_t code(ScalarType type) {
    for (const DtypeRow& row : kDtypes)
        if (row.type == type)
            return row.code;
    __builtin_trap();
}

std::string scalarTypeText(std::int64_t code) {
    if (const auto known = scalarType(code))
        return std::string(torchName(*known));
    const auto other = nameOf(kOtherDtypes, code);
    return other ? std::string(*other) : "type code " + std::to_string(code);
}

std::optional<std::string_view> layoutName(std::int64_t code) {
    return nameOf(kLayouts, code);
}
std::optional<std::int64_t> layoutCode(std::string_view name) {
    return codeOf(kLayouts, name);
}
std::optional<std::string_view> memoryFormatName(std::int64_t code) {
    return nameOf(kMemoryFormats, code);
}
std::optional<std::int64_t> memoryFormatCode(std::string_view name) {
    return codeOf(kMemoryFormats, name);
}

std::optional<std::string> opFromTarget(std::string_view target) {
    if (target.substr(0, kOpsPrefix.size()) != kOpsPrefix)
        return std::nullopt;
    const std::string_view op = target.substr(kOpsPrefix.size());
    const std::size_t first = op.find('.');
    const std::size_t second = first == std::string_view::npos ? first : op.find('.', first + 1);
    if (second == std::string_view::npos || !isOpWord(op.substr(0, first)) ||
        !isOpWord(op.substr(first + 1, second - first - 1)) || !isOpWord(op.substr(second + 1)))
        return std::nullopt;
    if (op.substr(0, kOwnPrefix.size()) == kOwnPrefix && op.substr(second) == kDefault)
        return std::string(op.substr(0, second));
    return std::string(op);
}

std::string targetFromOp(std::string_view op) {
    const bool isOwn =
        op.substr(0, kOwnPrefix.size()) == kOwnPrefix && std::count(op.begin(), op.end(), '.') == 1;
    return std::string(kOpsPrefix) + std::string(op) + std::string(isOwn ? kDefault : "");
}

bool returnsList(std::string_view op) {
    constexpr std::array<std::string_view, 19> kLists{"split",
                                                      "split_with_sizes",
                                                      "chunk",
                                                      "unbind",
                                                      "tensor_split",
                                                      "hsplit",
                                                      "vsplit",
                                                      "dsplit",
                                                      "unsafe_split",
                                                      "unsafe_chunk",
                                                      "meshgrid",
                                                      "split_copy",
                                                      "unbind_copy",
                                                      "split_with_sizes_copy",
                                                      "unsafe_split_with_sizes",
                                                      "broadcast_tensors",
                                                      "atleast_1d",
                                                      "atleast_2d",
                                                      "atleast_3d"};
    return std::find(kLists.begin(), kLists.end(), plainName(op)) != kLists.end();
}

} // namespace workbench::pt2
