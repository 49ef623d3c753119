// Ctrl-C and its kin: whatever the command does, it ends at once; temporary files go, the exit code tells the signal.
//
// Why not ask the work to stop: reading, counting, compressing and drawing would each have to listen, and a write to a
// pipe that nobody reads cannot. Nothing needs to be undone: an output has no name until it is whole, or a temporary
// one.
#pragma once

namespace fathom::cli {

/// Takes over SIGINT, SIGTERM and SIGHUP for the rest of the process, and makes a closed pipe and a file grown too
/// large ordinary write errors.
/// Call once, before any other thread starts.
void watch_signals();

/// From here on a first signal waits for release_signals(), or for the end of the process; a second one does not. For
/// the moment in which several files get their names, and for what comes after the last of them. Nests.
/// @param left  what there then is, in words
void hold_signals(const char* left = "what was written is whole");
/// A signal that waited ends the process now.
void release_signals();
/// Whether a signal waits for that.
bool signal_waits();

}  // namespace fathom::cli
