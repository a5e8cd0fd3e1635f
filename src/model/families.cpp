#include "model/families.h"

namespace bertft {
namespace {

const std::vector<Family>& families() {
  static const std::vector<Family> rows = {
      {.model_type = "bert",
       .prefix = "bert.",
       .ignored_prefixes = {"cls."},
       .ignored_names = {"embeddings.position_ids"},
       .classifier_architecture = "BertForSequenceClassification",
       .members = "BERT, MiniLM, MacBERT, RoBERTa-wwm-ext, ERNIE published as BERT"},
  };
  return rows;
}

}  // namespace

const Family* find_family(const std::string& model_type) {
  for (const Family& family : families()) {
    if (family.model_type == model_type) return &family;
  }
  return nullptr;
}

std::string known_families() {
  std::string text;
  for (const Family& family : families()) {
    text += (text.empty() ? "" : "; ") + family.model_type + " (" + family.members + ")";
  }
  return text;
}

}  // namespace bertft
