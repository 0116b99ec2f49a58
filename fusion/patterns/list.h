#pragma once

#include "fusion/match/pattern.h"

/// One function per pattern, each in the file of its name. list.cpp puts them in order, and defines what match/pattern.h declares
/// over all of them.

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
