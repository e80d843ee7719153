# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# What run.sh and long.sh print: one row for each test with its seconds, and a last line that counts the rows. What a test
# printed is kept in out/. The file `times` has the rows' seconds, and the seconds of all cores together.

passed=0
failed=0
skipped=0
failures=/dev/null # begin_times gives it a file

# row RESULT NAME: counts and prints one line.
row () {
  case $1 in
    ok) passed=$((passed + 1)) ;;
    SKIP) skipped=$((skipped + 1)) ;;
    *)
      failed=$((failed + 1))
      printf '%-4s %s\n' "$1" "$2" >>"$failures"
      ;;
  esac
  printf '%-4s %s\n' "$1" "$2"
}

# finish: what failed once more, since the rows may be far above, and the last line.
finish () {
  [ "$failed" = 0 ] || cat "$failures"
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ] || exit 1
  exit 0
}

# begin_times FILE: the file that the times go to. Beside it, FILE.failures has the rows that failed.
begin_times () {
  times=$1
  failures=$1.failures
  : >"$failures"
  echo "# seconds, seconds of all cores, row" >"$times"
}

times=/dev/null

# Writes the time, and the seconds of all programs that have ended, into out/now. Not for a subshell, which has none of them.
now () {
  { date +%s.%N && times; } >out/now
}

# start: notes when a row begins.
start () {
  now
  mv out/now out/start
}

# took NAME: how long the row took, as in "1.3 s"; the file of times gets a line.
took () {
  cat out/start out/now | awk -v name="$1" -v file="$times" '
    function seconds(text) { split(text, part, "m"); return 60 * part[1] + part[2] }
    { wall[NR] = $1; cores[NR] = seconds($1) + seconds($2) }
    END {
      printf "%.1f %.1f %s\n", wall[4] - wall[1], cores[6] - cores[3], name >>file
      printf "%.1f s\n", wall[4] - wall[1]
    }'
}

# check NAME COMMAND...: a row from a command's exit status. Where the command fails, the end of its output is shown.
# Status 77 is a skip, and the last line of the output is the reason.
check () {
  name=$1
  shift
  log=out/test-$(echo "$name" | tr -c 'a-zA-Z0-9\n' '-').log
  start
  status=0
  ("$@") >"$log" 2>&1 </dev/null || status=$?
  now
  case $status in
    0) row ok "$name, $(took "$name")" ;;
    77)
      reason=$(tail -n 1 "$log")
      row SKIP "$name${reason:+: $reason}" ;;
    *)
      tail -n 40 "$log" | sed 's/^/     /' | tee -a "$failures"
      row FAIL "$name, $(took "$name") ($log)" ;;
  esac
}

# check_step NAME COMMAND...: a row for what everything after it needs; its output is shown as it comes.
check_step () {
  name=$1
  shift
  start
  status=0
  "$@" || status=1
  now
  if [ "$status" = 0 ]; then row ok "$name, $(took "$name")"; else row FAIL "$name, $(took "$name")"; fi
  return "$status"
}
