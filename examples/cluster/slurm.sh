#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Convolves a film on a Slurm cluster: slurm.sh INPUT FOLDER OUTPUT.mkv [OPTION...] [PROPERTY=VALUE...]
#
# Options are those of `film.py plan`. The script plans, submits one array task for each piece that is missing, and a task that joins
# the pieces afterwards. Run again after any failure, it submits what is still missing; tasks that run already are not
# doubled, because one task at a time works on a piece.
#
#   SLURM_ARRAY_OPTIONS="--gres=gpu:1 --cpus-per-task=4"   of the tasks that make pieces, as sbatch takes them
#   SLURM_JOIN_OPTIONS="--cpus-per-task=2"                 of the task that joins
#   AT_ONCE=500                                            tasks at a time
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 3 ] || { sed -n '3,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
input=$1 folder=$2 output=$3
shift 3
"$here/film.py" plan "$input" "$folder" "$@"
missing=$("$here/film.py" status --list "$folder")
name=convolve-$("$here/film.py" status --key "$folder")
if [ -n "$(squeue --noheader --name="$name" --states=PENDING,RUNNING 2>/dev/null)" ]; then
  echo "$folder: its tasks are in the queue already: squeue --name=$name"
  exit 0
fi
after=
if [ -n "$missing" ]; then
  # A task that fails, or whose node fails, is tried again by --requeue and by the loop in the task.
  # shellcheck disable=SC2086 # options are words
  job=$(sbatch --parsable --job-name="$name" --array="$missing%${AT_ONCE:-500}" --requeue --output="$folder/slurm-%a.log" --open-mode=append \
    ${SLURM_ARRAY_OPTIONS:-} --wrap="$here/film.py piece --tries=3 '$folder' \$SLURM_ARRAY_TASK_ID")
  after=--dependency=afterany:$job
fi
# shellcheck disable=SC2086
sbatch --parsable --job-name="$name" $after ${SLURM_JOIN_OPTIONS:-} --output="$folder/slurm-join.log" --open-mode=append \
  --wrap="$here/film.py join '$folder' '$output'"
