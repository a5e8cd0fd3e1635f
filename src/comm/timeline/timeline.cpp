#include "comm/timeline/timeline.h"

#include <fmt/format.h>

#include <cmath>

#include "core/error.h"

namespace bertft {

namespace {

// A JSON string. Bytes beyond ASCII are kept when they are well-formed UTF-8 by their lengths, else replaced by '?'.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '"' || byte == '\\') {
      result += '\\';
      result += text[i];
    } else if (byte < 0x20 || byte == 0x7F) {
      result += fmt::format("\\u{:04x}", byte);
    } else if (byte < 0x80) {
      result += text[i];
    } else {
      const size_t more = byte >= 0xF0 && byte <= 0xF4  ? 3
                          : byte >= 0xE0 && byte < 0xF0 ? 2
                          : byte >= 0xC2 && byte < 0xE0 ? 1
                                                        : 0;
      size_t found = 0;
      while (found < more && i + found + 1 < text.size() &&
             (static_cast<unsigned char>(text[i + found + 1]) & 0xC0) == 0x80) {
        ++found;
      }
      if (more == 0 || found < more) {
        result += '?';
      } else {
        result.append(text.substr(i, more + 1));
        i += more;
      }
    }
  }
  return result + "\"";
}

int64_t microseconds(double now_s) { return static_cast<int64_t>(std::llround(now_s * 1e6)); }

}  // namespace

Timeline::Timeline(const std::string& path, int64_t start_us, const std::string& rank_name) : file_(path) {
  file_.append(fmt::format(
      R"({{"name": "process_name", "ph": "M", "pid": 0, "args": {{"name": {}, "start_time_since_epoch_in_micros": {}}}}})",
      quoted(rank_name), start_us));
  file_.append(R"({"name": "process_sort_index", "ph": "M", "pid": 0, "args": {"sort_index": 0}})");
  file_.flush();
}

Timeline::Tensor& Timeline::find(const std::string& name) {
  const auto [place, is_new] = tensors_.try_emplace(name);
  Tensor& tensor = place->second;
  if (is_new) {
    tensor.process = static_cast<int>(tensors_.size());
    file_.append(fmt::format(R"({{"name": "process_name", "ph": "M", "pid": {}, "args": {{"name": {}}}}})",
                             tensor.process, quoted(name)));
    file_.append(fmt::format(
        R"({{"name": "process_sort_index", "ph": "M", "pid": {0}, "args": {{"sort_index": {0}}}}})", tensor.process));
  }
  return tensor;
}

Timeline::Tensor& Timeline::expect(const std::string& name, State state) {
  Tensor& tensor = find(name);
  check(tensor.state == state, "an event of the timeline that does not fit the state of its tensor");
  return tensor;
}

void Timeline::negotiate_start(const std::string& tensor, double now_s) {
  const std::lock_guard lock(mutex_);
  Tensor& found = find(tensor);
  if (found.state == State::kNothing) {
    event('B', found, "NEGOTIATE_ALLREDUCE", now_s);
    found.state = State::kNegotiating;
  }
}

void Timeline::negotiate_rank_ready(const std::string& tensor, int rank, double now_s) {
  const std::lock_guard lock(mutex_);
  const Tensor& found = find(tensor);
  if (found.state == State::kNegotiating) {
    event('X', found, std::to_string(rank), now_s, R"(, "dur": 0)");
  }
}

void Timeline::negotiate_end(const std::string& tensor, double now_s) {
  const std::lock_guard lock(mutex_);
  Tensor& found = find(tensor);
  if (found.state == State::kNegotiating) {
    event('E', found, {}, now_s);
    found.state = State::kNothing;
  }
}

void Timeline::start(const std::string& tensor, double now_s) {
  const std::lock_guard lock(mutex_);
  Tensor& found = expect(tensor, State::kNothing);
  event('B', found, "ALLREDUCE", now_s);
  found.state = State::kReducing;
}

void Timeline::activity_start(const std::string& tensor, std::string_view activity, double now_s) {
  const std::lock_guard lock(mutex_);
  begin_activity(expect(tensor, State::kReducing), activity, now_s);
}

void Timeline::next_activity(const std::string& tensor, std::string_view activity, double now_s) {
  const std::lock_guard lock(mutex_);
  Tensor& found = find(tensor);
  if (found.state == State::kInActivity) end_activity(found, now_s);
  begin_activity(expect(tensor, State::kReducing), activity, now_s);
}

void Timeline::begin_activity(Tensor& tensor, std::string_view activity, double now_s) {
  event('B', tensor, activity, now_s);
  tensor.state = State::kInActivity;
}

void Timeline::activity_end(const std::string& tensor, double now_s) {
  const std::lock_guard lock(mutex_);
  end_activity(expect(tensor, State::kInActivity), now_s);
}

void Timeline::end_activity(Tensor& tensor, double now_s) {
  event('E', tensor, {}, now_s);
  tensor.state = State::kReducing;
}

void Timeline::end(const std::string& tensor, const TensorTraits& traits, double now_s) {
  const std::lock_guard lock(mutex_);
  if (find(tensor).state == State::kInActivity) {
    end_activity(find(tensor), now_s);
  }
  Tensor& found = expect(tensor, State::kReducing);
  event(
      'E', found, {}, now_s,
      fmt::format(R"(, "args": {{"dtype": "{}", "shape": "{}"}})", name_of(traits.type), text_of_shape(traits.shape)));
  found.state = State::kNothing;
}

void Timeline::mark_cycle(double now_s) {
  file_.append(fmt::format(R"({{"ph": "i", "name": "CYCLE_START", "ts": {}, "pid": 0, "tid": 0, "s": "g"}})",
                           microseconds(now_s)));
}

void Timeline::event(char phase, const Tensor& tensor, std::string_view name, double now_s, const std::string& more) {
  const std::string named = name.empty() ? std::string() : fmt::format(R"(, "name": {})", quoted(name));
  file_.append(fmt::format(R"({{"ph": "{}"{}, "ts": {}, "pid": {}, "tid": 0{}}})", phase, named, microseconds(now_s),
                           tensor.process, more));
}

void Timeline::name_thread(int thread, const std::string& name) {
  file_.append(fmt::format(R"({{"name": "thread_name", "ph": "M", "pid": 0, "tid": {}, "args": {{"name": {}}}}})",
                           thread, quoted(name)));
}

void Timeline::begin_in_thread(int thread, std::string_view what, double now_s) {
  const std::lock_guard lock(mutex_);
  ++depth_of_thread_[thread];
  file_.append(fmt::format(R"({{"ph": "B", "name": {}, "ts": {}, "pid": 0, "tid": {}}})", quoted(what),
                           microseconds(now_s), thread));
}

void Timeline::end_in_thread(int thread, double now_s) {
  const std::lock_guard lock(mutex_);
  check(depth_of_thread_[thread]-- > 0, "something ends in a thread of the timeline that has not begun");
  file_.append(fmt::format(R"({{"ph": "E", "ts": {}, "pid": 0, "tid": {}}})", microseconds(now_s), thread));
}

}  // namespace bertft
