#include "core/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>

#include "core/error.h"

namespace bertft::log {
namespace {

Options g_options;   // set once by start(), before any thread
std::mutex g_mutex;  // guards what follows: threads of the communicator log beside the main thread
std::shared_ptr<spdlog::logger> g_file_logger;  // set once by add_file()
std::atomic<bool> g_progress_is_shown = false;  // any thread may log

void clear_progress() {
  if (g_progress_is_shown.exchange(false)) std::fputs("\r\033[K", stderr);
}

// A line that wraps could not be overwritten.
size_t terminal_columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

void emit(spdlog::level::level_enum level, const char* prefix, const std::string& message) {
  const std::string text = message.substr(0, message.find_last_not_of('\n') + 1);
  const std::scoped_lock lock(g_mutex);
  if (g_file_logger) g_file_logger->log(level, "{}", text);
  const bool is_hidden = g_options.is_quiet && level < spdlog::level::warn;
  if (g_options.rank != 0 || is_hidden) return;
  clear_progress();
  std::fprintf(stderr, "%s%s\n", prefix, text.c_str());
}

}  // namespace

void start(const Options& options) { g_options = options; }

void add_file(const std::string& path) {
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
    auto logger = std::make_shared<spdlog::logger>("file", std::move(sink));
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e %L %v");
    logger->flush_on(spdlog::level::info);
    const std::scoped_lock lock(g_mutex);
    g_file_logger = std::move(logger);
  } catch (const spdlog::spdlog_ex& failure) {
    throw ResourceError(std::string("cannot open the log file ") + path + ": " + failure.what());
  }
}

void info(const std::string& text) { emit(spdlog::level::info, "", text); }
void warn(const std::string& text) { emit(spdlog::level::warn, "warning: ", text); }
void warn_of_rank(const std::string& text) {
  warn(text);
  if (g_options.rank != 0) std::fprintf(stderr, "warning: rank %d: %s\n", g_options.rank, text.c_str());
}
void error_of_rank(const std::string& text) {
  error(text);
  if (g_options.rank != 0) std::fprintf(stderr, "error: rank %d: %s\n", g_options.rank, text.c_str());
}
void error(const std::string& text) { emit(spdlog::level::err, "error: ", text); }

void progress(const std::string& text) {
  if (!is_interactive()) return;
  const std::scoped_lock lock(g_mutex);
  std::fprintf(stderr, "\r\033[K%s", text.substr(0, terminal_columns() - 1).c_str());
  std::fflush(stderr);
  g_progress_is_shown = true;
}

bool is_interactive() { return g_options.rank == 0 && !g_options.is_quiet && ::isatty(STDERR_FILENO) == 1; }

}  // namespace bertft::log
