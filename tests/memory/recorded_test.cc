// Lists of events through our allocator and, recorded by tools/record_allocator, through PyTorch's own (2.14.1, CUDA build).
//
// The format stands in tools/record_allocator. MEMCREST_ALLOCATOR_LISTS names a further folder of recordings to check.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "src/memory/caching_allocator.h"

namespace memcrest {
namespace {

struct Tally {
  int lists = 0, exact = 0, points = 0, wrong = 0;
  double worst = 0;  // relative error of a counter
  std::string first;
};

class List {
 public:
  List(const AllocatorOptions& options, std::string name) : allocator_(options), name_(std::move(name)) {}

  void Line(const std::string& line) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "=") return Compare(words);
    if (word == "oom") return Failed(words);
    for (; !word.empty(); word.clear(), words >> word) Do(word);
  }
  void Finish(Tally& tally) const {
    ++tally.lists;
    tally.exact += wrong_ == 0;
    tally.points += points_;
    tally.wrong += wrong_;
    tally.worst = std::max(tally.worst, worst_);
    if (tally.first.empty()) tally.first = first_;
  }

 private:
  void Do(const std::string& word) {
    if (word == "ec") return allocator_.EmptyCache();
    const size_t at = word.find('@');
    const StreamId stream = at == std::string::npos ? StreamId{0} : static_cast<StreamId>(std::stoi(word.substr(at + 1)));
    const int id = std::stoi(word.substr(1));
    if (word[0] == 'a') {
      blocks_[id] = allocator_.Malloc(std::stoll(word.substr(word.find(':') + 1)), stream);
      if (blocks_[id] == nullptr) failed_ = id;
    } else if (blocks_[id] != nullptr) {
      word[0] == 'f' ? allocator_.Free(blocks_[id]) : allocator_.RecordStream(blocks_[id], stream);
    }
  }
  void Compare(std::istringstream& words) {
    const AllocatorStats& now = allocator_.now();
    for (const int64_t ours : {now.allocated, now.reserved, now.active, now.retries}) {
      int64_t theirs = 0;
      words >> theirs;
      Check(ours, theirs);
    }
    if (failed_ >= 0) Check(1, 0);  // ours failed where theirs did not
    failed_ = -1;
  }
  void Failed(std::istringstream& words) {
    int id = -1;
    words >> id;
    Check(failed_, id);
    failed_ = -1;
  }
  void Check(int64_t ours, int64_t theirs) {
    ++points_;
    if (ours == theirs) return;
    ++wrong_;
    if (theirs > 0) worst_ = std::max(worst_, std::abs(static_cast<double>(ours) / static_cast<double>(theirs) - 1));
    if (first_.empty()) first_ = name_ + ": ours " + std::to_string(ours) + ", PyTorch " + std::to_string(theirs);
  }

  CachingAllocator allocator_;
  std::string name_, first_;
  std::map<int, CachingAllocator::Block*> blocks_;
  int failed_ = -1, points_ = 0, wrong_ = 0;
  double worst_ = 0;
};

Tally Replay(const std::filesystem::path& path) {
  Tally tally;
  AllocatorOptions options;
  options.streams_keep_up = true;  // a phantom GPU's work is done at once
  std::unique_ptr<List> list;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string word, value;
    words >> word >> value;
    if (word == "conf") {
      std::vector<Problem> problems;
      options.conf = ParseAllocatorConf(value, problems);
      EXPECT_TRUE(problems.empty()) << value;
    } else if (word == "memory") {
      options.memory = options.device_total = std::stoll(value);
    } else if (word == "fraction") {
      if (value != "0") options.allowed = std::stoll(value);
    } else if (word == "list") {
      if (list != nullptr) list->Finish(tally);
      list = std::make_unique<List>(options, path.stem().string() + "/" + value);
    } else {
      list->Line(line);
    }
  }
  if (list != nullptr) list->Finish(tally);
  return tally;
}

std::vector<std::filesystem::path> Recordings() {
  std::vector<std::string> folders = {std::string(MEMCREST_SOURCE_DIR) + "/tests/memory/recorded"};
  if (const char* more = std::getenv("MEMCREST_ALLOCATOR_LISTS")) folders.push_back(more);
  std::vector<std::filesystem::path> paths;
  for (const std::string& folder : folders) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class Recorded : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Recorded, CountersAreThoseOfPyTorch) {
  const Tally tally = Replay(GetParam());
  EXPECT_GT(tally.points, 0);
  EXPECT_EQ(tally.exact, tally.lists) << tally.wrong << " of " << tally.points << " counters differ, worst "
                                      << tally.worst << "; first: " << tally.first;
}

INSTANTIATE_TEST_SUITE_P(Lists, Recorded, testing::ValuesIn(Recordings()),
                         [](const auto& row) { return row.param.stem().string() + "_" + std::to_string(row.index); });

}  // namespace
}  // namespace memcrest
