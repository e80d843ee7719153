# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154 # run.sh sets top and all
# What the scripts do on systems that lack something or are too old, with stand-ins for Meson, GStreamer and apt.

# old_system MESON GSTREAMER APT-MESON APT-GSTREAMER: stand-ins for a system with these versions, installed and in apt;
# "-" is none. The stand-in for apt-get writes its arguments to out/apt-get and installs nothing.
old_system () {
  rm -rf out/stand-ins out/apt-get
  mkdir -p out/stand-ins
  : >out/apt-get
  # To the scripts a meson or pkg-config that prints nothing is a missing one.
  stand_in meson "[ \"\$*\" = --version ] && [ $1 != - ] && echo $1"
  stand_in pkg-config "case \$* in '--modversion gstreamer-1.0') [ $2 != - ] && echo $2 ;; *) false ;; esac"
  stand_in dpkg-query "case \$* in *' gcc') echo install ok installed ;; *) exit 1 ;; esac"
  stand_in apt-cache "case \$2 in
    meson) echo '  Candidate: $3' ;;
    libgstreamer1.0-dev) echo '  Candidate: $4' ;;
  esac"
  stand_in apt-get "echo \"\$*\" >>'$top/out/apt-get'; case \$* in *install*) echo no more than a stand-in; exit 1 ;; esac"
  stand_in id 'echo 0'
}

# says TEXT...: examples/run.sh fails on that system, and its output holds the texts.
says () {
  ! run_example >/dev/null || return 1
  cat out/example out/apt-get
  for text in "$@"; do
    grep -q -e "$text" out/example || { echo "It does not say: $text"; return 1; }
  done
}

# On a system whose versions are too old nothing is installed, and the message says which are, and which systems have newer ones.
old_versions () {
  PATH=$top/out/stand-ins:$PATH
  old_system - - 0.61.2-1 1.20.3-0ubuntu1 && says 'needs Meson 1.0 and GStreamer 1.22' 'Meson 0.61.2-1 is what apt' \
    'GStreamer 1.20.3-0ubuntu1 is what apt' 'Debian 12, Ubuntu 24.04' && ! grep install out/apt-get &&
    old_system 0.61.2 1.20.3 0.61.2-1 1.20.3-0ubuntu1 && says 'Meson 0.61.2 is installed' 'GStreamer 1.20.3 is installed' &&
    ! grep install out/apt-get &&
    old_system 1.3.2 - 0.61.2-1 1.20.3-0ubuntu1 && says 'GStreamer 1.20.3-0ubuntu1 is' && ! grep install out/apt-get &&
    ! grep '^  Meson' out/example &&
    old_system 0.61.2 - 1.0.1-5 1.22.0-2+deb12u1 && says 'Meson 0.61.2 is installed; apt has 1.0.1-5' &&
    ! grep install out/apt-get
}

# Versions that are new enough, or that apt-cache does not know, are installed.
new_versions () {
  PATH=$top/out/stand-ins:$PATH
  old_system - - 1.0.1-5 1.22.0-2+deb12u1 && says 'apt-get failed' && grep -q '^-q install .*meson' out/apt-get &&
    old_system 1.10.0 1.100 '(none)' '(none)' && says 'apt-get failed' && grep -q '^-q install' out/apt-get &&
    old_system - - '1:2.0~rc1-1' '1:1.28.8-2' && says 'apt-get failed' && grep -q '^-q install' out/apt-get
}

# A system without apt, and one where nobody may install.
old_versions_elsewhere () {
  old_system 0.61.2 1.20.3 - -
  stand_in sudo 'exit 1'
  stand_in id 'echo 1000'
  rm out/stand-ins/apt-get out/stand-ins/dpkg-query
  for tool in sh env cat sed awk grep basename dirname fold mkdir rm mktemp tail chmod; do
    ln -sf "$(command -v "$tool")" out/stand-ins/
  done
  # shellcheck disable=SC2123 # this row must not find anything else
  PATH=$top/out/stand-ins
  says 'Meson 0.61.2 is installed' 'GStreamer 1.20.3 is installed' 'Debian 12, Ubuntu 24.04, Fedora' &&
    stand_in meson 'echo 1.3.2' && stand_in pkg-config 'case $* in --modversion*) echo 1.24.2 ;; esac' &&
    says 'These are missing' '^  ninja' 'Install GStreamer 1.22 or newer' && ! grep -q 'too old' out/example &&
    stand_in dpkg-query 'exit 1' && stand_in apt-get exit && says 'sudo apt-get install .*meson' &&
    stand_in pkg-config 'echo 1.20.3' && says 'GStreamer 1.20.3 is installed'
}

# A new build folder is for the GPUs of the machine, each architecture once and in order. A GPU that is newer than nvcc
# gets the newest one that nvcc knows, a machine without a GPU 75.
architectures_of_gpus () {
  rm -rf out/stand-ins
  mkdir -p out/stand-ins
  PATH=$top/out/stand-ins:$PATH
  stand_in nvcc 'printf "compute_%s\n" 75 80 89 90 100 120'
  while read -r expected capabilities; do
    stand_in nvidia-smi "[ -n '$capabilities' ] && printf '%s\n' $capabilities"
    got=$(architectures_here)
    echo "$capabilities: $got"
    [ "$got" = "$expected" ] || return 1
  done <<'END'
90 9.0
75;90 9.0 7.5 9.0
100 10.0
120 12.1 13.0
75 6.1
75
END
}

preparing_rows () {
  check "preparing: versions that are too old" old_versions
  check "preparing: versions that are new enough" new_versions
  check "preparing: without apt, without root" old_versions_elsewhere
  check "preparing: the architectures of the GPUs here" architectures_of_gpus
}
