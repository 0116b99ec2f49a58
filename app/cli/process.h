#pragma once

#include "core/support/cancel.h"

namespace workbench::cli {

/// Before anything is opened: a standard stream that the caller closed is taken by /dev/null, so that no file
/// or pipe of ours gets its number and is written into. Output to it then fails as output to a closed stream
/// does.
void openStandardStreams();

/// The first SIGINT, SIGTERM, SIGHUP or SIGPIPE asks for an orderly end through the token: helpers are
/// killed, nothing half-written stays. A second interrupt does not wait. A file that grows past the user's
/// limit (SIGXFSZ) is a failed write. Once per process; `cancel` must outlive it.
void handleSignals(CancelToken& cancel);

/// Whether the reader of our output has gone away.
bool readerIsGone();
/// Ends the process as the signal would have, without a word: whoever reads no more wants no message.
[[noreturn]] void endByBrokenPipe();

} // namespace workbench::cli
