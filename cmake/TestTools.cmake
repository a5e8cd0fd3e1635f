# bertft_add_unit_tests(folder SOURCES a_test.cpp ... LINKS target ...): one executable unit_<folder>, one ctest per case.
# A case that cannot run prints "SKIPPED: reason"; ctest then reports it as skipped. Cases run on one thread unless they
# ask for more: tiny tensors on several spinning threads take 70 times as long when other jobs share the cores.
function(bertft_add_unit_tests folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(unit_${folder} ${ARG_SOURCES})
  target_link_libraries(unit_${folder} PRIVATE ${ARG_LINKS} bertft_test_support bertft_options)
  catch_discover_tests(unit_${folder} TEST_PREFIX "${folder}: " WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
      PROPERTIES LABELS unit TIMEOUT 300 ENVIRONMENT OMP_NUM_THREADS=1 SKIP_REGULAR_EXPRESSION "SKIPPED: ")
endfunction()
