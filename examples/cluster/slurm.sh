#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Convolves a film on a Slurm cluster: slurm.sh INPUT FOLDER OUTPUT.mkv [OPTION...] [PROPERTY=VALUE...]
#
# Options are those of `film.py plan`. The script plans, submits an array with a task for each piece that is missing, and a
# task that joins the pieces. Run again after any failure, the script submits what is missing then; while tasks of the folder are in
# the queue, nothing is submitted.
#
#   SLURM_ARRAY_OPTIONS="--gres=gpu:1 --cpus-per-task=4"   of the tasks that make pieces, as sbatch takes them
#   SLURM_SECOND_OPTIONS="--partition=cpu"                 a second array, over the same pieces: each piece is made by the
#                                                          task that comes first, and the other task ends at once
#   SLURM_JOIN_OPTIONS="--cpus-per-task=2"                 of the task that joins
#   AT_ONCE=500                                            tasks of an array at a time
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 3 ] || { sed -n '3,14s/^# \{0,1\}//p' "$0" >&2; exit 2; }
input=$1 folder=$2 output=$3
shift 3
"$here/film.py" plan "$input" "$folder" "$@"
name=convolve-$("$here/film.py" status --key "$folder")
queued=$(squeue --noheader --name="$name" --format=%A)
[ -z "$queued" ] || { echo "$folder: its tasks are in the queue already: squeue --name=$name"; exit 0; }

# submit OPTIONS...: prints the number of the job. Logs are added to, so that the tries before stay in them.
submit () {
  sbatch --parsable --job-name="$name" --open-mode=append "$@"
}

missing=$("$here/film.py" status --list "$folder")
# A piece that fails is tried again at once, and then the task goes back to the queue, for another node. Exit status 75 says
# that another task makes the piece.
task="$here/film.py piece --tries=3 '$folder' \$SLURM_ARRAY_TASK_ID || [ \$? = 75 ] ||
  { [ \${SLURM_RESTART_COUNT:-0} -lt 3 ] && scontrol requeue \$SLURM_JOB_ID; exit 1; }"
after=
for options in "${SLURM_ARRAY_OPTIONS:---cpus-per-task=1}" "${SLURM_SECOND_OPTIONS:-}"; do
  if [ -z "$missing" ] || [ -z "$options" ]; then continue; fi
  # shellcheck disable=SC2086 # options are words
  after=$after:$(submit --array="$missing%${AT_ONCE:-500}" --requeue --output="$folder/slurm-%a.log" $options --wrap="$task")
done
# shellcheck disable=SC2086
submit ${after:+--dependency=afterany$after} ${SLURM_JOIN_OPTIONS:-} --output="$folder/slurm-join.log" \
  --wrap="$here/film.py join '$folder' '$output'"
