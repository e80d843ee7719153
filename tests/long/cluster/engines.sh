# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154 # cluster.sh sets here, film, kills
# The parts slurm and ray of tests/long/cluster.sh.

# --- Slurm ---

# wait_for SECONDS COMMAND...: tries twice a second, until the command succeeds.
wait_for () {
  left=$(($1 * 2))
  shift
  until "$@" >/dev/null 2>&1; do
    left=$((left - 1))
    [ "$left" -gt 0 ] || { echo "waited in vain for: $*"; return 1; }
    sleep 0.5
  done
}

# Everything that the daemons write is in this folder. Paths of sockets have to be short.
slurm_configuration () {
  host=$(hostname -s)
  cat >"$slurm/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$slurm/munge.socket,cred_expire=5
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool.%n
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.%n.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,sched_interval=2,batch_sched_delay=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
GresTypes=gpu,shard
MinJobAge=600
ReturnToService=2
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=2 Gres=gpu:1,shard:2
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=1
PartitionName=all Nodes=n1,n2 Default=YES State=UP
PartitionName=gpu Nodes=n1 State=UP
PartitionName=cpu Nodes=n2 State=UP
END
  # A stand-in: tasks ask for a GPU, and find none.
  printf 'NodeName=n1 Name=gpu File=/dev/null\nNodeName=n1 Name=shard Count=2\n' >"$slurm/gres.conf"
}

start_slurm () {
  slurm=$(mktemp -d)
  port=$((20000 + $$ % 20000))
  mkdir "$slurm/state"
  chmod 755 "$slurm"
  slurm_configuration
  SLURM_CONF=$slurm/slurm.conf
  export SLURM_CONF
  head -c 128 /dev/urandom >"$slurm/munge.key"
  chmod 600 "$slurm/munge.key"
  # Each daemon stays in the foreground, so that its number is known here.
  munged --foreground --force --key-file="$slurm/munge.key" --socket="$slurm/munge.socket" --pid-file="$slurm/munged.pid" \
    --log-file="$slurm/munged.log" --seed-file="$slurm/munged.seed" >"$slurm/munged.out" 2>&1 &
  daemons=$!
  wait_for 20 test -S "$slurm/munge.socket" || return 1
  slurmctld -D -i >"$slurm/slurmctld.out" 2>&1 &
  daemons="$daemons $!"
  for node in n1 n2; do
    slurmd -D -N "$node" >"$slurm/slurmd.$node.out" 2>&1 &
    daemons="$! $daemons"
  done
  wait_for 60 both_idle || { tail -n 20 "$slurm"/*.log; return 1; }
}

both_idle () {
  [ "$(sinfo --noheader --Node --partition=all --format=%t | sort | uniq -c | tr -s ' ')" = " 2 idle" ]
}

stop_slurm () {
  scancel --user="$(id -un)" 2>/dev/null || true
  sleep 1
  # shellcheck disable=SC2086 # a list of numbers
  kill $daemons 2>/dev/null || true
  wait
  cp "$slurm"/*.log "$here" 2>/dev/null || true
  rm -rf "$slurm"
}

queue_empty () {
  [ -z "$(squeue --noheader)" ]
}

# submit FOLDER: runs slurm.sh.
slurm_film () {
  sh examples/cluster/slurm.sh "$film" "$1" "$1.mkv" --seconds=1 sigma=2
}

some_pieces () {
  [ "$(find "$1" -name '*.mkv.json' | wc -l)" -ge "$2" ]
}

# made_once FOLDER: the logs have each piece once, however many workers were killed.
made_once () {
  number=$(cat "$1"/slurm-[0-9]*.log | grep -c ' frames, .* s: decoding')
  echo "$number pieces made, $(pieces_of "$1") pieces in the plan; there already: $(cat "$1"/slurm-[0-9]*.log | grep -c 'there already')," \
    "another process makes this piece: $(cat "$1"/slurm-[0-9]*.log | grep -c 'another process')," \
    "tries that were killed: $(cat "$1"/slurm-[0-9]*.log | grep -c 'was killed')"
  [ "$number" = "$(pieces_of "$1")" ]
}

# until_joined FOLDER: waits for the queue, and submits again what failed.
until_joined () {
  for _ in 1 2 3 4; do
    wait_for 900 queue_empty || return 1
    [ ! -s "$1.mkv" ] || return 0
    echo "not joined: $(tail -n 1 "$1/slurm-join.log"); submitted again"
    slurm_film "$1" || return 1
  done
  return 1
}

slurm_runs () {
  folder=$here/slurm
  killable_worker "$here/slurm-killer"
  killer "$here/slurm-killer" "$kills" &
  slurm_film "$folder" &
  slurm_film "$folder" && wait "$!" || return 1
  slurm_film "$folder" | grep 'in the queue already' || return 1
  wait_for 300 some_pieces "$folder" 3 || return 1
  scontrol update NodeName=n2 State=DRAIN Reason=test && echo "n2 is drained with $("$cluster_film" status "$folder" || true)"
  until_joined "$folder" || return 1
  scontrol update NodeName=n2 State=RESUME
  touch "$here/slurm-killer/stop"
  killed_enough "$here/slurm-killer" && made_once "$folder" && result "$folder" || return 1
  slurm_film "$folder" && wait_for 300 queue_empty && tail -n 1 "$folder/slurm-join.log" | grep 'there already' &&
    made_once "$folder" || return 1
  # A GPU for two tasks at a time, and a second array on the node without one.
  unset CONVOLVE_SEGMENT
  folder=$here/slurm-two
  SLURM_ARRAY_OPTIONS="--partition=gpu --gres=shard:1" SLURM_SECOND_OPTIONS="--partition=cpu" slurm_film "$folder" || return 1
  until_joined "$folder" && made_once "$folder" && result "$folder"
}

slurm_part () {
  cluster_needs && long_film || return
  [ "$(id -u)" = 0 ] || { echo "only root can run the daemons of Slurm"; return 77; }
  need_packages munge slurmctld slurmd slurm-client || return
  rm -rf "$here/slurm" "$here/slurm".* "$here/slurm-two" "$here/slurm-two".* "$here/slurm-killer"
  trap stop_slurm EXIT
  start_slurm && slurm_runs
}

# --- Ray ---

ray_run () {
  RAY_TMPDIR=$ray_folder RAY_USAGE_STATS_ENABLED=0 "$ray_python" examples/cluster/ray_film.py "$@"
}

ray_part () {
  cluster_needs && long_film || return
  ray_python=${RAY:-$top/out/ray}/bin/python
  [ -x "$ray_python" ] || { python3 -m venv "$top/out/ray" && "$top/out/ray/bin/pip" install -q 'ray[data]'; } ||
    { echo "Ray cannot be installed here"; return 77; }
  folder=$here/ray
  rm -rf "$folder" "$folder".* "$here/ray-killer"
  ray_folder=$(mktemp -d)
  trap 'touch "$here/ray-killer/stop"; rm -rf "$ray_folder"' EXIT
  killable_worker "$here/ray-killer"
  "$cluster_film" plan "$film" "$folder" --seconds=1 sigma=2 || return 1
  killer "$here/ray-killer" "$kills" &
  # Two coordinators, each with a Ray of its own.
  ray_run "$folder" --tries=2 >"$here/ray-1.log" 2>&1 &
  ray_run "$folder" --tries=2 >"$here/ray-2.log" 2>&1 || true
  wait "$!" || true
  tail -n 1 "$here/ray-1.log"
  tail -n 1 "$here/ray-2.log"
  for _ in 1 2 3 4; do
    ! "$cluster_film" status "$folder" || break
    ray_run "$folder" --tries=2 >"$here/ray-3.log" 2>&1 || true
    tail -n 1 "$here/ray-3.log"
  done
  touch "$here/ray-killer/stop"
  killed_enough "$here/ray-killer" && result "$folder" && ray_run "$folder" | grep 'nothing is missing'
}
