#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The fuzz targets with clang's libFuzzer: sh tests/long/fuzz.sh [TARGET...], for example fuzz_texts fuzz_files.
#
# The targets are built with AddressSanitizer and UndefinedBehaviorSanitizer: those of the element in build-fuzz-element/, where
# the coverage of plugin/ alone is counted, and all others in build-fuzz/. Each target goes on until it has made its
# number of executions and the coverage has been flat for a tenth of the run. The corpus of a run stays in
# out/fuzz/TARGET/, and the next run starts with these inputs. An input that breaks a promise is kept in out/fuzz/, and
# its name is printed.
#
#   CUDACONVOLVE_FUZZ_RUNS      executions of each target, instead of the goals below
#   CUDACONVOLVE_FUZZ_SECONDS   seconds after which a target ends in any case
#   CUDACONVOLVE_FUZZ_SEED      the seed of the first part of a run; the clock gives one where this is not set
#   CUDACONVOLVE_FUZZ_MERGE=1   writes the inputs that add coverage to tests/fuzz/corpus/, at most 4 KiB each
set -eu
cd "$(dirname "$0")/../.."
top=$PWD

cc=$(command -v clang-14 || command -v clang) || { echo "there is no clang"; exit 77; }
runtime=$("$cc" -print-runtime-dir 2>/dev/null || true)
if ! ls "$runtime"/libclang_rt.fuzzer* >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
  apt-get install -y --no-install-recommends libclang-rt-14-dev >/dev/null
fi
mkdir -p out/fuzz
echo 'int LLVMFuzzerTestOneInput (const unsigned char *data, unsigned long size) { return 0; }' >out/fuzz/try.c
"$cc" -fsanitize=fuzzer out/fuzz/try.c -o out/fuzz/try 2>/dev/null || { echo "clang has no libFuzzer"; exit 77; }

# The folder in which a target is built.
build_of () {
  case $1 in
    fuzz_element*) echo build-fuzz-element ;;
    *) echo build-fuzz ;;
  esac
}

# Configures a target's folder; an option that has changed since the folder was made is set anew.
set_up () {
  folder=$(build_of "$1")
  counted=all
  [ "$folder" = build-fuzz ] || counted=element
  [ -f "$folder/build.ninja" ] || CC=$cc meson setup "$folder" -Dcuda=disabled -Dexamples=false \
    -Dbuildtype=debugoptimized -Db_sanitize=address,undefined -Db_lundef=false
  meson configure "$folder" "-Dfuzzing=$counted"
}

# shellcheck disable=SC2046 # several targets
[ $# -gt 0 ] || set -- $(grep -o "'fuzz_[a-z_]*':" tests/fuzz/meson.build | tr -d "':" | sort -u)

# The element has one corpus for both of its targets.
corpus () {
  echo "$top/tests/fuzz/corpus/${1%_device}"
}

for target; do
  [ -d "$(corpus "$target")" ] || { echo "$target: there is no such target"; exit 1; }
  set_up "$target"
  ninja -C "$(build_of "$target")" "tests/fuzz/$target"
done

# What libraries keep until the process ends is no leak of the project. A small quarantine and short stacks make a run
# faster; an input that fails shows all of its stacks when it is run alone, without these options.
export ASAN_OPTIONS=detect_leaks=1:quarantine_size_mb=1:thread_local_quarantine_size_kb=64:malloc_context_size=4
export UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS="suppressions=$top/tests/lsan.supp:print_suppressions=0"
export GST_REGISTRY="$top/out/fuzz/registry.bin" GST_REGISTRY_FORK=no

# A locale with a decimal comma, in which fuzz_texts runs: numbers are read alike in every locale.
printf '%s\n' 'comment_char %' 'escape_char /' LC_NUMERIC 'decimal_point ","' 'thousands_sep "."' 'grouping 3;3' \
  'END LC_NUMERIC' >out/fuzz/comma
mkdir -p out/fuzz/locale
localedef --no-archive -c -i out/fuzz/comma -f ANSI_X3.4-1968 out/fuzz/locale/comma >/dev/null 2>&1 ||
  [ -f out/fuzz/locale/comma/LC_NUMERIC ] || echo "no locale with a decimal comma can be made"

# The goals: 10^8 texts and files together, 10^7 planes and layers, 10^6 runs of the element.
goal () {
  case $1 in
    fuzz_texts | fuzz_files) echo 50000000 ;;
    fuzz_element*) echo 500000 ;;
    *) echo 5000000 ;;
  esac
}

# part TARGET RUNS SECONDS SEED: one process of libFuzzer, whose lines are added to out/fuzz/TARGET.log.
part () {
  options=
  [ ! -f "tests/fuzz/$1.dict" ] || options="-dict=$top/tests/fuzz/$1.dict"
  # libFuzzer's search by entropy takes a quarter of the time of a fast target.
  # shellcheck disable=SC2086 # several options
  (cd out/fuzz && LOCPATH="$top/out/fuzz/locale" LC_NUMERIC=comma "$top/$(build_of "$1")/tests/fuzz/$1" $options -seed="$4" \
    -entropic=0 -runs="$2" -max_total_time="$3" -max_len="$(longest "$1")" -malloc_limit_mb="$(block "$1")" \
    -rss_limit_mb=2048 -timeout=30 -print_final_stats=1 "$1" "$(corpus "$1")") >"out/fuzz/$1.part" 2>&1
}

# Bytes of the longest input that is made. The element does more work for a longer one, up to 40 operations.
longest () {
  case $1 in
    fuzz_element*) echo 128 ;;
    fuzz_kernels | fuzz_layers) echo 512 ;;
    *) echo 4096 ;;
  esac
}

# The largest block in MiB that an input may ask for. GStreamer's own blocks are larger.
block () {
  case $1 in
    fuzz_element*) echo 512 ;;
    *) echo 64 ;;
  esac
}

# The number of executions that the part has made, and the execution that found the last new coverage.
made () {
  sed -n 's/^stat::number_of_executed_units: *//p' "out/fuzz/$1.part"
}

last_new () {
  awk '/^#[0-9]+[ \t].*cov: / {
      number = substr ($1, 2); for (i = 2; i < NF; i++) if ($i == "cov:" ) found = $(i + 1)
      if (found > most && number > 1) { if (most != "") last = number; most = found }
    } END { print last + 0 }' "out/fuzz/$1.part"
}

coverage () {
  sed -n 's/^#[0-9]*[ \t].*\(cov: [0-9]* ft: [0-9]*\).*/\1/p' "out/fuzz/$1.part" | tail -n 1
}

# Goes on until the goal is reached and no input of the last tenth covered new code.
fuzz () {
  target=$1
  runs=${CUDACONVOLVE_FUZZ_RUNS:-$(goal "$target")}
  limit=${CUDACONVOLVE_FUZZ_SECONDS:-0}
  seed=${CUDACONVOLVE_FUZZ_SEED:-$(date +%s)}
  start=$(date +%s)
  all=0
  last=0
  flat=no
  mkdir -p "out/fuzz/$target"
  : >"out/fuzz/$target.log"
  while [ $flat = no ]; do
    left=$((runs - all))
    # The goal is reached and the coverage was not flat: a quarter more.
    [ "$left" -gt 0 ] || left=$((runs / 4 + 1))
    seconds=0
    [ "$limit" = 0 ] || seconds=$((limit - ($(date +%s) - start)))
    [ "$limit" = 0 ] || [ "$seconds" -gt 0 ] || break
    good=yes
    part "$target" "$left" "$seconds" "$seed" || good=no
    cat "out/fuzz/$target.part" >>"out/fuzz/$target.log"
    if [ $good = no ]; then
      grep -E 'ERROR|runtime error|FAILED|Test unit written' "out/fuzz/$target.part" ||
        tail -n 5 "out/fuzz/$target.part"
      echo "FAILED $target: seed $seed, out/fuzz/$target.log"
      return 1
    fi
    new=$(last_new "$target")
    [ "$new" = 0 ] || last=$((all + new))
    all=$((all + $(made "$target")))
    seed=$((seed + 1))
    [ "$all" -lt "$runs" ] || [ $((last * 10)) -gt $((all * 9)) ] || flat=yes
  done
  took=$(($(date +%s) - start))
  echo "$target: $all executions in $took s, $((all / (took + (took == 0)))) a second, $(coverage "$target")," \
    "last new coverage at execution $last, flat for a tenth: $flat, last seed $((seed - 1))," \
    "$(find "out/fuzz/$target" -type f | wc -l) inputs in out/fuzz/$target"
}

# What adds coverage to the committed corpus becomes a part of it.
merge () {
  (cd out/fuzz && "$top/$(build_of "$1")/tests/fuzz/$1" -set_cover_merge=1 -use_counters=0 -max_len=4096 "$(corpus "$1")" \
    "$1") >"out/fuzz/$1.merge" 2>&1 ||
    { tail -n 5 "out/fuzz/$1.merge"; return 1; }
  sed -n 's/^MERGE-OUTER: \([0-9]* new files .*\)/\1/p' "out/fuzz/$1.merge" | tail -n 1
}

failed=0
for target; do
  fuzz "$target" || failed=1
  [ "${CUDACONVOLVE_FUZZ_MERGE:-0}" = 0 ] || merge "$target" || failed=1
done
exit $failed
