#include "comm/coordinator/request_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace bertft {

namespace {

// "float32 on rank 0, float16 on ranks 1, 3": the values in the order of their first appearance.
template <typename Announcements, typename TextOf>
std::string text_of_values(const Announcements& announcements, TextOf text_of) {
  std::vector<std::pair<std::string, std::vector<int>>> groups;
  for (const auto& announcement : announcements) {
    const std::string value = text_of(*announcement.traits);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& known) { return known.first == value; });
    if (group == groups.end()) {
      groups.push_back({value, {}});
      group = groups.end() - 1;
    }
    group->second.push_back(announcement.rank);
  }
  std::vector<std::string> parts;
  for (auto& [value, ranks] : groups) {
    std::sort(ranks.begin(), ranks.end());
    parts.push_back(fmt::format("{} on rank{} {}", value, ranks.size() > 1 ? "s" : "", fmt::join(ranks, ", ")));
  }
  return groups.size() < 2 ? std::string() : fmt::format("{}", fmt::join(parts, "; "));
}

// Empty when all ranks agree.
template <typename Announcements>
std::string disagreement(const Announcements& announcements) {
  const SharedTraits& first = announcements.front().traits;
  const bool is_same = std::all_of(announcements.begin(), announcements.end(),
                                   [&](const auto& other) { return same_traits(other.traits, first); });
  if (is_same) {
    return {};  // the usual case, without making texts
  }
  const std::pair<const char*, std::string> faults[] = {
      {"data types", text_of_values(announcements, [](const TensorTraits& t) { return std::string(name_of(t.type)); })},
      {"operations", text_of_values(announcements, [](const TensorTraits& t) { return std::string(name_of(t.op)); })},
      {"shapes", text_of_values(announcements, [](const TensorTraits& t) { return text_of_shape(t.shape); })},
      {"devices", text_of_values(announcements, [](const TensorTraits& t) { return text_of_device(t.device); })},
  };
  for (const auto& [what, values] : faults) {
    if (!values.empty()) {
      return fmt::format("mismatched {}: {}", what, values);
    }
  }
  return {};  // different accelerators of their nodes are no fault
}

}  // namespace

RequestTable::Entry& RequestTable::of(int tensor) {
  const auto place = static_cast<size_t>(tensor);
  if (place >= by_tensor_.size()) {
    by_tensor_.resize(place + 1);
  }
  return by_tensor_[place];
}

bool RequestTable::has(int tensor) const {
  const auto place = static_cast<size_t>(tensor);
  return place < by_tensor_.size() && !by_tensor_[place].announcements.empty();
}

bool RequestTable::add(int rank, const TensorRequest& request, const TensorNames& names) {
  Entry& entry = of(request.tensor);
  entry.has_rank.resize(static_cast<size_t>(size_), false);
  if (entry.has_rank[static_cast<size_t>(rank)]) {
    throw CommError(fmt::format("rank {} announced the tensor {} a second time before it was agreed", rank,
                                names.name(request.tensor)));
  }
  entry.has_rank[static_cast<size_t>(rank)] = true;
  Announcements& announcements = entry.announcements;
  const bool is_like_first = !announcements.empty() && same_traits(announcements.front().traits, request.traits);
  announcements.push_back({rank, is_like_first ? announcements.front().traits : request.traits});
  return static_cast<int>(announcements.size()) == size_;
}

std::shared_ptr<const std::vector<int32_t>> RequestTable::devices_of(const Announcements& announcements) {
  std::vector<int32_t> devices(static_cast<size_t>(size_));
  for (const Announcement& announcement : announcements) {
    devices[static_cast<size_t>(announcement.rank)] = announcement.traits->device;
  }
  if (!last_devices_ || *last_devices_ != devices) {
    last_devices_ = std::make_shared<const std::vector<int32_t>>(std::move(devices));
  }
  return last_devices_;
}

TensorResponse RequestTable::take_response(int tensor, const TensorNames& names) {
  const Announcements announcements = std::exchange(of(tensor), {}).announcements;
  check(static_cast<int>(announcements.size()) == size_, "a response about a tensor that not all ranks announced");
  const TensorTraits& traits = *announcements.front().traits;
  TensorResponse response;
  response.type = traits.type;
  response.op = traits.op;
  response.devices = devices_of(announcements);
  response.tensors = {tensor};
  const std::string fault = disagreement(announcements);
  if (fault.empty()) {
    response.elements = {traits.elements()};
  } else {
    response.response = ResponseType::kError;
    response.error = fmt::format("tensor {}: {}", names.name(tensor), fault);
  }
  return response;
}

}  // namespace bertft
