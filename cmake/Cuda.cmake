# With BERTFT_CUDA: the CUDA compiler and bertft_cuda_libraries, the CUDA runtime and NCCL. Both come from the packages that
# scripts/setup.sh --cuda unpacked, or from BERTFT_CUDA_ROOT and BERTFT_NCCL_ROOT. Run before any target is defined.
set(BERTFT_CUDA_ROOT "${CMAKE_SOURCE_DIR}/.deps/cuda/nvidia/cu13" CACHE PATH "CUDA toolkit 13: bin/nvcc, include, lib64")
set(BERTFT_NCCL_ROOT "${BERTFT_LIBTORCH_DIR}/nvidia/nccl" CACHE PATH "NCCL: include/nccl.h, lib/libnccl.so.2")
foreach(_needed IN ITEMS "${BERTFT_CUDA_ROOT}/bin/nvcc" "${BERTFT_NCCL_ROOT}/include/nccl.h"
        "${BERTFT_LIBTORCH_DIR}/torch/lib/libtorch_cuda.so")
  if(NOT EXISTS "${_needed}")
    message(FATAL_ERROR "BERTFT_CUDA is on, but there is no ${_needed}: run scripts/setup.sh --cuda")
  endif()
endforeach()
set(CMAKE_CUDA_COMPILER "${BERTFT_CUDA_ROOT}/bin/nvcc")
set(CMAKE_CUDA_ARCHITECTURES 80 90 CACHE STRING "Device architectures that kernels are compiled for")
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
enable_language(CUDA)
# CMake 3.25 does not know how nvcc 13 is told of C++20.
set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")

# The runtime is the one that LibTorch brings: two copies in one process would not see each other's devices.
add_library(bertft_cuda_libraries INTERFACE)
target_include_directories(bertft_cuda_libraries SYSTEM INTERFACE "${BERTFT_CUDA_ROOT}/include" "${BERTFT_NCCL_ROOT}/include")
target_link_libraries(bertft_cuda_libraries INTERFACE "${BERTFT_LIBTORCH_DIR}/nvidia/cu13/lib/libcudart.so.13"
                      "${BERTFT_NCCL_ROOT}/lib/libnccl.so.2")
