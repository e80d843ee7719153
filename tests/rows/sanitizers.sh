# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154 # run.sh sets top and all
# The tests under the sanitizers: AddressSanitizer and UndefinedBehaviorSanitizer in build-asan/, ThreadSanitizer in
# build-tsan/; both without CUDA, and with what these tests need alone.

# Meson's tests get a registry that is not the user's. GStreamer's scanner is a program without sanitizers and cannot load
# the plugin of this build, so GST_REGISTRY_FORK=no loads the plugin in the test's process. All other plugins are scanned
# beforehand: some of them change the floating-point mode or leak while they are loaded.
sanitized_tests () {
  if [ "$(cc -print-file-name=libasan.so)" = libasan.so ] || [ "$(cc -print-file-name=libubsan.so)" = libubsan.so ]
  then
    row SKIP "sanitizers: the compiler has no libasan or no libubsan"
  elif check_step "sanitizers: build" build_project "$top/build-asan" -Dcuda=disabled -Dexamples=false \
    -Db_sanitize=address,undefined -Db_lundef=false; then
    GST_REGISTRY="$top/build-asan/registry.bin" gst-inspect-1.0 fakesink >out/plugins 2>&1 || true
    # Few random cases: the tests in build/ have all of them. lsan.supp names callers of malloc(). GLib has no frame pointers,
    # so that each call is unwound slowly, which takes most of the time. Twelve callers are enough.
    # Mutated texts take a minute so; long.sh has them under libFuzzer. The sweeps over boxes measure pictures and reach
    # no memory of their own. Of the calls that fail, some of each scenario do here.
    meson_tests build-asan "sanitizers: " sanitized GST_REGISTRY="$top/build-asan/registry.bin" GST_REGISTRY_FORK=no \
      GST_CHECKS_IGNORE=fuzz_mutated_texts,small_boxes,small_boxes_and_other_properties,small_frames,small_ellipses,turned_shapes,detail_is_gone \
      CUDACONVOLVE_MOST_CALLS=10 \
      ASAN_OPTIONS=detect_leaks=1:fast_unwind_on_malloc=0:malloc_context_size=12 \
      UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
      LSAN_OPTIONS="suppressions=$top/tests/lsan.supp:print_suppressions=0"
  fi
}

# Only the kernel library: GStreamer and GLib are built without ThreadSanitizer, which cannot see their locks.
threads_under_sanitizer () {
  if [ "$(cc -print-file-name=libtsan.so)" = libtsan.so ]; then
    row SKIP "ThreadSanitizer: the compiler has no libtsan"
  elif targets=tests/convolve_check check_step "ThreadSanitizer: build" build_project "$top/build-tsan" -Dcuda=disabled \
    -Dexamples=false -Db_sanitize=thread -Db_lundef=false; then
    check "ThreadSanitizer: variant cpu" build-tsan/tests/convolve_check --host --variant cpu --check random --cases 300
    check "ThreadSanitizer: threads' pool" build-tsan/tests/convolve_check --host --check pool
    check "ThreadSanitizer: numbers of threads" build-tsan/tests/convolve_check --host --check cpu-threads
  fi
}


sanitizer_rows () {
  sanitized_tests
  threads_under_sanitizer
}
