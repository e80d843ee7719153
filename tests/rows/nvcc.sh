# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154 # run.sh sets top and all
# The choice of a host compiler for nvcc, with stand-ins for compilers; configured in build-nvcc/.

# host_compilers: puts stand-ins for every gcc and g++-N in front of PATH that claim to be version 99, which no nvcc takes.
host_compilers () {
  nvcc=$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc) || { echo "there is no nvcc"; return 77; }
  rm -rf out/stand-ins build-nvcc
  mkdir -p out/stand-ins
  for name in gcc g++ g++-98 $(IFS=:; for folder in $PATH; do (cd "$folder" 2>/dev/null && ls) done | grep -x 'g++-[0-9]*'); do
    stand_in "$name" "exec $(command -v gcc) -U__GNUC__ -D__GNUC__=99 \"\$@\""
  done
}

# nvcc_setup OPTIONS...: configures with the stand-ins; what Meson says is in out/configured.
nvcc_setup () {
  rm -rf build-nvcc
  status=0
  env -u NVCC_CCBIN PATH="$top/out/stand-ins:$PATH" meson setup build-nvcc -Dtests=false -Dexamples=false -Dgstcuda=disabled \
    -Dcuda-architectures=75 "$@" >out/configured 2>&1 || status=$?
  cat out/configured
  return "$status"
}

# The configuration finds an older g++ and passes over a newer one that nvcc refuses.
nvcc_older_compiler () {
  host_compilers || return
  stand_in g++-97 "exec $(command -v g++) \"\$@\""
  stand_in g++-96 "exec $(command -v g++) \"\$@\""
  echo 'int main () { return 0; }' >out/try.cu
  "$nvcc" -c out/try.cu -o out/try.o || { echo "nvcc does not compile here"; return 77; }
  nvcc_setup -Dcuda=enabled && grep -q '^Message: CUDA: .* with the host compiler .*/g++-97 for' out/configured &&
    grep -q -e '-ccbin .*/stand-ins/g++-97 ' build-nvcc/build.ninja &&
    ninja -C build-nvcc "$(ninja -C build-nvcc -t targets all | sed -n 's/^\(kernels\/[^ ]*device\.o\): CUSTOM_COMMAND.*/\1/p')"
}

# Without a suitable g++ the build is for the CPU alone, or fails with -Dcuda=enabled. Both name the version that is wanted.
nvcc_no_compiler () {
  host_compilers || return
  # The message ends differently on systems with other headers.
  wanted='nvcc [0-9.]* takes no gcc above version [0-9]* as its host compiler, and here is gcc version 99; '
  nvcc_setup && grep -q "^Message: CUDA: $wanted.*, so this build has the cpu variant alone" out/configured &&
    ! nvcc_setup -Dcuda=enabled && grep -q "ERROR: .*CUDA: $wanted" out/configured
}

nvcc_rows () {
  check "nvcc: an older g++ where the newest is refused" nvcc_older_compiler
  check "nvcc: no g++ that nvcc takes" nvcc_no_compiler
}

# build_everything: builds in build/, with the kernels for the GPU here, or for one, and as PTX for every generation that a package
# is assembled for. Where MESON_ARGS chooses architectures, its choice stands.
build_everything () {
  case ${MESON_ARGS:-} in
    *cuda=disabled* | *cuda-architectures=*)
      row SKIP "build: PTX for every architecture: MESON_ARGS says otherwise" ;;
    *)
      if [ -n "$(nvcc_capabilities)" ]; then
        # shellcheck disable=SC2046 # a list of words
        check_step "build: PTX for every architecture" build_project "$top/build" -Dcuda=enabled $(gpu_options ptx)
        return
      fi
      row SKIP "build: PTX for every architecture: there is no nvcc" ;;
  esac
  check_step "build" build_project "$top/build"
}
