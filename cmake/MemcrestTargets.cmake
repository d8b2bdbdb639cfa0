# The whole library (memcrest::memcrest) and the program.
add_library(memcrest INTERFACE)
add_library(memcrest::memcrest ALIAS memcrest)
list(TRANSFORM MEMCREST_FOLDERS PREPEND memcrest_ OUTPUT_VARIABLE memcrest_folder_targets)
list(REVERSE memcrest_folder_targets)  # as a linker wants them: users before what they use
target_link_libraries(memcrest INTERFACE ${memcrest_folder_targets})

if(EXISTS "${PROJECT_SOURCE_DIR}/src/cli/main.cc")
  add_executable(memcrest_program src/cli/main.cc)
  set_target_properties(memcrest_program PROPERTIES OUTPUT_NAME memcrest EXPORT_NAME program)
  target_link_libraries(memcrest_program PRIVATE memcrest memcrest_warnings memcrest_sanitizers)
  if(TARGET mimalloc AND NOT MEMCREST_SANITIZE)
    target_link_libraries(memcrest_program PRIVATE mimalloc)
  endif()
endif()
