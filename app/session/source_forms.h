#pragma once

#include "app/session/session.h"

#include <map>
#include <string>
#include <vector>

namespace workbench {

/// A module class whose forward the applied sites rewrite.
struct SourceForm {
    std::string className;
    std::string file; ///< relative to its package: "transformers/models/llama/modeling_llama.py"
    std::int64_t line = 0;
    std::vector<std::string> patterns;
    std::vector<std::string> instances; ///< paths of the modules that run it
    std::string diff;                   ///< unified, with notes on what must be bound
    std::string python;                 ///< the new forward as a file of its own
};

struct SourceForms {
    std::vector<SourceForm> classes;
    std::map<std::string, std::size_t, std::less<>> formOfSite; ///< by site id: index into classes
    std::map<std::string, std::string, std::less<>> reasons; ///< by site id: why it has none, or only a part
};

/// What exportSource() writes, in memory. Builds the model's modules in Python: seconds.
Result<SourceForms> sourceForms(Session& session, const Job& job);
/// What is in a folder that exportSource() wrote.
Result<SourceForms> readSourceForms(const std::filesystem::path& folder);

} // namespace workbench
