#pragma once

#include "app/session/session.h"

#include <string>
#include <vector>

namespace workbench::test {

/// A model of norms in a row, one module each, that only the fake worker can run: it gives numbers and speed
/// by which norms are fused. "a" to "d" make it faster, "slow" makes it slower, "wrong" makes it wrong, and
/// so do "c" and "d" together.
Session normSession(const std::vector<std::string>& norms);
/// The same with every norm fused.
Session fusedNormSession(const std::vector<std::string>& norms);

} // namespace workbench::test
