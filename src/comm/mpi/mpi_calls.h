// What every call of MPI here goes through: errors as exceptions with the library's own text. Private to this folder:
// it knows MPI's types.
#pragma once

#include <mpi.h>

#include <string>

namespace bertft::mpi {

// Throws CommError("MPI: <what> failed: ...") unless `code` is MPI_SUCCESS.
void require(int code, const char* what);

// "Open MPI v4.1.4"; may be asked before MPI is started.
std::string library_version();

// Throws CommError when MPI allows less than `needed` (MPI_THREAD_FUNNELED, ...); `who` needs it, `remedy` is a
// sentence.
void require_thread_level(int provided, int needed, const std::string& who, const std::string& remedy);

}  // namespace bertft::mpi
