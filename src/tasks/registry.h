// All tasks by name: one line each in registry.cpp.
#pragma once

#include <memory>
#include <string>

#include "data/labels.h"
#include "tasks/task.h"

namespace bertft {

// Throws ConfigError for a name that is not registered.
std::unique_ptr<Task> make_task(const std::string& name, LabelTable labels);

}  // namespace bertft
