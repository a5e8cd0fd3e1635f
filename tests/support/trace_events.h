// Reads a trace in the Chrome format as its viewers do, and checks what they rely on: begins and ends match, time goes
// on.
#pragma once

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/test.h"

namespace bertft::test {

inline nlohmann::json read_trace(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return nlohmann::json::parse(text.str());
}

// The events of one thread of the trace, as "B NEGOTIATE_ALLREDUCE", "X 2", "E".
using Story = std::vector<std::string>;

struct Trace {
  std::map<std::string, Story> tensors;  // every process but 0, by name
  std::map<std::string, Story> threads;  // those of process 0, by name
  int cycles = 0;                        // marks of the coordinator
};

// `is_whole`: the job ended well, so everything that began has ended.
inline Trace parse_trace(const std::string& path, bool is_whole = true) {
  std::map<int, std::string> processes, threads;
  std::map<std::pair<int, int>, int> depth;
  std::map<std::pair<int, int>, int64_t> last;
  Trace trace;
  for (const nlohmann::json& event : read_trace(path)) {
    const std::string phase = event.at("ph");
    const int process = event.at("pid");
    const auto name = [&] { return event.contains("name") ? " " + event.at("name").get<std::string>() : ""; };
    if (phase == "M") {
      if (event.at("name") == "process_name") processes[process] = event.at("args").value("name", "");
      if (event.at("name") == "thread_name") threads[event.at("tid")] = event.at("args").at("name");
      continue;
    }
    if (phase == "i") {
      ++trace.cycles;
      continue;
    }
    const std::pair<int, int> place = {process, event.at("tid")};
    CHECK(event.at("ts").get<int64_t>() >= last[place]);
    last[place] = event.at("ts");
    depth[place] += phase == "B" ? 1 : phase == "E" ? -1 : 0;
    CHECK(depth[place] >= 0);
    Story& story = process == 0 ? trace.threads[threads.at(place.second)] : trace.tensors[processes.at(process)];
    story.push_back(phase + name());
  }
  for (const auto& [place, open] : depth) CHECK((open == 0 || !is_whole));
  return trace;
}

}  // namespace bertft::test
