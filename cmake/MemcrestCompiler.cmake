# Language level, output places, and the flags of our own targets (never global).
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
endif()

find_program(MEMCREST_CCACHE ccache)
if(MEMCREST_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache handles files with a precompiled header only when told that their defines and dates do not matter.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${MEMCREST_CCACHE}")
endif()

add_library(memcrest_warnings INTERFACE)
target_compile_options(memcrest_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
    -Wnon-virtual-dtor -Wold-style-cast -Wimplicit-fallthrough
    $<$<BOOL:${MEMCREST_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # Optimising, g++ 12 folds the destructors of two absl::InlinedVector types and then sees one too large for the other; under the
  # sanitizers it takes an empty InlinedVector's inline storage for uninitialised.
  target_compile_options(memcrest_warnings INTERFACE -Wno-array-bounds -Wno-maybe-uninitialized)
endif()

add_library(memcrest_sanitizers INTERFACE)
if(MEMCREST_SANITIZE)
  target_compile_options(memcrest_sanitizers INTERFACE
      -fsanitize=${MEMCREST_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(memcrest_sanitizers INTERFACE -fsanitize=${MEMCREST_SANITIZE})
endif()
