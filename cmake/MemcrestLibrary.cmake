# memcrest_library, memcrest_test, memcrest_test_support, memcrest_bench: one call per folder; tools/update_lists keeps the lists.

# memcrest_library(<folder> DEPS <folder>... [LINKS <target>...] [SOURCES <file>...])
#
# The static library memcrest_<folder> of src/<folder>: SOURCES (paths below the folder), and what memcrest_plugins(<folder> ...)
# calls before it added. DEPS are folders, all listed earlier in MEMCREST_FOLDERS. An INTERFACE library while there is no source.
function(memcrest_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS;LINKS")
  set(target memcrest_${folder})
  get_property(sources GLOBAL PROPERTY MEMCREST_PLUGIN_SOURCES_${folder})
  list(TRANSFORM arg_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/src/${folder}/" OUTPUT_VARIABLE listed)
  list(APPEND sources ${listed})
  list(TRANSFORM arg_DEPS PREPEND memcrest_)
  set(scope INTERFACE)
  if(sources)
    set(scope PUBLIC)
    add_library(${target} STATIC ${sources})
    target_link_libraries(${target} PRIVATE
        $<BUILD_INTERFACE:memcrest_warnings> $<BUILD_INTERFACE:memcrest_sanitizers>)
    memcrest_precompile(${target} lib)
  else()
    add_library(${target} INTERFACE)
  endif()
  add_library(memcrest::${folder} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${folder})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope}
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/memcrest>)
  target_link_libraries(${target} ${scope} ${arg_DEPS} ${arg_LINKS})
endfunction()

# memcrest_test(<folder> [LINKS <target>...] [SOURCES <file>...])
#
# The test binary <folder>_test of tests/<folder>; every TEST in it is a ctest of its own.
function(memcrest_test folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS")
  list(TRANSFORM arg_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/tests/${folder}/")
  if(NOT arg_SOURCES)
    return()
  endif()
  set(target ${folder}_test)
  add_executable(${target} ${arg_SOURCES})
  get_property(support GLOBAL PROPERTY MEMCREST_TEST_SUPPORT)
  target_link_libraries(${target} PRIVATE
      ${support} memcrest ${arg_LINKS} GTest::gmock_main memcrest_warnings memcrest_sanitizers)
  target_compile_definitions(${target} PRIVATE MEMCREST_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)  # as the precompiled header was made
  memcrest_precompile(${target} test)
  # ONNX and protobuf are not instrumented: their containers look overflown to the address sanitizer.
  gtest_discover_tests(${target} TEST_PREFIX "${folder}." DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
      PROPERTIES TIMEOUT 300 ENVIRONMENT "ASAN_OPTIONS=detect_container_overflow=0")
endfunction()

# memcrest_test_support(<name> FOLDER <path> DEPS <folder>... [LINKS <target>...] [SOURCES <file>...])
#
# The static library memcrest_<name> for tests only: not installed, not in memcrest::memcrest; every test links it. SOURCES are
# paths below FOLDER, itself a path below the source tree. It may use the test support made before it.
function(memcrest_test_support name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER" "SOURCES;DEPS;LINKS")
  list(TRANSFORM arg_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/${arg_FOLDER}/")
  if(NOT arg_SOURCES)
    return()
  endif()
  list(TRANSFORM arg_DEPS PREPEND memcrest_)
  add_library(memcrest_${name} STATIC ${arg_SOURCES})
  get_property(earlier GLOBAL PROPERTY MEMCREST_TEST_SUPPORT)
  target_link_libraries(memcrest_${name}
      PUBLIC ${earlier} ${arg_DEPS} ${arg_LINKS} PRIVATE memcrest_warnings memcrest_sanitizers)
  set_property(GLOBAL APPEND PROPERTY MEMCREST_TEST_SUPPORT memcrest_${name})
endfunction()

# memcrest_bench(<name> [SOURCES <file>...]): the benchmark binary <name>_bench of bench/<name>_bench.cc and SOURCES.
function(memcrest_bench name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES")
  if(NOT EXISTS "${PROJECT_SOURCE_DIR}/bench/${name}_bench.cc")
    return()
  endif()
  add_executable(${name}_bench "${PROJECT_SOURCE_DIR}/bench/${name}_bench.cc" ${arg_SOURCES})
  target_link_libraries(${name}_bench PRIVATE
      memcrest benchmark::benchmark_main memcrest_warnings memcrest_sanitizers)
endfunction()
