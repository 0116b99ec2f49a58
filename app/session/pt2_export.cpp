#include "app/session/pt2_export.h"

namespace workbench {

Status exportPt2(Session&, const std::filesystem::path& file, const Job&) {
    return Error{ErrorCode::badInput, "no writer yet", file.string()};
}

} // namespace workbench
