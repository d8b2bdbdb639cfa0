#include "src/shard/mesh.h"

#include <map>
#include <utility>

namespace memcrest {

int64_t Mesh::world() const {
  int64_t world = 1;
  for (const MeshAxis& a : axes_) world *= a.size;
  return world;
}

int64_t Mesh::Stride(size_t axis) const {
  int64_t stride = 1;
  for (size_t i = axis + 1; i < axes_.size(); ++i) stride *= axes_[i].size;
  return stride;
}

int64_t Mesh::Size(absl::string_view axis) const {
  for (const MeshAxis& a : axes_) {
    if (a.name == axis) return a.size;
  }
  return 1;
}

int64_t Mesh::Coordinate(int64_t rank, absl::string_view axis) const {
  for (size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].name == axis) return rank / Stride(i) % axes_[i].size;
  }
  return 0;
}

std::vector<int64_t> Mesh::Group(int64_t rank, absl::string_view axis) const {
  for (size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].name != axis) continue;
    std::vector<int64_t> group;
    const int64_t first = rank - Coordinate(rank, axis) * Stride(i);
    for (int64_t k = 0; k < axes_[i].size; ++k) group.push_back(first + k * Stride(i));
    return group;
  }
  return {rank};
}

Mesh MeshOf(const Parallel& p) {
  std::vector<MeshAxis> axes;
  const std::pair<const char*, int64_t> all[] = {
      {"pipeline", p.pipeline}, {"replicate", p.replicate}, {"data", p.data}, {"context", p.context}, {"tensor", p.tensor}};
  for (const auto& [name, size] : all) {
    if (size > 1) axes.push_back({name, size});
  }
  return Mesh(std::move(axes));
}

std::vector<RankClass> ClassesOf(const std::vector<std::vector<int64_t>>& signatures) {
  std::vector<RankClass> classes;
  std::map<std::vector<int64_t>, size_t> seen;
  for (size_t rank = 0; rank < signatures.size(); ++rank) {
    const auto [at, fresh] = seen.emplace(signatures[rank], classes.size());
    if (fresh) classes.emplace_back();
    classes[at->second].ranks.push_back(static_cast<int64_t>(rank));
  }
  return classes;
}

}  // namespace memcrest
