# ONNX >= 1.19, for the text form of models in tests: the system's when new enough, else what third_party/build_onnx.sh made.
#
# The script's prefix is build/third_party/onnx inside the source tree, shared by all presets. With MEMCREST_BUILD_ONNX (the
# presets set it) configuring runs the script where needed. The program and the library never link ONNX.
set(MEMCREST_ONNX_PREFIX "${PROJECT_SOURCE_DIR}/build/third_party/onnx" CACHE PATH "Where build_onnx.sh installs ONNX")
option(MEMCREST_BUILD_ONNX "Build ONNX from its source archive when there is none new enough" OFF)

# The targets of ONNX refer to protobuf's. A macro, since the imported targets belong to the caller's directory.
macro(memcrest_find_onnx)
  find_package(ONNX 1.19 CONFIG QUIET)
  if(NOT ONNX_FOUND)
    find_package(ONNX 1.19 CONFIG QUIET PATHS "${MEMCREST_ONNX_PREFIX}" NO_DEFAULT_PATH)
  endif()
  if(ONNX_FOUND)  # its installed targets do not name their headers
    find_path(MEMCREST_ONNX_INCLUDE onnx/defs/parser.h HINTS "${ONNX_DIR}/../../../include" REQUIRED)
    set_property(TARGET ONNX::onnx APPEND PROPERTY INTERFACE_INCLUDE_DIRECTORIES "${MEMCREST_ONNX_INCLUDE}")
  endif()
endmacro()

find_package(Protobuf REQUIRED)
memcrest_find_onnx()
if(NOT ONNX_FOUND AND MEMCREST_BUILD_ONNX)
  message(STATUS "No ONNX >= 1.19: running third_party/build_onnx.sh (minutes)")
  execute_process(COMMAND "${PROJECT_SOURCE_DIR}/third_party/build_onnx.sh" "${MEMCREST_ONNX_PREFIX}"
      COMMAND_ERROR_IS_FATAL ANY)
  memcrest_find_onnx()
endif()
if(NOT ONNX_FOUND)
  message(FATAL_ERROR "The tests need ONNX >= 1.19: run third_party/build_onnx.sh, or configure with "
      "-DMEMCREST_BUILD_ONNX=ON, or leave the tests out with -DMEMCREST_BUILD_TESTS=OFF")
endif()
message(STATUS "Found ONNX ${ONNX_VERSION}: ${ONNX_DIR}")
