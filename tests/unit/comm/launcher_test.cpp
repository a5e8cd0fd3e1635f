// Whether a launcher started several processes, from the variables that launchers set.
#include "comm/launcher.h"

#include <map>
#include <memory>
#include <vector>

#include "core/error.h"
#include "tests/support/environment.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

using Variables = std::map<std::string, const char*>;

// All variables that matter, unset but for the given ones, for the length of a scope.
std::vector<std::unique_ptr<test::ScopedVariable>> environment(const Variables& variables) {
  std::vector<std::unique_ptr<test::ScopedVariable>> scopes;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "WORLD_SIZE", "SLURM_STEP_NUM_TASKS",
                           "SLURM_PROCID", "SLURM_NTASKS"}) {
    const auto found = variables.find(name);
    scopes.push_back(std::make_unique<test::ScopedVariable>(name, found == variables.end() ? nullptr : found->second));
  }
  return scopes;
}

TEST_CASE("The world's size is what the launcher says") {
  struct Case {
    Variables variables;
    int size;
    const char* variable;
  };
  const std::vector<Case> cases = {
      {{}, 1, ""},
      {{{"OMPI_COMM_WORLD_SIZE", "1"}}, 1, ""},
      {{{"OMPI_COMM_WORLD_SIZE", "4"}}, 4, "OMPI_COMM_WORLD_SIZE"},
      {{{"PMI_SIZE", "2"}}, 2, "PMI_SIZE"},
      {{{"PMIX_SIZE", "2"}}, 2, "PMIX_SIZE"},
      {{{"WORLD_SIZE", "8"}}, 8, "WORLD_SIZE"},
      {{{"OMPI_COMM_WORLD_SIZE", "4"}, {"WORLD_SIZE", "4"}}, 4, "OMPI_COMM_WORLD_SIZE"},
      {{{"WORLD_SIZE", ""}}, 1, ""},
      {{{"WORLD_SIZE", "many"}}, 1, ""},
      {{{"WORLD_SIZE", "-3"}}, 1, ""},
      // srun sets all of these; a batch script sees SLURM_NTASKS alone.
      {{{"SLURM_STEP_NUM_TASKS", "3"}, {"SLURM_PROCID", "0"}}, 3, "SLURM_STEP_NUM_TASKS"},
      {{{"SLURM_STEP_NUM_TASKS", "3"}}, 1, ""},
      {{{"SLURM_NTASKS", "3"}, {"SLURM_PROCID", "0"}}, 1, ""},
      {{{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}},
       2,
       "OMPI_COMM_WORLD_SIZE"},
  };
  for (const Case& c : cases) {
    const auto scopes = environment(c.variables);
    const LaunchedWorld world = launched_world();
    INFO((c.variables.empty() ? "nothing set" : c.variables.begin()->first));
    REQUIRE(world.size == c.size);
    REQUIRE(world.variable == c.variable);
  }
}

TEST_CASE("A process that a launcher started alone is told from one that nobody launched") {
  struct Case {
    Variables variables;
    bool is_launched;
  };
  const std::vector<Case> cases = {
      {{}, false},
      {{{"OMPI_COMM_WORLD_SIZE", "1"}}, true},
      {{{"PMIX_SIZE", "3"}}, true},
      {{{"WORLD_SIZE", ""}}, false},
      {{{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}}, true},
      {{{"SLURM_STEP_NUM_TASKS", "1"}}, false},
  };
  for (const Case& c : cases) {
    const auto scopes = environment(c.variables);
    INFO((c.variables.empty() ? "nothing set" : c.variables.begin()->first));
    REQUIRE(is_launched() == c.is_launched);
  }
}

TEST_CASE("More than one process is refused with what to do") {
  {
    const auto scopes = environment({{"OMPI_COMM_WORLD_SIZE", "4"}});
    const std::string message = test::error_text<ConfigError>([] { refuse_more_than_one_process("inspect"); });
    REQUIRE_THAT(message, Catch::Contains("one of 4 processes") && Catch::Contains("OMPI_COMM_WORLD_SIZE=4") &&
                              Catch::Contains("`inspect` runs as a single process") &&
                              Catch::Contains("Start it without the launcher"));
  }
  const auto scopes = environment({{"OMPI_COMM_WORLD_SIZE", "1"}});
  REQUIRE_NOTHROW(refuse_more_than_one_process("inspect"));
}

}  // namespace
}  // namespace bertft
