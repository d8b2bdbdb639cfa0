#include "src/plan/oom_message.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

namespace memcrest {
namespace {

using Text = absl::string_view;
constexpr Text::size_type kNowhere = Text::npos;

// "1.64", "GiB" -> bytes; messages of old versions say "bytes" for small ones.
std::optional<ShownBytes> Figure(Text number, Text unit) {
  static constexpr std::array<std::pair<const char*, int>, 6> kUnits = {
      {{"bytes", 0}, {"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}}};
  double value = 0;
  if (!absl::SimpleAtod(number, &value) || value < 0 || value > 1e6) return std::nullopt;
  for (const auto& [name, shift] : kUnits) {
    if (unit != name) continue;
    const double scale = std::ldexp(1.0, shift);
    return ShownBytes{static_cast<Bytes>(std::llround(value * scale)), static_cast<Bytes>(scale / 100)};
  }
  return std::nullopt;
}

// The last two words before position `end`.
std::optional<ShownBytes> EndingAt(Text text, size_t end) {
  const size_t unit = text.rfind(' ', end - 1);
  if (end == 0 || unit == kNowhere || unit == 0) return std::nullopt;
  const size_t number = text.rfind(' ', unit - 1);
  const size_t begin = number == kNowhere ? 0 : number + 1;
  return Figure(text.substr(begin, unit - begin), text.substr(unit + 1, end - unit - 1));
}

// "20.00 MiB" right before or right after the last `mark`.
std::optional<ShownBytes> Before(Text text, Text mark) {
  const size_t at = text.rfind(mark);
  return at == kNowhere ? std::nullopt : EndingAt(text, at);
}
std::optional<ShownBytes> After(Text text, Text mark) {
  const size_t at = text.rfind(mark);
  if (at == kNowhere) return std::nullopt;
  const Text rest = text.substr(at + mark.size());
  const size_t number = rest.find(' '), unit = number == kNowhere ? kNowhere : rest.find_first_of(" .,;()", number + 1);
  if (number == kNowhere) return std::nullopt;
  return Figure(rest.substr(0, number), rest.substr(number + 1, unit == kNowhere ? unit : unit - number - 1));
}

std::optional<ShownBytes> FirstOf(std::initializer_list<std::optional<ShownBytes>> found) {
  for (const auto& figure : found) {
    if (figure.has_value()) return figure;
  }
  return std::nullopt;
}

// Line breaks of terminals and mails are spaces.
std::string OnOneLine(Text text) {
  std::string line(text);
  for (char& c : line) c = absl::ascii_isspace(static_cast<unsigned char>(c)) ? ' ' : c;
  absl::RemoveExtraAsciiWhitespace(&line);
  return line;
}

// "Process 123 has 1.00 GiB memory in use." for every process but ours.
Bytes NamedProcesses(Text text) {
  Bytes sum = 0;
  constexpr char kMark[] = " memory in use";
  for (size_t at = text.find(kMark); at != kNowhere; at = text.find(kMark, at + 1)) {
    const size_t sentence = text.rfind(". ", at), named = text.rfind("Process ", at);
    const bool other = named != kNowhere && (sentence == kNowhere || named > sentence);
    const auto figure = EndingAt(text, at);
    if (other && figure.has_value()) sum += figure->bytes;
  }
  return sum;
}

// The line of the user's script that failed, by what stands in it.
std::string PhaseOf(Text before) {
  const auto last = [&](std::initializer_list<Text> marks) {
    size_t at = 0;
    for (const Text mark : marks) {
      if (const size_t found = before.rfind(mark); found != kNowhere) at = std::max(at, found + 1);
    }
    return at;
  };
  const size_t backward = last({".backward(", "run_backward", "autograd/graph.py"});
  const size_t optimizer = last({"optimizer.step(", "opt.step(", "torch/optim/", "_foreach_"});
  const size_t forward = last({"_call_impl", "in forward", ".forward("});
  if (optimizer > backward && optimizer > forward) return "optimizer";
  if (backward > 0) return "backward";  // checkpointed regions run forward code inside
  return forward > 0 ? "forward" : "";
}

}  // namespace

Bytes OomMessage::OtherProcesses() const {
  if (others > 0) return others;
  if (!capacity.has_value() || !free.has_value() || !in_use.has_value()) return 0;
  const Bytes rest = capacity->bytes - free->bytes - in_use->bytes;
  return rest > capacity->precision * 3 ? rest : 0;  // three rounded figures
}

Bytes SegmentSize(Bytes request) {
  constexpr Bytes kMiB = Bytes{1} << 20;
  if (request <= kMiB) return 2 * kMiB;
  if (request < 10 * kMiB) return 20 * kMiB;
  return RoundUp(request, 2 * kMiB);
}

std::optional<OomMessage> FindOomMessage(absl::string_view pasted) {
  const std::string line = OnOneLine(pasted);
  const Text all = line;
  const size_t at = all.rfind("Tried to allocate ");
  if (at == kNowhere || !absl::StrContains(all, "out of memory")) return std::nullopt;
  const Text text = all.substr(at);
  const auto requested = After(text, "Tried to allocate ");
  if (!requested.has_value()) return std::nullopt;
  OomMessage m;
  m.requested = *requested;
  m.capacity = FirstOf({After(text, "total capacity of "), After(text, "total capacty of "), Before(text, " total capacity")});
  m.free = FirstOf({Before(text, " is free"), Before(text, " free;")});
  m.allocated = FirstOf({Before(text, " is allocated by PyTorch"), Before(text, " already allocated")});
  m.unallocated = Before(text, " is reserved by PyTorch but unallocated");
  m.allowed = Before(text, " allowed");
  m.in_use = After(text, "this process has ");
  m.others = m.in_use.has_value() ? NamedProcesses(text) : 0;
  const auto reserved = FirstOf({Before(text, " reserved in total by PyTorch"), Before(text, " cached)")});
  if (!m.unallocated.has_value() && reserved.has_value() && m.allocated.has_value())
    m.unallocated = ShownBytes{std::max<Bytes>(0, reserved->bytes - m.allocated->bytes), reserved->precision};
  m.phase = PhaseOf(all.substr(0, at));
  return m;
}

}  // namespace memcrest
