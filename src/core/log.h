// The log of one process: console (rank 0 only) and, once the run folder exists, a file of its own.
// Neither spdlog nor fmt is included here, so that every layer can log; callers format with fmt in their .cpp.
#pragma once

#include <string>

namespace bertft::log {

struct Options {
  int rank = 0;           // only rank 0 writes to the console
  bool is_quiet = false;  // console shows warnings and errors only (commands that answer on stdout)
};

// Console lines go to stderr. Call once, before any thread starts; without it, messages of all levels go to stderr.
void start(const Options& options);

// Appends everything from now on to `path` as well. Throws ResourceError when it cannot be opened.
void add_file(const std::string& path);

void info(const std::string& text);
void warn(const std::string& text);
void error(const std::string& text);
// A warning that this rank gives for all: also on the console when it is another rank than 0, with its number.
void warn_of_rank(const std::string& text);
// An error of this rank alone: every rank writes it to the console, others than rank 0 with their number.
void error_of_rank(const std::string& text);

// A progress line: on a terminal it is overwritten by the next one; elsewhere nothing is written.
void progress(const std::string& text);

// True when stderr is a terminal and this rank writes to it.
bool is_interactive();

}  // namespace bertft::log
