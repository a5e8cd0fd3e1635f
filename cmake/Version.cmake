# Writes the version and the git commit into a header that core/version.cpp alone includes.
execute_process(COMMAND git -C "${CMAKE_SOURCE_DIR}" rev-parse --short=12 HEAD
                OUTPUT_VARIABLE BERTFT_GIT_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT BERTFT_GIT_COMMIT)
  set(BERTFT_GIT_COMMIT "unknown")
endif()
configure_file("${CMAKE_SOURCE_DIR}/cmake/build_info.h.in" "${CMAKE_BINARY_DIR}/generated/build_info.h")
