#!/usr/bin/env bash
# Builds the tests of the communicator with a sanitizer, runs them, and writes what they found to
# benchmarks/results/DATE-sanitizers.md.
#   scripts/sanitize.sh [thread|address]...   (both)
# thread: ThreadSanitizer; address: AddressSanitizer with UndefinedBehaviorSanitizer. Each has a build folder of its own,
# build/sanitize-KIND, which keeps the log of the tests. LibTorch is neither built nor linked. Exit code 1 when a test
# fails or a sanitizer finds something.
set -euo pipefail
cd "$(dirname "$0")/.."
kinds=("$@")
((${#kinds[@]})) || kinds=(thread address)

# What the threads of a race did before is kept for this many steps; forked ranks start threads of their own.
export TSAN_OPTIONS="halt_on_error=0 die_after_fork=0 second_deadlock_stack=1 history_size=4 ${TSAN_OPTIONS:-}"
export ASAN_OPTIONS="detect_leaks=1 halt_on_error=1 ${ASAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1 ${UBSAN_OPTIONS:-}"

has_failed=false
for kind in "${kinds[@]}"; do
  case "$kind" in
    thread) flags=thread; name="ThreadSanitizer" ;;
    address) flags=address,undefined; name="AddressSanitizer, UndefinedBehaviorSanitizer" ;;
    -h|--help) sed -n '2,8p' "$0"; exit 0 ;;
    *) echo "sanitize.sh: '$kind' is unknown; known: thread, address" >&2; exit 2 ;;
  esac
  folder=build/sanitize-$kind
  cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" -DBERTFT_SANITIZE="$flags" >/dev/null
  ninja -C "$folder" unit_comm
  test=$(find "$folder" -name unit_comm -type f -perm -u+x)
  log=$folder/unit_comm.log
  code=0
  "$test" --durations no >"$log" 2>&1 || code=$?
  findings=$(grep -cE 'WARNING: ThreadSanitizer|ERROR: (Address|Leak)Sanitizer|runtime error:' "$log" || true)
  summary=$(grep -E '^(All tests passed|test cases:)' "$log" | tail -n 1 || true)
  cases=$("$test" --list-test-names-only | grep -c . || true)
  [ "$code" = 0 ] && [ "$findings" = 0 ] || has_failed=true
  row="| $name | $cases | ${summary:-none: the tests did not end} | $findings |"
  echo "$row" >"$folder/result"
  echo "$row"
  [ "$findings" = 0 ] || grep -E -A 12 -m 3 'WARNING: ThreadSanitizer|ERROR: (Address|Leak)Sanitizer|runtime error:' "$log"
  [ "$code" = 0 ] || echo "$test ended with $code; its log: $log"
done

commit=$(git describe --always --dirty 2>/dev/null || echo unknown)
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "build/sanitize-${kinds[0]}/CMakeCache.txt")
page=benchmarks/results/$(date +%F)-sanitizers.md
{
  echo "# The tests of the communicator under sanitizers"
  echo
  echo "\`scripts/sanitize.sh\`, $(date +%F), commit $commit, $("$compiler" --version | head -n 1), $(nproc) cores, $(uname -sr)."
  echo
  echo "All tests of \`tests/unit/comm\` that run without a launcher: threads as ranks, and forked processes."
  echo
  echo "| sanitizer | test cases | result | findings |"
  echo "| --- | --- | --- | --- |"
  cat build/sanitize-{thread,address}/result 2>/dev/null || true
  echo
  echo "No suppressions are in use."
} >"$page"
echo "$page"
! $has_failed
