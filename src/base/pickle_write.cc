// Protocol 2 of Python's pickle: the opcodes are those of Lib/pickletools.py.
#include "src/base/pickle.h"

namespace memcrest {

PickleWriter::PickleWriter() : out_("\x80\x02", 2) {}

void PickleWriter::Raw32(uint32_t n) {
  for (int shift = 0; shift < 32; shift += 8) out_ += static_cast<char>((n >> shift) & 0xff);
}

// BININT for 32 bits, LONG1 of eight bytes beyond.
void PickleWriter::Int(int64_t value) {
  if (value >= INT32_MIN && value <= INT32_MAX) {
    out_ += 'J';
    return Raw32(static_cast<uint32_t>(static_cast<int32_t>(value)));
  }
  out_ += "\x8a\x08";
  Raw32(static_cast<uint32_t>(static_cast<uint64_t>(value)));
  Raw32(static_cast<uint32_t>(static_cast<uint64_t>(value) >> 32));
}

void PickleWriter::Text(absl::string_view text) {
  out_ += 'X';
  Raw32(static_cast<uint32_t>(text.size()));
  out_.append(text.data(), text.size());
}

void PickleWriter::OpenList() { out_ += "](", open_.push_back('e'); }
void PickleWriter::OpenDict() { out_ += "}(", open_.push_back('u'); }
void PickleWriter::OpenTuple() { out_ += "(", open_.push_back('t'); }

void PickleWriter::Close() {
  out_ += open_.back();
  open_.pop_back();
}

void PickleWriter::Keep(uint32_t slot) {
  out_ += 'r';
  Raw32(slot);
}

void PickleWriter::Again(uint32_t slot) {
  out_ += 'j';
  Raw32(slot);
}

std::string PickleWriter::Finish() {
  out_ += '.';
  return std::move(out_);
}

}  // namespace memcrest
