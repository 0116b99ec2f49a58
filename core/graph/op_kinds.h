#pragma once

#include <string_view>

/// What torch's names tell of an op ("aten.add_.Tensor"), whichever graph it stands in.

namespace workbench {

/// Checks of a trace that compute nothing.
bool isAssertion(std::string_view op);
/// Writes into an argument: a trailing underscore ("aten.add_.Tensor"), Python's operators in place
/// ("aten.__iand__.Tensor"; "aten.__and__.Tensor" is pure), or an overload that is given its output
/// ("aten.add.out", "aten.pow.Scalar_out").
bool isMutation(std::string_view op);

} // namespace workbench
