#!/usr/bin/env bash
# Starts a program as many processes with mpirun, so that a signal to this script stops them with their state saved:
#   scripts/launch_mpi.sh [--hosts FILE] [--network NET] [OPTIONS OF MPIRUN] PROGRAM [ARGUMENTS]
#   --hosts FILE     the hosts, one a line: NAME slots=PROCESSES; without it, what the batch system gave, or this machine
#   --network NET    what connects the nodes: networks (10.1.0.0/16) or interfaces, comma-separated. MPI uses only these,
#                    and the processes see NET as BERTFT_NETWORK (for comm.interface: ${BERTFT_NETWORK})
# Processes are not bound to cores unless the options of mpirun say otherwise; as root it adds --allow-run-as-root.
# SIGTERM and SIGINT become SIGUSR2, which mpirun hands to all processes: they save, and the job ends with exit code 7.
# A second SIGINT ends the job at once. Exit code: that of mpirun; 2 when it cannot be started, 4 when another host is lost.
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
# A node that is cut off: the ranks notice it within 10 s and say so in their logs. Only then may mpirun, since it kills
# them; without these options it would not for a quarter of an hour.
[[ $given == *oob_tcp_keepalive* ]] || options+=(--mca oob_tcp_keepalive_time 10 --mca oob_tcp_keepalive_intvl 2 --mca oob_tcp_keepalive_probes 5)
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

# Whether another host does not acknowledge what mpirun has sent it, over and over again: then its keepalive has no effect
# and Linux gives up after a quarter of an hour.
has_silent_host() {
  local sockets
  sockets=$(find /proc/"$job"/fd -lname 'socket:*' -printf '%l ' 2>/dev/null | tr -dc '0-9 ')
  cat /proc/"$job"/net/tcp /proc/"$job"/net/tcp6 2>/dev/null |
    awk -v sockets="$sockets" 'BEGIN { split(sockets, list, " "); for (i in list) own[list[i]] }
      $4 == "01" && $7 != "00000000" && $10 in own { found = 1 } END { exit !found }'
}

# mpirun cannot end while it waits for the daemon of a host that is lost.
end_late_mpirun() {
  local waited=0 silent=0 has_seen=false reason=
  while sleep 2 >/dev/null 2>&1 && kill -0 "$job" 2>/dev/null; do
    if has_local_ranks; then
      has_seen=true
      waited=0
    elif $has_seen; then
      waited=$((waited + 2))
    fi
    if has_silent_host; then silent=$((silent + 2)); else silent=0; fi
    if ((silent >= 8)); then
      reason="a host does not answer mpirun any more"
    elif ((waited >= 30)); then
      reason="all processes on this host have ended, but mpirun still waits for another host"
    else
      continue
    fi
    say "$reason: ending it"
    echo yes >"$lost"
    if has_local_ranks; then  # else mpirun is ending already, and a signal would only make it crash
      kill -TERM "$job" 2>/dev/null
      sleep 2 >/dev/null 2>&1
    fi
    kill -KILL -- "-$job" 2>/dev/null
    return
  done
}
lost=$(mktemp "${TMPDIR:-/tmp}/launch_mpi_XXXXXX")  # not empty once the job was ended for a lost host
trap 'rm -f "$lost"' EXIT
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
  wait "$job" 2>/dev/null || code=$?
done
kill "$watcher" 2>/dev/null || true
if [ -s "$lost" ]; then code=4; fi
if [ "$code" = 7 ]; then say "the state is saved; the same command with --resume goes on"; fi
exit "$code"
