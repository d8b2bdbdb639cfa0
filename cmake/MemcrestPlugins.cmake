# memcrest_plugins: from one list of names, the sources of a plug-in folder and its registration function.
#
#   memcrest_plugins(<library> FOLDER ops REGISTRY OpRegistry FUNCTION RegisterAllOps NAMES convolution pooling)
#
# adds src/ops/convolution.cc, src/ops/pooling.cc and a generated all_ops.cc to memcrest_<library>; the generated file defines
# `void memcrest::RegisterAllOps(OpRegistry&)`, which calls RegisterConvolution and RegisterPooling in the order of the list.
# NAMESPACE (memcrest) is where all these functions live. Declare the FUNCTION in a header of the folder by hand.

# "sgd_momentum" -> "SgdMomentum"
function(memcrest_camel_case out name)
  string(REGEX MATCHALL "[^_-]+" words "${name}")
  set(result "")
  foreach(word IN LISTS words)
    string(SUBSTRING "${word}" 0 1 head)
    string(SUBSTRING "${word}" 1 -1 tail)
    string(TOUPPER "${head}" head)
    string(APPEND result "${head}${tail}")
  endforeach()
  set(${out} "${result}" PARENT_SCOPE)
endfunction()

function(memcrest_plugins library)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER;REGISTRY;FUNCTION;NAMESPACE" "NAMES")
  if(NOT arg_NAMESPACE)
    set(arg_NAMESPACE memcrest)
  endif()
  set(MEMCREST_DECLARATIONS "")
  set(MEMCREST_CALLS "")
  set(sources "")
  foreach(name IN LISTS arg_NAMES)
    memcrest_camel_case(camel "${name}")
    string(APPEND MEMCREST_DECLARATIONS "void Register${camel}(${arg_REGISTRY}&);\n")
    string(APPEND MEMCREST_CALLS "  Register${camel}(registry);\n")
    list(APPEND sources "${PROJECT_SOURCE_DIR}/src/${arg_FOLDER}/${name}.cc")
  endforeach()
  set(MEMCREST_NAMESPACE "${arg_NAMESPACE}")
  set(MEMCREST_REGISTRY "${arg_REGISTRY}")
  set(MEMCREST_FUNCTION "${arg_FUNCTION}")
  string(REPLACE "/" "_" kind "${arg_FOLDER}")
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/all_${kind}.cc")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/all_plugins.cc.in" "${generated}" @ONLY)
  set_property(GLOBAL APPEND PROPERTY MEMCREST_PLUGIN_SOURCES_${library} ${sources} "${generated}")
endfunction()
