#include "comm/coordinator/timeline.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>

#include "core/error.h"
#include "core/log.h"

namespace bertft {

namespace {

constexpr size_t kBlockBytes = 64 * 1024;
constexpr std::string_view kEnd = "\n]\n";

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

Timeline::Timeline(const std::string& path, int64_t start_us) : path_(path) {
  file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) {
    throw ResourceError(fmt::format("cannot write the timeline {}: {}; choose another place or leave comm.timeline off",
                                    path, std::strerror(errno)));
  }
  append(fmt::format(
      R"({{"name": "process_name", "ph": "M", "pid": 0, "args": {{"start_time_since_epoch_in_micros": {}}}}})",
      start_us));
  append(R"({"name": "process_sort_index", "ph": "M", "pid": 0, "args": {"sort_index": 0}})");
  flush();
}

Timeline::~Timeline() {
  flush();
  if (file_ >= 0) {
    ::close(file_);
  }
}

Timeline::Tensor& Timeline::find(const std::string& name) {
  const auto [place, is_new] = tensors_.try_emplace(name);
  Tensor& tensor = place->second;
  if (is_new) {
    tensor.process = static_cast<int>(tensors_.size());
    append(fmt::format(R"({{"name": "process_name", "ph": "M", "pid": {}, "args": {{"name": {}}}}})", tensor.process,
                       quoted(name)));
    append(fmt::format(R"({{"name": "process_sort_index", "ph": "M", "pid": {0}, "args": {{"sort_index": {0}}}}})",
                       tensor.process));
  }
  return tensor;
}

Timeline::Tensor& Timeline::expect(const std::string& name, State state) {
  Tensor& tensor = find(name);
  check(tensor.state == state, "an event of the timeline that does not fit the state of its tensor");
  return tensor;
}

void Timeline::negotiate_start(const std::string& tensor, double now_s) {
  Tensor& found = find(tensor);
  if (found.state == State::kNothing) {
    event('B', found, "NEGOTIATE_ALLREDUCE", now_s);
    found.state = State::kNegotiating;
  }
}

void Timeline::negotiate_rank_ready(const std::string& tensor, int rank, double now_s) {
  const Tensor& found = find(tensor);
  if (found.state == State::kNegotiating) {
    event('X', found, std::to_string(rank), now_s, R"(, "dur": 0)");
  }
}

void Timeline::negotiate_end(const std::string& tensor, double now_s) {
  Tensor& found = find(tensor);
  if (found.state == State::kNegotiating) {
    event('E', found, {}, now_s);
    found.state = State::kNothing;
  }
}

void Timeline::start(const std::string& tensor, double now_s) {
  Tensor& found = expect(tensor, State::kNothing);
  event('B', found, "ALLREDUCE", now_s);
  found.state = State::kReducing;
}

void Timeline::activity_start(const std::string& tensor, std::string_view activity, double now_s) {
  Tensor& found = expect(tensor, State::kReducing);
  event('B', found, activity, now_s);
  found.state = State::kInActivity;
}

void Timeline::activity_end(const std::string& tensor, double now_s) {
  Tensor& found = expect(tensor, State::kInActivity);
  event('E', found, {}, now_s);
  found.state = State::kReducing;
}

void Timeline::end(const std::string& tensor, const TensorTraits& traits, double now_s) {
  if (find(tensor).state == State::kInActivity) {
    activity_end(tensor, now_s);
  }
  Tensor& found = expect(tensor, State::kReducing);
  event(
      'E', found, {}, now_s,
      fmt::format(R"(, "args": {{"dtype": "{}", "shape": "{}"}})", name_of(traits.type), text_of_shape(traits.shape)));
  found.state = State::kNothing;
}

void Timeline::mark_cycle(double now_s) {
  append(fmt::format(R"({{"ph": "i", "name": "CYCLE_START", "ts": {}, "pid": 0, "tid": 0, "s": "g"}})",
                     microseconds(now_s)));
}

void Timeline::event(char phase, const Tensor& tensor, std::string_view name, double now_s, const std::string& more) {
  const std::string named = name.empty() ? std::string() : fmt::format(R"(, "name": {})", quoted(name));
  append(fmt::format(R"({{"ph": "{}"{}, "ts": {}, "pid": {}, "tid": 0{}}})", phase, named, microseconds(now_s),
                     tensor.process, more));
}

void Timeline::append(std::string_view record) {
  pending_ += is_first_ ? "[\n" : ",\n";
  is_first_ = false;
  pending_ += record;
  if (pending_.size() >= kBlockBytes) {
    flush();
  }
}

void Timeline::flush() {
  if (file_ < 0 || pending_.empty()) {
    pending_.clear();
    return;
  }
  const auto records = static_cast<int64_t>(pending_.size());
  pending_ += kEnd;
  size_t done = 0;
  while (done < pending_.size()) {
    const ssize_t bytes = ::pwrite(file_, pending_.data() + done, pending_.size() - done,
                                   static_cast<off_t>(written_ + static_cast<int64_t>(done)));
    if (bytes < 0 && errno == EINTR) {
      continue;
    }
    if (bytes <= 0) {
      log::warn(fmt::format("the timeline {} ends here: {}", path_, std::strerror(errno)));
      ::close(file_);
      file_ = -1;
      break;
    }
    done += static_cast<size_t>(bytes);
  }
  written_ += records;
  pending_.clear();
}

}  // namespace bertft
