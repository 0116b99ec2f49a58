#include "runtime/program/weight_files.h"

#include "core/archive/pt2_reader.h"
#include "core/archive/safetensors.h"
#include "runtime/ops/panel_memory.h"
#include "runtime/program/scalar_types.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace workbench {
namespace {

/// Rows are read and packed in pieces of about this size: they are still in the cache when they are packed.
constexpr std::int64_t kPieceBytes = 4 << 20;

} // namespace

Result<CheckpointFiles> CheckpointFiles::open(const std::filesystem::path& directory) {
    auto index = SafetensorsIndex::open(directory);
    if (!index)
        return index.error();
    CheckpointFiles files;
    files.m_index = std::make_shared<const SafetensorsIndex>(std::move(*index));
    return files;
}

bool CheckpointFiles::has(const std::string& tensor) const {
    return m_index->find(tensor) != nullptr;
}

Result<at::Tensor> CheckpointFiles::read(const std::string& name) const {
    const SafetensorsEntry& entry = *m_index->find(name);
    at::Tensor tensor = at::empty(entry.shape, toTorch(entry.dtype));
    if (tensor.nbytes() != entry.bytes)
        return Error{ErrorCode::badInput,
                     "The checkpoint holds " + std::to_string(entry.bytes) + " bytes for " + name +
                         ", not the " + std::to_string(tensor.nbytes()) + " of its shape.",
                     name};
    auto* data = static_cast<std::byte*>(tensor.mutable_data_ptr());
    if (auto done = m_index->read(name, {data, tensor.nbytes()}); !done)
        return done.error();
    return tensor;
}

bool CheckpointFiles::canReadPacked(const std::string& name, ops::WeightType type) const {
    const SafetensorsEntry* entry = m_index->find(name);
    if (!entry || entry->shape.size() != 2)
        return false;
    const at::ScalarType source = toTorch(entry->dtype);
    return type.format == ops::WeightFormat::stored ? source == type.dtype : ops::canQuantise(source);
}

Error cannotQuantise(const std::string& tensor) {
    return Error{ErrorCode::badInput,
                 tensor + " has values that are infinite, not a number or beyond 2^120, which cannot be "
                          "quantised: load the weights as they are (--weights stored).",
                 tensor};
}

Result<ops::PackedWeight> CheckpointFiles::readPacked(const std::string& name, ops::WeightType type) const {
    const SafetensorsEntry& entry = *m_index->find(name);
    const std::int64_t rows = entry.shape[0];
    const std::int64_t columns = entry.shape[1];
    const std::int64_t rowBytes = columns * static_cast<std::int64_t>(bytesPerElement(entry.dtype));
    const std::int64_t piece =
        std::max<std::int64_t>(1, kPieceBytes / std::max<std::int64_t>(1, rowBytes) / ops::kPanelRows) *
        ops::kPanelRows;
    auto panels =
        ops::PanelMemory::shared().allocate(static_cast<std::size_t>(ops::packedBytes(type, rows, columns)));
    std::vector<std::byte> plain(static_cast<std::size_t>(std::min(piece, rows) * rowBytes));
    for (std::int64_t row = 0; row < rows; row += piece) {
        const std::int64_t count = std::min(piece, rows - row);
        const std::span<std::byte> part(plain.data(), static_cast<std::size_t>(count * rowBytes));
        if (auto done = m_index->readRange(name, static_cast<std::uint64_t>(row * rowBytes), part); !done)
            return done.error();
        if (!ops::packRows(type, toTorch(entry.dtype), plain.data(), count, columns,
                           static_cast<std::byte*>(panels.get()) + ops::packedBytes(type, row, columns)))
            return cannotQuantise(name);
    }
    m_index->dropPages(name);
    return ops::PackedWeight(type, columns, {{std::move(panels), rows}});
}

Result<ArchiveFile> ArchiveFile::open(const std::filesystem::path& file) {
    auto archive = readPt2(file);
    if (!archive)
        return archive.error();
    ArchiveFile result;
    result.m_archive = std::make_shared<const Pt2Archive>(std::move(*archive));
    return result;
}

bool ArchiveFile::has(const std::string& name) const {
    return m_archive->tensors.contains(name);
}

Result<at::Tensor> ArchiveFile::read(const std::string& name) const {
    const StoredTensor& stored = m_archive->tensors.find(name)->second;
    auto bytes = m_archive->readTensor(name);
    if (!bytes)
        return bytes.error();
    at::Tensor tensor = at::empty(stored.sizes, toTorch(stored.dtype));
    if (tensor.nbytes() != bytes->size())
        return Error{ErrorCode::badInput,
                     "The archive holds " + std::to_string(bytes->size()) + " bytes for " + name + ", not " +
                         std::to_string(tensor.nbytes()) + ".",
                     name};
    if (!bytes->empty())
        std::memcpy(tensor.mutable_data_ptr(), bytes->data(), bytes->size());
    return tensor;
}

} // namespace workbench
