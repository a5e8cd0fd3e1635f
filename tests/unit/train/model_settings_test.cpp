// bert_finetune.json and the labels of config.json: written, read back, and refused when broken.
#include "train/model_settings.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"
#include "tests/unit/data/tiny_tokenizer.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;
using test::TempFolder;
using Json = nlohmann::json;

const Json kConfig = {{"id2label", {{"0", "down"}, {"1", "flat"}, {"2", "up"}}}};

ModelSettings written_settings() {
  ModelSettings settings;
  settings.columns = {.text = "sentence", .text_pair = "answer", .label = "class", .id = "key"};
  settings.max_length = 77;
  settings.truncation = Truncation::kOnlyFirst;
  settings.compat = Compat::kGoogle;
  settings.label_settings = {
      .map = {{"2", "up"}, {"0", "down"}}, .pattern = "^([^:]*):", .unknown = UnknownLabel::kSkip};
  settings.reading = {.form = {"tsv", "false", ";", 3, "class:str:1,sentence:str:1"},
                      .encoding = "gb18030",
                      .invalid_utf8 = "skip",
                      .ending = "tsv"};
  return settings;
}

ModelSettings read(const std::string& config, const std::string& settings) {
  const TempFolder folder;
  folder.write("config.json", config);
  if (!settings.empty()) folder.write("bert_finetune.json", settings);
  return read_model_settings(folder.path());
}

TEST_CASE("Settings are read back as they were written") {
  const ModelSettings settings = read(kConfig.dump(), settings_text(written_settings()));
  REQUIRE(settings.task == "text_classification");
  REQUIRE(settings.columns.text == "sentence");
  REQUIRE(settings.columns.text_pair == "answer");
  REQUIRE(settings.columns.label == "class");
  REQUIRE(settings.columns.id == "key");
  REQUIRE(settings.max_length == 77);
  REQUIRE(settings.truncation == Truncation::kOnlyFirst);
  REQUIRE(settings.compat == Compat::kGoogle);
  REQUIRE(settings.label_settings.type == LabelType::kSingle);
  REQUIRE(settings.label_settings.map == StringMap{{"2", "up"}, {"0", "down"}});
  REQUIRE(settings.label_settings.pattern == "^([^:]*):");
  REQUIRE(settings.label_settings.unknown == UnknownLabel::kSkip);
  REQUIRE(settings.reading.form.format == "tsv");
  REQUIRE(settings.reading.form.header == "false");
  REQUIRE(settings.reading.form.delimiter == ";");
  REQUIRE(settings.reading.form.max_splits == 3);
  REQUIRE(settings.reading.form.schema == "class:str:1,sentence:str:1");
  REQUIRE(settings.reading.encoding == "gb18030");
  REQUIRE(settings.reading.invalid_utf8 == "skip");
  REQUIRE(settings.reading.ending == "tsv");
  REQUIRE_FALSE(settings.is_pair_optional);
  REQUIRE(settings.labels == std::vector<std::string>{"down", "flat", "up"});
}

TEST_CASE("Files of another ending than the training files are recognized anew") {
  ReadingSettings reading = written_settings().reading;
  const DataOptions same = reading_of_path(reading, "a/b.TSV");
  REQUIRE(same.format == "tsv");
  REQUIRE(same.delimiter == ";");
  REQUIRE(same.max_splits == 3);
  REQUIRE(same.schema == "class:str:1,sentence:str:1");
  for (const char* path : {"-", "texts.txt", "folder.csv/texts"}) {
    INFO(path);
    const DataOptions unknown = reading_of_path(reading, path);
    REQUIRE(unknown.format == "auto");
    REQUIRE(unknown.delimiter == ";");
    REQUIRE(unknown.header == "false");
    REQUIRE(unknown.encoding == "gb18030");
  }
  for (const char* path : {"a.csv", "a.jsonl", "a.json", "a.ndjson"}) {
    INFO(path);
    const DataOptions other = reading_of_path(reading, path);
    REQUIRE(other.format == "auto");
    REQUIRE(other.delimiter.empty());
    REQUIRE(other.max_splits == 0);
    REQUIRE(other.schema.empty());
    REQUIRE(other.header == "auto");
    REQUIRE(other.encoding == "gb18030");
    REQUIRE(other.invalid_utf8 == "skip");
  }
  reading.ending = "";
  REQUIRE(reading_of_path(reading, "-").format == "auto");
  REQUIRE(reading_of_path(reading, "a.txt").format == "tsv");
}

TEST_CASE("A directory written elsewhere has columns text, text_pair, label, and its labels by number") {
  Json config;
  for (int id = 0; id < 12; ++id) config["id2label"][std::to_string(id)] = "L" + std::to_string(id);
  const ModelSettings settings = read(config.dump(), "");
  REQUIRE(settings.columns.text == "text");
  REQUIRE(settings.columns.text_pair == "text_pair");
  REQUIRE(settings.columns.label == "label");
  REQUIRE(settings.is_pair_optional);
  REQUIRE(settings.max_length == 0);
  REQUIRE(settings.truncation == Truncation::kLongestFirst);
  REQUIRE(settings.compat == Compat::kHf);
  REQUIRE(settings.labels.size() == 12);
  REQUIRE(settings.labels[2] == "L2");  // not L10, which comes before in order of text
  REQUIRE(settings.labels[10] == "L10");
}

TEST_CASE("Its longest input is that of tokenizer and position table") {
  EncoderConfig config;
  config.max_positions = 512;
  REQUIRE(foreign_max_length(test::tiny_tokenizer(), config) == 512);
  const TempFolder folder;
  folder.write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n");
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer", "model_max_length": 256})");
  const Tokenizer limited = Tokenizer::load(folder.path(), Compat::kHf);
  REQUIRE(foreign_max_length(limited, config) == 256);
  config.max_positions = 128;
  REQUIRE(foreign_max_length(limited, config) == 128);
}

TEST_CASE("A config.json without usable labels is refused") {
  struct Case {
    const char* text;
    const char* fragment;
  };
  const std::vector<Case> cases = {
      {"", "not valid JSON"},
      {"[1, 2]", "no id2label"},
      {"{}", "no id2label: this is no fine-tuned classifier"},
      {R"({"id2label": ["a", "b"]})", "no id2label"},
      {R"({"id2label": {}})", "fewer than two labels"},
      {R"({"id2label": {"0": "a"}})", "fewer than two labels"},
      {R"({"id2label": {"0": "a", "2": "b"}})", "id2label has no entry 1"},
      {R"({"id2label": {"1": "a", "2": "b"}})", "id2label has no entry 0"},
      {R"({"id2label": {"-1": "a", "0": "b"}})", "id2label has no entry 0"},
      {R"({"id2label": {"zero": "a", "1": "b"}})", "id2label has the entry zero: \"a\""},
      {R"({"id2label": {"0": 7, "1": "b"}})", "id2label has the entry 0: 7"},
      {R"({"id2label": {"0": "a", "1": "b", "01": "c"}})", "id2label has two entries for 1"},
      {R"({"id2label": {"0": "a", "1": "a"}})", "names one label twice"},
      {R"({"id2label": {"0": "a", "1": " "}})", "id2label has an empty name for 1"},
      {R"({"id2label": {"99999999999999999999": "a", "0": "b"}})", "id2label has the entry 99999999999999999999"},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const std::string message = error_text<CheckpointError>([&] { read(c.text, ""); });
    REQUIRE_THAT(message, Contains("config.json: ") && Contains(c.fragment));
  }
  const TempFolder folder;
  REQUIRE_THAT(error_text<DataError>([&] { read_model_settings(folder.path()); }), Contains("config.json"));
}

TEST_CASE("A broken bert_finetune.json is refused with the key") {
  struct Case {
    const char* key;  // a JSON pointer; "" = the whole text is `value`
    Json value;       // null = removed
    const char* fragment;
  };
  const std::vector<Case> cases = {
      {"/task", nullptr, "task is missing or of the wrong type"},
      {"/task", 7, "task is missing or of the wrong type"},
      {"/columns", nullptr, "columns is missing or of the wrong type"},
      {"/columns", "text", "text is missing or of the wrong type"},
      {"/columns/text", nullptr, "text is missing or of the wrong type"},
      {"/columns/text_pair", 3, "text_pair is missing or of the wrong type"},
      {"/columns/label", nullptr, "label is missing"},
      {"/columns/id", nullptr, "id is missing"},
      {"/max_length", nullptr, "max_length is missing"},
      {"/max_length", "long", "max_length is \"long\": an integer between 3 and 1048576 is needed"},
      {"/max_length", 12.5, "max_length is 12.5: an integer"},
      {"/max_length", true, "max_length is true: an integer"},
      {"/max_length", 0, "max_length is 0: an integer between"},
      {"/max_length", -5, "max_length is -5: an integer between"},
      {"/max_length", int64_t{1} << 40, "max_length is 1099511627776: an integer between"},
      {"/truncation", "sliding_window", "truncation 'sliding_window' is not in this build"},
      {"/truncation", nullptr, "truncation is missing"},
      {"/compat", "tf", "compat 'tf' is not in this build; known: hf, google"},
      {"/compat", {1}, "compat is missing or of the wrong type"},
      {"/columns/labels", "a", "labels is missing or of the wrong type"},
      {"/reading", 3, "format is missing or of the wrong type"},
      {"/reading/max_splits", "many", "max_splits is missing or of the wrong type"},
      {"/reading/max_splits", -1, "max_splits is negative"},
      {"/reading/encoding", "latin-1", "reading.encoding is 'latin-1'; known: utf-8, utf-16, gb18030"},
      {"/reading/invalid_utf8", nullptr, "invalid_utf8 is missing"},
      {"/reading/format", "xml", "reading.format is 'xml'"},
      {"/reading/delimiter", "||", "'||' is not one ASCII character"},
  };
  for (const Case& c : cases) {
    Json json = Json::parse(settings_text(written_settings()));
    const Json::json_pointer place(c.key);
    json[place] = c.value;
    if (c.value.is_null()) json[place.parent_pointer()].erase(place.back());
    INFO(c.key << " " << c.value.dump());
    const std::string message = error_text<CheckpointError>([&] { read(kConfig.dump(), json.dump()); });
    REQUIRE_THAT(message, Contains("bert_finetune.json: ") && Contains(c.fragment));
  }
  for (const char* text : {" ", "{", "[]", "3"}) {
    INFO(text);
    REQUIRE_THAT(error_text<CheckpointError>([&] { read(kConfig.dump(), text); }), Contains("bert_finetune.json: "));
  }
}

TEST_CASE("Names of truncation and compat go both ways, and others are refused") {
  for (const char* name : {"longest_first", "only_first", "head_tail"}) {
    REQUIRE(truncation_name(parse_truncation(name)) == name);
  }
  for (const char* name : {"hf", "google"}) REQUIRE(compat_name(parse_compat(name)) == name);
  REQUIRE_THAT(error_text<ConfigError>([] { parse_truncation("Head_tail"); }), Contains("known: longest_first"));
  REQUIRE_THAT(error_text<ConfigError>([] { parse_compat(""); }), Contains("known: hf, google"));
}

}  // namespace
}  // namespace bertft
