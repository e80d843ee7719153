# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154 # run.sh sets top and all
# The launch lines of README and of the examples' README, run as they are written.

# readme_lines FILE: the launch lines of a file; lines that end in a backslash are joined.
readme_lines () {
  sed -e ':join' -e '/\\$/{N;s/\\\n//;b join' -e '}' "$1" | sed -n 's/^ *\(gst-launch-1\.0 .*\)/\1/p'
}

# Runs a line as written, except that test pictures end after 30 frames and windows are left out.
readme_line () {
  case $1 in
    *nvh264dec* | *nvh265dec* | *cudaupload* | *cudadownload*)
      gst-inspect-1.0 --exists cudaupload ||
        { echo "without a driver GStreamer has no elements for CUDA memory"; return 77; } ;;
  esac
  timeout 120 sh -c "$(echo "$1" | sed 's/autovideosink/fakesink/g; s/videotestsrc/videotestsrc num-buffers=30/g')"
}

readme_rows () {
  check "README: names, words, tables and links" python3 tests/readme.py "$top/build/plugin"
  for file in README.md examples/README.md; do
    readme_lines "$file" >out/readme-lines
    number=0
    while IFS= read -r line; do
      number=$((number + 1))
      check "$file: launch line $number" readme_line "$line"
    done <out/readme-lines
  done
}
