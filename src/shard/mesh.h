// The devices of a job as a grid: named axes with sizes, and which ranks form a group along an axis.
//
// Takes: the job's message parallel.  Gives: Mesh; ranks are numbered row by row, the last axis fastest, as init_device_mesh does.
#ifndef MEMCREST_SHARD_MESH_H_
#define MEMCREST_SHARD_MESH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "src/job/parallel.h"

namespace memcrest {

struct MeshAxis {
  std::string name;
  int64_t size = 1;
};

class Mesh {
 public:
  explicit Mesh(std::vector<MeshAxis> axes) : axes_(std::move(axes)) {}

  const std::vector<MeshAxis>& axes() const { return axes_; }  // of size 2 or more, outermost first
  int64_t world() const;
  int64_t Size(absl::string_view axis) const;                      // 1 if there is no such axis
  int64_t Coordinate(int64_t rank, absl::string_view axis) const;  // 0 if there is no such axis
  // The ranks that differ from `rank` along `axis` only, itself included, ascending.
  std::vector<int64_t> Group(int64_t rank, absl::string_view axis) const;

 private:
  int64_t Stride(size_t axis) const;
  std::vector<MeshAxis> axes_;
};

// pipeline, replicate, data, context, tensor: the order in which the frameworks nest them.
Mesh MeshOf(const Parallel& parallel);

// Ranks that have the same figures. `signatures`: by rank; equal signatures, equal figures.
struct RankClass {
  std::vector<int64_t> ranks;  // ascending; the first is simulated
};
std::vector<RankClass> ClassesOf(const std::vector<std::vector<int64_t>>& signatures);

}  // namespace memcrest

#endif  // MEMCREST_SHARD_MESH_H_
