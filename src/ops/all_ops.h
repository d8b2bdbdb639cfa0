// Declares the generated function that fills the registry (cmake/MemcrestPlugins.cmake makes its definition).
#ifndef MEMCREST_OPS_ALL_OPS_H_
#define MEMCREST_OPS_ALL_OPS_H_

namespace memcrest {

class OpRegistry;

// Calls every family's Register function, in the order of the list in src/ops/CMakeLists.txt.
void RegisterAllOps(OpRegistry& registry);

}  // namespace memcrest

#endif  // MEMCREST_OPS_ALL_OPS_H_
