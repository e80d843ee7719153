# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154 # run.sh sets top and all
# The scenarios of tests/element/validate/ under GStreamer's own validator.

# validate_scenario FILE: fails where gst-validate-1.0 fails, where it has anything to say about the element's own pads, and
# where the expectations were missing, because gst-validate-1.0 writes these and passes.
validate_scenario () {
  status=0
  GST_VALIDATE_LOGSDIR=$top/out/validate timeout 120 gst-validate-1.0 --set-test-file "$top/$1" >out/validate-output 2>&1 ||
    status=$?
  # The position is printed over and over, each time after a carriage return.
  tr '\r' '\n' <out/validate-output | grep -av '^<position'
  if grep -q 'SKIP missing plugin' out/validate-output; then
    sed -n 's/.*SKIP \(missing plugin.*\)/\1/p' out/validate-output
    return 77
  fi
  if grep -q 'Detected on <convolve' out/validate-output; then
    echo "the validator found something in the element"
    return 1
  fi
  if grep -q 'Writing expectations file' out/validate-output; then
    echo "there were no expectations, and now there are: see tests/element/validate/README.md"
    return 1
  fi
  return "$status"
}

no_validator () {
  echo "there is no gst-validate-1.0, which is a part of gst-devtools"
  return 77
}

validate_rows () {
  command -v gst-validate-1.0 >/dev/null || { check "validate: the scenarios" no_validator; return; }
  for file in tests/element/validate/*.validatetest; do
    check "validate: $(basename "$file" .validatetest)" validate_scenario "$file"
  done
}
