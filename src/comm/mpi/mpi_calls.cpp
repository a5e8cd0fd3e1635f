#include "comm/mpi/mpi_calls.h"

#include <fmt/format.h>

#include <array>

#include "core/error.h"

namespace bertft::mpi {
namespace {

const char* level_name(int level) {
  if (level == MPI_THREAD_SINGLE) return "MPI_THREAD_SINGLE";
  if (level == MPI_THREAD_FUNNELED) return "MPI_THREAD_FUNNELED";
  return level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED" : "MPI_THREAD_MULTIPLE";
}

}  // namespace

void require(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw CommError(fmt::format("MPI: {} failed: {}", what, std::string(text.data(), static_cast<size_t>(length))));
}

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string version(text.data(), static_cast<size_t>(length));
  return version.substr(0, version.find_first_of(",\n"));
}

void require_thread_level(int provided, int needed, const std::string& who, const std::string& remedy) {
  if (provided >= needed) return;
  throw CommError(
      fmt::format("{} needs {}, and this MPI gives {}. {}", who, level_name(needed), level_name(provided), remedy));
}

}  // namespace bertft::mpi
