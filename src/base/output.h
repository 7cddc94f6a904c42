#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace synthesizer {

// All that the program writes for whoever started it. Standard output is a result: it arrives whole, or the
// program ends with an error. Standard error is for people: where it cannot be written, nobody reads it, and
// the work goes on. One thread at a time writes to standard output.
//
// Nothing else may write there: fmt::print writes into the buffer of a FILE itself, and beyond its end once
// a write has failed (fmt 12, the version in LibTorch).

/// Thrown where standard output cannot be written: disk full, closed pipe. The message says why.
struct OutputFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Adds to what goes to standard output. Throws OutputFailed.
void write_output(std::string_view text);
/// Writes what was added. Throws OutputFailed; what could not be written is dropped.
void flush_output();
/// The same at the end of the program: closes standard output, as some file systems report a full disk only
/// then. Nothing can be written afterwards.
void finish_output();

/// Progress and remarks, on standard error; nothing where be_quiet() was called. Never fails.
void write_note(std::string_view text) noexcept;
/// Errors, on standard error. Never fails.
void write_error(std::string_view text) noexcept;

/// No progress and no remarks from now on (--quiet).
void be_quiet();
bool quiet();

/// For the start of a program. A closed pipe becomes an error of the write (see above) instead of a signal
/// that ends the program. Standard descriptors that are closed stay unusable: a file that is opened later
/// must not get the number of one of them, and with it what is written for people.
void prepare_output();

}  // namespace synthesizer
