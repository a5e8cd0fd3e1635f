# Imports the LibTorch wheel as bertft::libtorch: its CPU half, with BERTFT_CUDA all of it. The wheel's own CMake package is
# not used, since it stops where no CUDA toolkit is installed.
set(_torch "${BERTFT_LIBTORCH_DIR}/torch")
if(NOT EXISTS "${_torch}/lib/libtorch_cpu.so")
  message(FATAL_ERROR "LibTorch not found in ${BERTFT_LIBTORCH_DIR}: run scripts/setup.sh, or set BERTFT_LIBTORCH_DIR")
endif()
function(_read_torch_version folder result)
  file(STRINGS "${folder}/version.py" _line REGEX "^__version__ = ")
  string(REGEX REPLACE ".*'(.*)'.*" "\\1" _version "${_line}")
  set(${result} "${_version}" PARENT_SCOPE)
endfunction()
_read_torch_version("${_torch}" BERTFT_LIBTORCH_VERSION)

# Headers of a second copy of the same version: builds that differ in their libraries then share the compiler's cache.
set(_torch_headers "${_torch}")
if(EXISTS "${BERTFT_LIBTORCH_HEADERS_DIR}/torch/version.py")
  _read_torch_version("${BERTFT_LIBTORCH_HEADERS_DIR}/torch" _headers_version)
  if(_headers_version STREQUAL BERTFT_LIBTORCH_VERSION)
    set(_torch_headers "${BERTFT_LIBTORCH_HEADERS_DIR}/torch")
  endif()
endif()

file(GLOB _cuda_runtime_folders "${BERTFT_LIBTORCH_DIR}/nvidia/*/lib")
set(_torch_link_path "${_torch}/lib" ${_cuda_runtime_folders})

add_library(bertft_libtorch INTERFACE)
add_library(bertft::libtorch ALIAS bertft_libtorch)
# -idirafter: the wheel also ships fmt and protobuf headers, which must not shadow the installed ones.
target_compile_options(bertft_libtorch INTERFACE
    "SHELL:-idirafter ${_torch_headers}/include" "SHELL:-idirafter ${_torch_headers}/include/torch/csrc/api/include")
target_compile_definitions(bertft_libtorch INTERFACE AT_PARALLEL_OPENMP=1)
target_link_libraries(bertft_libtorch INTERFACE "${_torch}/lib/libtorch_cpu.so" "${_torch}/lib/libc10.so")
if(BERTFT_CUDA)
  # Nothing refers to the CUDA half by name: it registers its operations when it is loaded.
  target_link_libraries(bertft_libtorch INTERFACE
      "-Wl,--no-as-needed" "${_torch}/lib/libtorch_cuda.so" "${_torch}/lib/libc10_cuda.so" "-Wl,--as-needed")
endif()
foreach(_folder IN LISTS _torch_link_path)
  target_link_options(bertft_libtorch INTERFACE "-Wl,-rpath,${_folder}" "-Wl,-rpath-link,${_folder}")
endforeach()

# OpenMP as the compiler's own flag: the runtime is then found at run time by its name, which is that of the one beside
# LibTorch, and there is only one in the process.
add_library(bertft_openmp INTERFACE)
target_compile_options(bertft_openmp INTERFACE -fopenmp)
target_link_options(bertft_openmp INTERFACE -fopenmp)
