# Writes version and git commit into a header that core/version.cpp alone includes. Run at every build, since the commit
# changes without a new configuration; the header is touched only when its content changes.
if(CMAKE_SCRIPT_MODE_FILE)
  execute_process(COMMAND git -C "${SOURCE_DIR}" rev-parse --short=12 HEAD
                  OUTPUT_VARIABLE BERTFT_GIT_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT BERTFT_GIT_COMMIT)
    set(BERTFT_GIT_COMMIT "unknown")
  endif()
  configure_file("${SOURCE_DIR}/cmake/build_info.h.in" "${OUTPUT}" @ONLY)
else()
  add_custom_target(bertft_build_info
      COMMAND "${CMAKE_COMMAND}" -DSOURCE_DIR=${CMAKE_SOURCE_DIR} -DOUTPUT=${CMAKE_BINARY_DIR}/generated/build_info.h
              -DPROJECT_VERSION=${PROJECT_VERSION} -DBERTFT_LIBTORCH_VERSION=${BERTFT_LIBTORCH_VERSION}
              -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE} -P "${CMAKE_SOURCE_DIR}/cmake/Version.cmake"
      BYPRODUCTS "${CMAKE_BINARY_DIR}/generated/build_info.h")
endif()
