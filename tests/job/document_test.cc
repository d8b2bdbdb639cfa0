#include "src/job/document.h"

#include <gtest/gtest.h>

namespace memcrest {
namespace {

Doc Parsed(const std::string& text) {
  const auto doc = ParseDocument({"job", text});
  EXPECT_TRUE(doc.ok()) << doc.status();
  return doc.ok() ? *doc : Doc();
}

std::string ErrorOf(const std::string& text) { return std::string(ParseDocument({"job", text}).status().message()); }

TEST(Document, JsonAndTextFormGiveTheSameTree) {
  for (const char* text :
       {R"({"a": {"b": [1, "two", true]}})", "a { b: [1, 'two', true] }  # comment", "a: <b: 1 b: \"two\" b: true>"}) {
    const Doc doc = Parsed(text);
    ASSERT_EQ(doc.items.size(), 1u) << text;
    ASSERT_EQ(doc.items[0].items.size(), 1u) << text;
    const Doc& list = doc.items[0].items[0];
    EXPECT_EQ(list.key, "b");
    ASSERT_EQ(list.items.size(), 3u) << text;
    EXPECT_EQ(list.items[0].kind, Doc::Kind::kNumber);
    EXPECT_EQ(list.items[1].text, "two");
    EXPECT_EQ(list.items[2].kind, Doc::Kind::kBool);
  }
}

TEST(Document, SyntaxErrorsShowLineColumnAndCaret) {
  EXPECT_EQ(ErrorOf("{\n  \"a\": 1,\n  \"b\" 2\n}"),
            "error E0103: expected : after the field's name\n"
            "  where: job:3:7\n"
            "      \"b\" 2\n"
            "          ^\n"
            "  fix: the file is read as JSON because it begins with {\n");
}

TEST(Document, AKeyGivenTwiceInJsonIsAMistake) {
  EXPECT_NE(ErrorOf(R"({"a": 1, "a": 2})").find("field \"a\" is given twice\n  where: job:1:10"), std::string::npos);
}

TEST(Document, EscapesBecomeUtf8) {
  // U+00E9 is C3 A9; the pair D83D DE00 is U+1F600, F0 9F 98 80.
  EXPECT_EQ(Parsed(R"({"a": "\u00e9\n\ud83d\ude00"})").items[0].text, "\xC3\xA9\n\xF0\x9F\x98\x80");
}

TEST(Document, NestingIsLimited) {
  std::string text = "{\"a\": ";
  for (int i = 0; i < 5000; ++i) text += '[';
  EXPECT_NE(ErrorOf(text).find("nested too deeply"), std::string::npos);
}

TEST(Document, AnyPrefixOfAFileEndsInAMessage) {
  const std::string text = R"({"a": {"b": [1, -2.5e3, "x\u0041", true, null]}, "c": {}})";
  for (size_t n = 1; n < text.size(); ++n) EXPECT_FALSE(ParseDocument({"job", text.substr(0, n)}).ok()) << n;
}

TEST(Document, AnEmptyFileIsAnEmptyMessage) { EXPECT_TRUE(Parsed(" # nothing\n").items.empty()); }

TEST(Document, AMissingFileSaysSo) {
  EXPECT_EQ(ReadSource("/nonexistent/job.json").status().message(),
            "error E0108: the file cannot be read\n  where: /nonexistent/job.json\n  fix: check the path and its "
            "permissions\n");
}

}  // namespace
}  // namespace memcrest
