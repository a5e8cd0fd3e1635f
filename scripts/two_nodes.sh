#!/usr/bin/env bash
# Trains on two nodes that are made of this machine: two network namespaces with host names of their own (node-a, node-b)
# and a virtual cable between them; one mpirun across both; one folder mounted into both, as a NAS would be.
#   scripts/two_nodes.sh [OPTIONS] [ARGUMENTS OF bert_finetune]
#   --command NAME   of bert_finetune: train, check (train)
#   --config FILE    the job (configs/two_nodes.yaml on data/en, with .deps/minilm or else a small random checkpoint)
#   --ranks N        processes on each node (2)
#   --comm MODE      aiacc or horovod
#   --rate RATE      limits the cable, each way, for example to 1gbit
#   --shared FOLDER  stands in for the NAS and is kept; mounted at $BERTFT_NAS in both nodes (a temporary one)
#   --program FILE   the executable (build/release/bert_finetune, else build/quick/bert_finetune)
#   --in-b COMMAND   what the shell of node-b runs before the job, such as: umount "$BERTFT_NAS"
#   --env NAME       hands this variable of the environment to all processes; may be repeated
#   --keep           leaves nodes and folder as they are at the end, and says how to remove them
# At the end it prints what each node sent over the cable. Several may run at once. Needs root: where namespaces are not
# allowed it prints "SKIPPED: reason" and exits with 77. Else exit code: that of the job; 1 when nothing used the cable.
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)

say() { printf 'two_nodes.sh: %s\n' "$*" >&2; }
refuse() { say "$*"; exit 2; }
skip() { echo "SKIPPED: two_nodes.sh: $*"; exit 77; }

config=
ranks=2
rate=
shared=
program=
command=train
in_b=
keep=false
variables=(-x BERTFT_NAS)
arguments=()
while (($#)); do
  case "$1" in
    -h|--help) sed -n '2,16p' "$0"; exit 0 ;;
    --keep) keep=true; shift; continue ;;
    --command|--in-b|--config|--ranks|--comm|--rate|--shared|--program|--env) (($# > 1)) || refuse "$1 needs a value" ;;
    *) arguments+=("$1"); shift; continue ;;
  esac
  case "$1" in
    --command) command=$2 ;;
    --in-b) in_b=$2 ;;
    --config) config=$2 ;;
    --ranks) ranks=$2 ;;
    --comm) arguments+=("--comm=$2") ;;
    --rate) rate=$2 ;;
    --shared) shared=$2 ;;
    --program) program=$2 ;;
    --env) variables+=(-x "$2") ;;
  esac
  shift 2
done
[[ $ranks =~ ^[1-9][0-9]*$ ]] || refuse "--ranks '$ranks' is not a number from 1"
if [ -z "$program" ]; then
  for program in "$repository"/build/{release,quick}/bert_finetune; do [ -x "$program" ] && break; done
fi
[ -x "$program" ] || refuse "there is no executable $program; scripts/build.sh makes it"
program=$(realpath "$program")

[ "$(id -u)" = 0 ] || skip "network namespaces need root"
for tool in ip nsenter unshare setpriv setsid mount mpirun; do
  command -v "$tool" >/dev/null || skip "there is no $tool (scripts/setup.sh installs iproute2 and openmpi-bin; the others are in util-linux)"
done
[ -z "$rate" ] || command -v tc >/dev/null || skip "--rate needs tc (package iproute2)"

work=$(mktemp -d "${TMPDIR:-/tmp}/bert_finetune_two_nodes_XXXXXX")
export BERTFT_NAS=$work/nas
network=10.77.0.0/24
declare -A node       # a process that keeps the namespaces of each node
declare -A namespace  # the number of its network namespace
job=

processes_in() {  # a network namespace
  find /proc/[0-9]*/ns/net -maxdepth 0 -lname "net:?$1?" 2>/dev/null | cut -d/ -f3 || true
}

clean_up() {
  local code=$? name pids
  trap '' EXIT INT TERM HUP
  if $keep && [ "${#node[@]}" = 2 ]; then
    say "kept: folder $work, node-a is process ${node[a]}, node-b is process ${node[b]}; to remove them: kill ${node[a]} ${node[b]}; rm -r $work"
    exit "$code"
  fi
  for name in "${!namespace[@]}"; do
    pids=$(processes_in "${namespace[$name]}")
    if [ -n "$pids" ]; then kill -KILL $pids 2>/dev/null || true; fi
  done
  wait 2>/dev/null || true
  rm -rf "$work"
  exit "$code"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

in_node() { local name=$1; shift; nsenter --target "${node[$name]}" --net --uts --mount --wd="$PWD" -- "$@"; }

# A node dies with this script, whatever ends it, unless it is to be kept.
start_node() {
  local name=$1 dies=(setpriv --pdeathsig KILL)
  if $keep; then dies=(); fi
  "${dies[@]}" setsid unshare --net --uts --mount --propagation private \
    sh -c 'hostname "$1" && : >"$2" && exec sleep infinity' sh "node-$name" "$work/$name.up" </dev/null >/dev/null 2>"$work/$name.log" &
  local pid=$!
  until [ -e "$work/$name.up" ]; do
    kill -0 "$pid" 2>/dev/null || skip "namespaces are not allowed here: $(head -n 1 "$work/$name.log")"
    sleep 0.02
  done
  node[$name]=$pid
  namespace[$name]=$(readlink "/proc/$pid/ns/net" | tr -dc 0-9)
}

set_up_node() {
  local name=$1 address=$2
  mkdir -p "$work/tmp-$name"
  in_node "$name" sh -euc '
    ip link set lo up
    ip address add "$1" dev eth0
    ip link set eth0 up
    mount --bind "$2/hosts" /etc/hosts
    mount --bind "$3" "$2/nas"
    umount --lazy /sys 2>/dev/null && mount -t sysfs sysfs /sys || true  # shows the interfaces of the node
    if [ -n "$4" ]; then tc qdisc add dev eth0 root tbf rate "$4" burst 1mb latency 50ms; fi
  ' sh "$address" "$work" "$shared" "$rate" || return 1
}

# How mpirun starts its daemon on the other node: AGENT HOST COMMAND...
write_agent() {
  cat >"$work/agent" <<AGENT
#!/bin/sh
host=\$1
shift
[ "\$host" = node-b ] || { echo "two_nodes.sh: there is no node \$host" >&2; exit 1; }
TMPDIR=$work/tmp-b exec nsenter --target ${node[b]} --net --uts --mount --wd=/ -- /bin/sh -c "\$*"
AGENT
  chmod +x "$work/agent"
}

# The folder that configs/two_nodes.yaml wants; what is there already stays.
fill_shared() {
  mkdir -p "$shared/data"
  cp -n "$repository"/data/en/*.tsv "$shared/data/"
  [ -e "$shared/checkpoint" ] && return
  if [ -e "$repository/.deps/minilm/model.safetensors" ]; then
    cp -rL "$repository/.deps/minilm" "$shared/checkpoint"
  else
    { printf '%s\n' '[PAD]' '[UNK]' '[CLS]' '[SEP]' '[MASK]' '##'{a..z}
      cut -f 2 "$shared/data/train.tsv" | tr -cs '[:alnum:]' '\n' | tr '[:upper:]' '[:lower:]' | cat - <(printf '%s\n' {a..z}) | sort -u | grep .; } >"$work/vocab.txt"
    "$program" init --family bert --size tiny --vocab "$work/vocab.txt" --output "$shared/checkpoint" 2>/dev/null
  fi
}

sent_by() { awk '$1 == "eth0:" { print $10 }' "/proc/${node[$1]}/net/dev"; }

shared=${shared:-$work/shared}
mkdir -p "$shared" "$work/nas"
shared=$(realpath "$shared")
if [ -z "$config" ]; then
  config=$repository/configs/two_nodes.yaml
  fill_shared
fi
printf '127.0.0.1 localhost\n10.77.0.1 node-a\n10.77.0.2 node-b\n' >"$work/hosts"
printf 'node-a slots=%s\nnode-b slots=%s\n' "$ranks" "$ranks" >"$work/hostfile"

start_node a
start_node b
ip link add eth0 netns "${node[a]}" type veth peer name eth0 netns "${node[b]}" 2>"$work/link.log" ||
  skip "a pair of virtual interfaces cannot be made here: $(head -n 1 "$work/link.log")"
set_up_node a 10.77.0.1/24 2>"$work/node.log" && set_up_node b 10.77.0.2/24 2>"$work/node.log" ||
  skip "a node cannot be set up here: $(head -n 1 "$work/node.log")"
[ -z "$in_b" ] || in_node b sh -euc "$in_b" || { say "--in-b failed: $in_b"; exit 1; }
write_agent
say "nodes: node-a (process ${node[a]}, 10.77.0.1), node-b (process ${node[b]}, 10.77.0.2), $ranks ranks each, cable eth0${rate:+ at $rate}; to enter one: nsenter --net --uts --mount --target PROCESS"
before_a=$(sent_by a)
before_b=$(sent_by b)

mkfifo "$work/pipe"
setsid tee "$work/output" <"$work/pipe" >&2 &
listener=$!
TMPDIR=$work/tmp-a setpriv --pdeathsig TERM setsid nsenter --target "${node[a]}" --net --uts --mount --wd="$PWD" -- \
  "$repository/scripts/launch_mpi.sh" --hosts "$work/hostfile" --network "$network" \
  --mca plm_rsh_agent "$work/agent" --mca pml ob1 --mca btl tcp,self,vader "${variables[@]}" \
  "$program" "$command" --config "$(realpath "$config")" "${arguments[@]}" >"$work/pipe" 2>&1 &
job=$!
# The first signal asks the job to save and stop, the second ends all at once.
stop() {
  was_interrupted=true
  kill -TERM "$job" 2>/dev/null || true
  trap 'exit 143' INT TERM HUP
}
trap stop INT TERM HUP
was_interrupted=true
while $was_interrupted; do
  was_interrupted=false
  code=0
  wait "$job" || code=$?
done
# A node that the job has lost may run its daemon on, which keeps the output open.
for _ in {1..50}; do kill -0 "$listener" 2>/dev/null || break; sleep 0.1; done
if kill -0 "$listener" 2>/dev/null; then
  for name in "${!namespace[@]}"; do
    for pid in $(processes_in "${namespace[$name]}"); do
      [ "$pid" = "${node[$name]}" ] || kill -KILL "$pid" 2>/dev/null || true
    done
  done
fi
wait "$listener" || true

sent_a=$(($(sent_by a) - before_a))
sent_b=$(($(sent_by b) - before_b))
steps=$(grep -Eo '(^done: [0-9]+ steps|stopped after step [0-9]+)' "$work/output" | grep -Eo '[0-9]+' | tail -n 1 || true)
if [ -n "$steps" ] && ((steps > 0)); then
  per_step="; $steps steps: $((sent_a / steps)) and $((sent_b / steps)) bytes a step, start-up and evaluation included"
fi
say "cable: node-a sent $sent_a bytes, node-b $sent_b${per_step:-}"
if [ "$code" = 0 ] && [ "$command" = train ] && ((sent_a < 65536 || sent_b < 65536)); then
  say "the job ended well, but its ranks did not talk over the cable"
  code=1
fi
exit "$code"
