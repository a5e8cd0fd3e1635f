// The rules of the decentral negotiation that can be switched off one by one, so that tests can show what each is for:
// without it the exploration finds a counterexample. Nothing but tests passes anything other than the defaults.
#pragma once

namespace bertft {

struct DecentralRules {
  bool growth_is_tested_after_rounds = true;  // not only when a unit becomes ready
  bool snapshot_is_taken_once = true;         // one contribution a round, not one a phase
  bool later_rounds_wait = true;              // their messages are kept
  bool later_steps_wait = true;               // for step_begin, not only for the end of the step before
  bool flags_start_no_rounds = true;
  bool verdict_is_what_was_agreed = true;  // not what this rank knows of itself
  bool acted_flags_are_cleared = true;
  bool unacted_flags_stay = true;
  bool shared_words_carry_the_step = true;
  bool two_result_slots = true;
};

}  // namespace bertft
