# bertft_options: warnings (-Wrestrict is wrong about std::string in GCC 12) and sanitizers for every target; bertft_add_library: one static library per folder of src/.
add_library(bertft_options INTERFACE)
target_compile_options(bertft_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wno-restrict -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast>)
if(BERTFT_WERROR)
  target_compile_options(bertft_options INTERFACE -Werror)
endif()
if(BERTFT_SANITIZE)
  target_compile_options(bertft_options INTERFACE
      -fsanitize=${BERTFT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(bertft_options INTERFACE -fsanitize=${BERTFT_SANITIZE})
endif()

# bertft_add_library(folder SOURCES a.cpp ... LINKS target ...)
function(bertft_add_library folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_library(bertft_${folder} STATIC ${ARG_SOURCES})
  add_library(bertft::${folder} ALIAS bertft_${folder})
  target_include_directories(bertft_${folder} PUBLIC "${CMAKE_SOURCE_DIR}/src")
  target_link_libraries(bertft_${folder} PUBLIC ${ARG_LINKS} PRIVATE bertft_options)
endfunction()
