#pragma once

#include "fusion/match/pattern.h"

/// One function per pattern, each in the file of its name.

namespace workbench {

Pattern attention();
Pattern qkNormRope();
Pattern addRmsNorm();
Pattern qkv();
Pattern gateUp();
Pattern moe();
Pattern moeRouter();
Pattern rope();
Pattern rmsNorm();

} // namespace workbench
