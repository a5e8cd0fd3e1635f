// All tasks by name: one line each in registry.cpp.
#pragma once

#include <memory>
#include <string>

#include "tasks/task.h"

namespace bertft {

// Throws ConfigError for a name that is not registered and for label settings that cannot be used.
std::unique_ptr<Task> make_task(const std::string& name, const TaskSettings& settings);

}  // namespace bertft
