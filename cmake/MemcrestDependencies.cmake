# Everything from outside, by find_package only.
#
# The library and the binary need Abseil, Boost (headers) and CLI11; only the tests need GoogleTest and ONNX.
find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(Boost REQUIRED CONFIG)
find_package(CLI11 REQUIRED)
# The program alone uses mimalloc, where it is there: millions of small storages make the heap a third of a run's time.
find_package(mimalloc CONFIG QUIET)

if(MEMCREST_BUILD_TESTS)
  find_package(GTest REQUIRED)
  include(MemcrestOnnx)
endif()
if(MEMCREST_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()
