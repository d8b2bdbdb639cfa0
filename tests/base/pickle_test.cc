#include "src/base/pickle.h"

#include <gtest/gtest.h>

namespace memcrest {
namespace {

using Kind = PickleValue::Kind;

std::string Refusal(absl::string_view bytes) {
  const absl::StatusOr<PickleDoc> doc = ReadPickle(bytes, "evil.pickle");
  return doc.ok() ? "read" : std::string(doc.status().message());
}

TEST(Pickle, WhatIsWrittenIsRead) {
  PickleWriter w;
  w.OpenDict();
  w.Key("list");
  w.OpenList(), w.Int(1), w.Int(-5), w.Int(int64_t{1} << 44), w.Int(-(int64_t{1} << 44)), w.Text("a\nb"), w.Bool(true), w.None(), w.Close();
  w.Keep(3);
  w.Key("again");
  w.Again(3);
  w.Key("pair");
  w.OpenTuple(), w.Int(0), w.Int(0), w.Close();
  w.Close();
  const absl::StatusOr<PickleDoc> doc = ReadPickle(w.Finish(), "x");
  ASSERT_TRUE(doc.ok()) << doc.status();
  const PickleValue* list = doc->Find(doc->root(), "list");
  ASSERT_NE(list, nullptr);
  ASSERT_EQ(list->items.size(), 7u);
  EXPECT_EQ(doc->at(list->items[1]).number, -5);
  EXPECT_EQ(doc->at(list->items[2]).number, int64_t{1} << 44);
  EXPECT_EQ(doc->at(list->items[3]).number, -(int64_t{1} << 44));
  EXPECT_EQ(doc->at(list->items[4]).text, "a\nb");
  EXPECT_EQ(doc->Find(doc->root(), "again"), list);  // one value, used twice
  EXPECT_EQ(doc->Find(doc->root(), "pair")->kind, Kind::kTuple);
  EXPECT_EQ(doc->Find(doc->root(), "none"), nullptr);
}

// pickle.dumps({'a': [1, 2.5, 'x'], 'b': (True, None)}, protocol) of CPython 3.11.
TEST(Pickle, ReadsPythonsOwnProtocols) {
  const std::string kFour("\x80\x04\x95$\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01" "a\x94]\x94(K\x01G@\x04\x00\x00\x00\x00\x00\x00\x8c\x01x\x94"
                          "e\x8c\x01" "b\x94\x88N\x86\x94u.", 47);
  const std::string kZero = "(dp0\nVa\np1\n(lp2\nI1\naF2.5\naVx\np3\nasVb\np4\n(I01\nNtp5\ns.";
  for (const std::string& bytes : {kFour, kZero}) {
    const absl::StatusOr<PickleDoc> doc = ReadPickle(bytes, "x");
    ASSERT_TRUE(doc.ok()) << doc.status();
    const PickleValue* a = doc->Find(doc->root(), "a");
    ASSERT_NE(a, nullptr);
    ASSERT_EQ(a->items.size(), 3u);
    EXPECT_EQ(doc->at(a->items[0]).number, 1);
    EXPECT_EQ(doc->at(a->items[1]).real, 2.5);
    EXPECT_EQ(doc->at(a->items[2]).text, "x");
    EXPECT_EQ(doc->Find(doc->root(), "b")->items.size(), 2u);
  }
}

TEST(Pickle, NeverBuildsObjects) {
  const std::string text = Refusal("cos\nsystem\n(S'echo hacked'\ntR.");
  EXPECT_NE(text.find("E0601"), std::string::npos) << text;
  EXPECT_NE(text.find("where: byte 0"), std::string::npos) << text;
  EXPECT_NE(text.find("why: opcode 0x63 builds an object"), std::string::npos) << text;
  EXPECT_NE(text.find("fix: "), std::string::npos) << text;
}

TEST(Pickle, HostileBytesEndInAProblem) {
  for (const absl::string_view bytes :
       {"", ".", "(", "N", "NN.", "t.", "e.", "a.", "]a.", "s.", "}K\x01s.", "K", "X\xff\xff\xff\xff",
        "\x8d\xff\xff\xff\xff\xff\xff\xff\xff", "h\x05.", "g9\n.",
        "p1\n.", "I12", "Ix\n.", "Fx\n.", "\x8a\xffxyz", "(K\x01(u.", "K\x01K\x02}\x87u.", "(.", "0.", "1.", "2.", "]K\x01u.", "((e."}) {
    EXPECT_NE(Refusal(bytes).find("E0601"), std::string::npos) << bytes << ": " << Refusal(bytes);
  }
}

TEST(Pickle, AListMayHoldItself) {
  const absl::StatusOr<PickleDoc> doc = ReadPickle("]q\x01h\x01" "a.", "x");  // a = []; a.append(a)
  ASSERT_TRUE(doc.ok()) << doc.status();
  EXPECT_EQ(doc->root().items[0], doc->top);
}

TEST(Pickle, DeepNestingIsNoRecursion) {
  EXPECT_TRUE(ReadPickle(std::string(200000, '(') + "N" + std::string(200000, 't') + ".", "x").ok());
}

}  // namespace
}  // namespace memcrest
