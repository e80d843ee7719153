# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# What run.sh and long.sh print: one row for each test with its seconds, and a last line that counts the rows. What a test
# printed is kept in out/.

passed=0
failed=0
skipped=0

# row RESULT NAME: counts and prints one line.
row () {
  case $1 in
    ok) passed=$((passed + 1)) ;;
    SKIP) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)) ;;
  esac
  printf '%-4s %s\n' "$1" "$2"
}

finish () {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ] || exit 1
  exit 0
}

now () {
  date +%s.%N
}

# since TIME: the seconds from that time until now, as in "1.3 s".
since () {
  printf '%s %s\n' "$1" "$(now)" | awk '{ printf "%.1f s\n", $2 - $1 }'
}

# check NAME COMMAND...: a row from a command's exit status. Where the command fails, the end of its output is shown.
# Status 77 is a skip, and the last line of the output is the reason.
check () {
  name=$1
  shift
  log=out/test-$(echo "$name" | tr -c 'a-zA-Z0-9\n' '-').log
  start=$(now)
  status=0
  ("$@") >"$log" 2>&1 </dev/null || status=$?
  case $status in
    0) row ok "$name, $(since "$start")" ;;
    77)
      reason=$(tail -n 1 "$log")
      row SKIP "$name${reason:+: $reason}" ;;
    *)
      tail -n 40 "$log" | sed 's/^/     /'
      row FAIL "$name, $(since "$start") ($log)" ;;
  esac
}

# check_step NAME COMMAND...: a row for what everything after it needs; its output is shown as it comes.
check_step () {
  name=$1
  shift
  start=$(now)
  if "$@"; then
    row ok "$name, $(since "$start")"
  else
    row FAIL "$name, $(since "$start")"
    return 1
  fi
}
