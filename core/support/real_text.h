#pragma once

#include <string>

namespace workbench {

/// The shortest decimal that reads back as `value`; of a double that came from an f32, the shortest that
/// reads back as that f32: 9.999999747378752e-06 is "1e-05".
std::string realText(double value);

} // namespace workbench
