#!/usr/bin/env bash
# Starts a program as many processes with mpirun, so that a signal to this script stops them with their state saved:
#   scripts/launch_mpi.sh [--hosts FILE] [--network NET] [OPTIONS OF MPIRUN] PROGRAM [ARGUMENTS]
#   --hosts FILE     the hosts, one a line: NAME slots=PROCESSES; without it, what the batch system gave, or this machine
#   --network NET    what connects the nodes: networks (10.1.0.0/16) or interfaces, comma-separated. MPI uses only these,
#                    and the processes see NET as BERTFT_NETWORK (for comm.interface: ${BERTFT_NETWORK})
# Processes are not bound to cores unless the options of mpirun say otherwise; as root it adds --allow-run-as-root.
# SIGTERM and SIGINT become SIGUSR2, which mpirun hands to all processes: they save, and the job ends with exit code 7.
# A second SIGINT ends the job at once. Exit code: that of mpirun; 2 when it cannot be started.
set -euo pipefail

say() { printf 'launch_mpi.sh: %s\n' "$*" >&2; }
refuse() { say "$*"; exit 2; }

hosts=
network=
while (($#)); do
  case "$1" in
    -h|--help) sed -n '2,9p' "$0"; exit 0 ;;
    --hosts|--network)
      (($# > 1)) || refuse "$1 needs a value"
      if [ "$1" = --hosts ]; then hosts=$2; else network=$2; fi
      shift 2 ;;
    *) break ;;
  esac
done
(($#)) || refuse "there is no program to start (launch_mpi.sh --help)"

for tool in mpirun setsid; do
  command -v "$tool" >/dev/null || refuse "there is no $tool on the PATH. mpirun comes with the package openmpi-bin (scripts/setup.sh), setsid with util-linux; every node needs the same Open MPI"
done
given=" $* ${OMPI_MCA_plm_rsh_agent:+plm_rsh_agent}"
options=()
if [ -n "$hosts" ]; then
  [ -r "$hosts" ] || refuse "--hosts $hosts: there is no such file, or it cannot be read"
  grep -Evq '^[[:space:]]*(#|$)' "$hosts" || refuse "--hosts $hosts: names no host; write lines like: node-a slots=8"
  [[ $given == *plm_rsh_agent* ]] || command -v ssh >/dev/null ||
    refuse "there is no ssh, with which mpirun starts the other nodes. Install openssh-client, or name another in OMPI_MCA_plm_rsh_agent"
  options+=(--hostfile "$hosts")
fi
if [ -n "$network" ]; then
  export BERTFT_NETWORK=$network
  options+=(--mca btl_tcp_if_include "$network" --mca oob_tcp_if_include "$network" -x BERTFT_NETWORK)
fi
# A node that is cut off is noticed, as by the communicator; else mpirun would wait for its daemon for a quarter of an hour.
[[ $given == *oob_tcp_keepalive* ]] || options+=(--mca oob_tcp_keepalive_time 1 --mca oob_tcp_keepalive_intvl 1 --mca oob_tcp_keepalive_probes 6)
[[ $given == *" --bind-to "* || $given == *" -bind-to "* ]] || options+=(--bind-to none)
if [ "$(id -u)" = 0 ] && [[ $given != *allow-run-as-root* ]]; then options+=(--allow-run-as-root); fi

# A session of its own: Ctrl-C at a terminal then reaches only this script.
setsid mpirun "${options[@]}" "$@" &
job=$!

# Whether a process of the job is left on this host: mpirun starts them itself here.
has_local_ranks() {
  local pid
  for pid in $(cat /proc/"$job"/task/*/children 2>/dev/null); do
    grep -qz '^OMPI_COMM_WORLD_RANK=' /proc/"$pid"/environ 2>/dev/null && return
  done
  return 1
}

# When a node is lost, Open MPI 4.1 now and then waits for its daemon for minutes after all processes have ended.
end_late_mpirun() {
  local waited=0 has_seen=false
  while sleep 2 >/dev/null 2>&1 && kill -0 "$job" 2>/dev/null; do
    if has_local_ranks; then
      has_seen=true
      waited=0
    elif $has_seen; then
      waited=$((waited + 2))
    fi
    ((waited >= 30)) || continue
    say "all processes on this host have ended, but mpirun still waits for another host: ending it"
    kill -TERM "$job" 2>/dev/null
    sleep 5 >/dev/null 2>&1
    kill -KILL -- "-$job" 2>/dev/null
    return
  done
}
end_late_mpirun &
watcher=$!

interrupts=0
repeats=false
stop() {
  was_interrupted=true
  [ "$1" = SIGINT ] && interrupts=$((interrupts + 1))
  if ((interrupts > 2)); then
    kill -KILL -- "-$job" 2>/dev/null || true
  elif ((interrupts > 1)); then
    say "SIGINT again: ending the job at once"
    kill -TERM "$job" 2>/dev/null || true
  else
    say "$1: asking all processes to save and stop"
    kill -USR2 "$job" 2>/dev/null || true
    # While mpirun starts it has no processes to hand a signal to and forgets it; later ones have no effect.
    $repeats || (while sleep 5 && kill -USR2 "$job"; do :; done) >/dev/null 2>&1 &
    repeats=true
  fi
}
trap '' PIPE  # whoever reads the output may be gone
trap 'stop SIGTERM' TERM
trap 'stop SIGINT' INT

# A trapped signal ends `wait` early.
was_interrupted=true
while $was_interrupted; do
  was_interrupted=false
  code=0
  wait "$job" || code=$?
done
kill "$watcher" 2>/dev/null || true
if [ "$code" = 7 ]; then say "the state is saved; the same command with --resume goes on"; fi
exit "$code"
