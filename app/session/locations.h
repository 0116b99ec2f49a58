#pragma once

#include "core/support/result.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// Where the parts of the installation are.

namespace workbench {

struct Locations {
    std::filesystem::path executables; ///< folder of this program; workbench-worker is beside it
    std::filesystem::path resources;   ///< has python/ and schema/
    std::filesystem::path cache; ///< ${XDG_CACHE_HOME:-~/.cache}/fusion-workbench; may not exist yet. Without
                                 ///< a home: a folder of the user's own among the temporary files

    /// Beside the running executable (an installation: ../share/fusion-workbench), else the source tree it
    /// was built from.
    static Locations find();
};

/// $WORKBENCH_PYTHON, else the Python that was configured, else the newest environment that packaging made in
/// the cache. An error (cannotTrace) says to run `workbench setup`.
Result<std::filesystem::path> findPython(const Locations& locations);

/// The words of `--worker`, or the workbench-worker beside this program when that is empty.
Result<std::vector<std::string>> findWorker(const Locations& locations, std::string_view option);

} // namespace workbench
