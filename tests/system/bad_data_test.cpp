// Bad data files of every kind: refused with file and line, the right exit code, and nothing written or lost.
#include <string>
#include <vector>

#include "tests/support/test.h"
#include "tests/system/bad_input.h"

namespace bertft::test {
namespace {

std::vector<BadInput> data_cases() {
  return {
      {"no training file", [](const JobFolder& job) { job.remove("train.tsv"); }, 3, {"train.tsv", "No such file"}},
      {"a folder for a file", set_line("train: train.tsv", "train: checkpoint"), 3, {"checkpoint", "folder"}},
      {"empty training file", [](const JobFolder& job) { job.write("train.tsv", ""); }, 3, {"train.tsv"}},
      {"header and no rows",
       [](const JobFolder& job) { job.write("train.tsv", "label\ttext\n"); },
       3,
       {"train.tsv", "no rows"}},
      {"ragged row",
       [](const JobFolder& job) { job.append("train.tsv", "good\ta\tb\n"); },
       3,
       {"train.tsv:12", "3", "2"}},
      {"short row", replace_in("train.tsv", "bad\tthe bad book", "bad the bad book"), 3, {"train.tsv:3", "1", "2"}},
      {"second header", [](const JobFolder& job) { job.append("train.tsv", "label\ttext\n"); }, 3, {"train.tsv:12"}},
      {"no label column", replace_in("train.tsv", "label\t", "class\t"), 3, {"train.tsv", "label", "class"}},
      {"no text column", set_line("data:", "data:\n  columns: {text: title}"), 3, {"train.tsv", "title"}},
      {"missing label",
       [](const JobFolder& job) { job.append("train.tsv", "\ta film\n"); },
       3,
       {"train.tsv:12", "label"}},
      {"one class",
       [](const JobFolder& job) { job.write("train.tsv", "label\ttext\ngood\ta\ngood\tb\n"); },
       3,
       {"train.tsv", "good"}},
      {"unknown label in dev",
       [](const JobFolder& job) { job.append("dev.tsv", "goood\ta film\n"); },
       3,
       {"dev.tsv:4", "'goood'", "good"}},
      {"label that is not given", set_line("data:", "data:\n  labels: [good, ugly]"), 3, {"train.tsv:3", "'bad'"}},
      {"label given twice", set_line("data:", "data:\n  labels: [good, good]"), 2, {"data.labels", "good"}},
      {"CSV with an open quote",
       [](const JobFolder& job) {
         job.write("train.csv", "label,text\ngood,a\nbad,\"b\ngood,c\n");
         job.replace("c.yaml", "train.tsv", "train.csv");
       },
       3,
       {"train.csv:3", "quote", "line 3"}},
      {"UTF-32",
       [](const JobFolder& job) { job.write("train.tsv", std::string("\xFF\xFE\0\0l\0\0\0", 8)); },
       3,
       {"train.tsv", "UTF-32"}},
      {"JSON in one array",
       [](const JobFolder& job) {
         job.write("train.json", "[{\"label\": \"good\", \"text\": \"a\"}]\n");
         job.replace("c.yaml", "train.tsv", "train.json");
       },
       3,
       {"train.json:1", "array", "jq"}},
      {"half a character where that is an error",
       [](const JobFolder& job) {
         job.append("train.tsv", "good\ta\xF0\n");
         job.replace("c.yaml", "data:", "data:\n  invalid_utf8: error");
       },
       3,
       {"train.tsv:12", "invalid"}},
      {"no file fits the pattern", set_line("train: train.tsv", "train: train_*.tsv"), 3, {"train_*.tsv", "pattern"}},
      {"files of other columns",
       [](const JobFolder& job) {
         job.write("more.tsv", "text\tlabel\na\tgood\n");
         job.replace("c.yaml", "train: train.tsv", "train: [train.tsv, more.tsv]");
       },
       3,
       {"more.tsv", "columns"}},
      {"a schema and a header",
       set_line("data:", "data:\n  schema: label:str:1,text:str:1\n  header: true"),
       2,
       {"data.header", "data.schema"}},
      {"a delimiter of two characters", set_line("data:", "data:\n  delimiter: '||'"), 2, {"data.delimiter", "'||'"}},
      {"a schema of two parts", set_line("data:", "data:\n  schema: label:str"), 2, {"data.schema", "'label:str'"}},
      {"LFS pointer as data",
       [](const JobFolder& job) {
         job.write("train.tsv", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n");
       },
       3,
       {"train.tsv", "Git LFS pointer", "12345"}},
  };
}

TEST_CASE("bad data files are refused with file and line") { check_cases(data_cases()); }

}  // namespace
}  // namespace bertft::test
