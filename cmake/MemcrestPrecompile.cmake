# Precompiled headers: what most files include, parsed once per preset instead of once per file (half of the build's time).
#
# memcrest_precompile(<target> lib|test) makes a target use them. Files still include what they use: with MEMCREST_PRECOMPILE off
# nothing is included for them.
option(MEMCREST_PRECOMPILE "Precompile the standard, Abseil and GoogleTest headers" OFF)

set(memcrest_common_headers
    <algorithm> <cstdint> <functional> <map> <memory> <optional> <set> <string> <tuple> <utility> <variant> <vector>
    <absl/container/flat_hash_map.h> <absl/container/inlined_vector.h> <absl/status/statusor.h> <absl/strings/match.h>
    <absl/strings/numbers.h> <absl/strings/str_cat.h> <absl/strings/str_format.h> <absl/strings/str_join.h>
    <absl/strings/str_split.h> <absl/types/span.h>)

# GCC takes a precompiled header only under the flags it was made with: each kind is made by a target of the same flags.
function(memcrest_make_precompiled kind)
  set(target memcrest_precompiled_${kind})
  file(WRITE "${PROJECT_BINARY_DIR}/${target}.cc" "// Nothing: the target exists for its precompiled header.\n")
  add_library(${target} STATIC "${PROJECT_BINARY_DIR}/${target}.cc")
  target_link_libraries(${target} PRIVATE memcrest_warnings memcrest_sanitizers
      absl::flat_hash_map absl::inlined_vector absl::statusor absl::strings absl::str_format absl::span)
  if(kind STREQUAL "test")
    target_link_libraries(${target} PRIVATE GTest::gmock)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_precompile_headers(${target} PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
  endif()
  target_precompile_headers(${target} PRIVATE ${memcrest_common_headers})
endfunction()

function(memcrest_precompile target kind)
  if(MEMCREST_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM memcrest_precompiled_${kind})
  endif()
endfunction()

if(MEMCREST_PRECOMPILE)
  memcrest_make_precompiled(lib)
  if(MEMCREST_BUILD_TESTS)
    memcrest_make_precompiled(test)
  endif()
endif()
