# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154,SC2016 # run.sh sets top; inner shells expand some variables
# Installing, in the build folder build-install/, so that the prefix of build/ stays as the user chose it.

install_build () {
  rm -rf out/install
  mkdir -p out/install
  build_project "$top/build-install" -Dcuda=disabled -Dtests=false -Dexamples=false -Dzlib=disabled "$@"
}

# Runs a command with a separate registry, and without the variables that name folders of plugins.
gst_alone () {
  env -u GST_PLUGIN_PATH -u GST_PLUGIN_SYSTEM_PATH GST_REGISTRY="$top/out/install/registry.bin" "$@"
}

# found_in FOLDER [COMMAND...]: gst-inspect-1.0, run by the command, finds the element in the folder's plugin.
found_in () {
  where=$1
  shift
  rm -f out/install/registry.bin
  gst_alone "$@" gst-inspect-1.0 cudaconvolve >out/install/inspected 2>&1
  grep Filename out/install/inspected || cat out/install/inspected
  grep -q "Filename *$where/libgstcudaconvolve.so\$" out/install/inspected
}

# installs [VARIABLE=VALUE...]: runs `meson install`. Its output is kept in out/installed, and the export line for the shell
# in out/line. Meson 1.0 prints only the arguments of an install script, in quotes.
installs () {
  gst_alone "$@" meson install -C build-install --no-rebuild >out/installed || return 1
  cat out/installed
  sed -n 's/.*\(export GST_PLUGIN_PATH=.*:$GST_PLUGIN_PATH}\).*/\1/p' out/installed | tail -n 1 >out/line
}

# found_by_line FOLDER: with the printed line GStreamer finds the plugin in the folder.
found_by_line () {
  found_in "$1" sh -c '. "$0" && "$@"' "$top/out/line"
}

# The prefix decides where the plugin goes, and uninstalling leaves nothing.
install_prefix () {
  install_build --prefix="$top/out/install" --libdir=lib -Dplugin-dir= && installs &&
    found_by_line "$top/out/install/lib/gstreamer-1.0" &&
    ninja -C build-install uninstall && [ ! -e out/install/lib/gstreamer-1.0/libgstcudaconvolve.so ]
}

# GStreamer searches the user's own folder without a line. For a folder with a space in its name the line is quoted.
install_plugin_dir () {
  data=$top/out/install/home
  export XDG_DATA_HOME="$data"
  install_build -Dplugin-dir="$data/gstreamer-1.0/plugins" && installs &&
    [ ! -s out/line ] && found_in "$data/gstreamer-1.0/plugins" &&
    install_build -Dplugin-dir="$top/out/install/a folder" && installs && found_by_line "$top/out/install/a folder" &&
    ! meson setup --reconfigure build-install -Dplugin-dir='~/plugins' >out/installed && cat out/installed &&
    grep -q 'plugin-dir: Meson does not expand' out/installed
}

# A packager's build puts files below DESTDIR, and prints the line for the final folder. GStreamer's own folder needs none.
install_destdir () {
  plugins=$(pkg-config --variable=pluginsdir gstreamer-1.0)
  staged=$top/out/install/staged
  install_build --prefix=/opt/convolve --libdir=lib -Dplugin-dir= && installs DESTDIR="$staged" &&
    [ "$(find "$staged" -type f)" = "$staged/opt/convolve/lib/gstreamer-1.0/libgstcudaconvolve.so" ] &&
    grep -q '^export GST_PLUGIN_PATH=/opt/convolve/lib/gstreamer-1.0\${' out/line &&
    install_build -Dplugin-dir="$plugins" && installs DESTDIR="$staged" &&
    [ "$(find "$staged" -type f)" = "$staged$plugins/libgstcudaconvolve.so" ] && [ ! -s out/line ]
}

install_devenv () {
  install_build && found_in "$top/build-install/plugin" meson devenv -C build-install
}

install_rows () {
  check "install: the prefix decides, and the printed line is enough" install_prefix
  check "install: the option plugin-dir" install_plugin_dir
  check "install: DESTDIR" install_destdir
  check "install: meson devenv" install_devenv
}
