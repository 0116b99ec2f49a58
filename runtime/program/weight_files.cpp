#include "runtime/program/weight_files.h"

#include "core/archive/pt2_reader.h"
#include "core/archive/safetensors.h"
#include "runtime/program/scalar_types.h"

#include <ATen/ops/empty.h>

#include <cstring>

namespace workbench {

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
