# bertft_protobuf: the static library, with its symbols kept out of what the executable exports.
get_filename_component(_protobuf_folder "${Protobuf_LIBRARY}" DIRECTORY)
if(NOT EXISTS "${_protobuf_folder}/libprotobuf.a")
  message(FATAL_ERROR "libprotobuf.a not found in ${_protobuf_folder}: run scripts/setup.sh")
endif()
add_library(bertft_protobuf INTERFACE)
target_include_directories(bertft_protobuf INTERFACE ${Protobuf_INCLUDE_DIRS})
target_link_options(bertft_protobuf INTERFACE "-Wl,--exclude-libs,libprotobuf.a")
target_link_libraries(bertft_protobuf INTERFACE "${_protobuf_folder}/libprotobuf.a" Threads::Threads)
