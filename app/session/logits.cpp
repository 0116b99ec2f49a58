#include "app/session/logits.h"

#include "app/session/verify_steps.h"
#include "core/support/atomic_file.h"

#include <numeric>

namespace workbench {
namespace {

/// safetensors: u64 LE bytes of header, a JSON header padded with blanks to 8 bytes, the data.
std::string header(std::int64_t rows, std::int64_t vocabulary) {
    const std::int64_t bytes = rows * vocabulary * static_cast<std::int64_t>(sizeof(float));
    nlohmann::ordered_json json;
    std::int64_t start = 0;
    for (const char* name : {kOriginal, kRewritten}) {
        json[name] = {
            {"dtype", "F32"}, {"shape", {rows, vocabulary}}, {"data_offsets", {start, start + bytes}}};
        start += bytes;
    }
    std::string text = json.dump();
    text.append((8 - text.size() % 8) % 8, ' ');
    std::string prefix;
    for (int shift = 0; shift < 64; shift += 8)
        prefix += static_cast<char>(static_cast<std::uint64_t>(text.size()) >> shift & 0xff);
    return prefix + text;
}

} // namespace

Status dumpLogits(Runtime& runtime, const TokenInput& input, const std::filesystem::path& file,
                  const Job& job) {
    std::vector<std::int64_t> rows(input.tokens.size());
    std::iota(rows.begin(), rows.end(), 0);
    auto created = AtomicFile::create(file);
    if (!created)
        return created.error();
    std::int64_t vocabulary = 0;
    for (const char* program : {kOriginal, kRewritten}) {
        // One program at a time: its logits can be gigabytes.
        auto logits = runLogits(runtime, program, input.tokens, input.positions, rows, job);
        if (!logits)
            return logits.error();
        if (vocabulary == 0) {
            vocabulary = logits->vocabulary;
            if (auto written = created->write(header(logits->rows, vocabulary)); !written)
                return written;
        }
        if (logits->vocabulary != vocabulary)
            return Error{ErrorCode::runtimeFailed, "the programs give logits of different sizes", program};
        const std::string_view bytes(reinterpret_cast<const char*>(logits->bytes.data()),
                                     logits->bytes.size());
        if (auto written = created->write(bytes); !written)
            return written;
    }
    return created->commit();
}

} // namespace workbench
