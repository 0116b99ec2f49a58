#pragma once

#include <string>

namespace workbench {

/// With so many digits behind the point: fixed(12.345, 1) is "12.3".
std::string fixed(double value, int digits);

} // namespace workbench
