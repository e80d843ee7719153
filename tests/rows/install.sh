# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154,SC2016 # run.sh sets top and all; inner shells expand some variables
# Installing, in the build folder build-install/, so that the prefix of build/ stays as the user chose it.

install_build () {
  rm -rf out/install
  mkdir -p out/install
  build_project "$top/build-install" -Dcuda=disabled -Dtests=false -Dexamples=false -Dzlib=disabled -Dpng=disabled -Dlibrary=false "$@"
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

# frame FORMAT [ELEMENT...]: one frame of a test picture, as it is or behind elements, as a PPM or PGM file.
# fdsink would begin at the start of a file, so cat writes the file.
frame () {
  format=$1
  shift
  if [ "$format" = RGB ]; then echo P6; else echo P5; fi
  printf '320 180\n255\n'
  gst-launch-1.0 -q videotestsrc num-buffers=1 pattern=smpte ! "video/x-raw,format=$format,width=320,height=180" "$@" ! fdsink | cat
}

# sharpens FORMAT: the program gives the element's bytes, and others than it read.
sharpens () {
  frame "$1" >out/install/picture.ppm &&
    frame "$1" ! cudaconvolve mask="0 -1 0; -1 5 -1; 0 -1 0" boundary=replicate >out/install/wanted.ppm &&
    out/install/sharpen out/install/picture.ppm out/install/sharp.ppm &&
    cmp out/install/wanted.ppm out/install/sharp.ppm && ! cmp -s out/install/picture.ppm out/install/sharp.ppm
}

# The shared library: a program is compiled with what pkg-config says, and gives the element's bytes. Uninstalling leaves nothing.
install_library () {
  prefix=$top/out/install/library
  install_build --prefix="$prefix" --libdir=lib -Dplugin-dir= -Dlibrary=true && installs || return 1
  (cd "$prefix" && find . -type f -o -type l | sort) >out/install/files
  diff - out/install/files <<'END' || return 1
./include/cudaconvolve/convolve.h
./include/cudaconvolve/convolve_cells.h
./include/cudaconvolve/convolve_device.h
./include/cudaconvolve/convolve_form.h
./include/cudaconvolve/convolve_layer.h
./include/cudaconvolve/convolve_pool.h
./include/cudaconvolve/convolve_region.h
./lib/gstreamer-1.0/libgstcudaconvolve.so
./lib/libcudaconvolve.so
./lib/libcudaconvolve.so.0
./lib/pkgconfig/cudaconvolve.pc
END
  export PKG_CONFIG_PATH="$prefix/lib/pkgconfig" LD_LIBRARY_PATH="$prefix/lib"
  pkg-config --modversion cudaconvolve | grep -x "$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)" || return 1
  # shellcheck disable=SC2046 # a list of words
  ${CC:-cc} -std=c11 -Wall -Wextra -Werror examples/library/sharpen.c -o out/install/sharpen \
    $(pkg-config --cflags --libs cudaconvolve) &&
    for header in "$prefix"/include/cudaconvolve/*.h; do
      ${CXX:-c++} -Wall -Wextra -Werror -fsyntax-only -x c++ "$header" || return 1
    done &&
    ! ldd out/install/sharpen | grep -i gstreamer && sharpens RGB && sharpens GRAY8 &&
    ! out/install/sharpen LICENSE out/install/nothing.ppm && [ ! -e out/install/nothing.ppm ] &&
    ninja -C build-install uninstall && [ ! -e "$prefix/lib" ] && [ ! -e "$prefix/include" ]
}

# The wheel in a virtual environment: the module keeps its promises, GStreamer finds the plugin through it, and packing again
# gives the same bytes.
install_wheel () {
  python=
  for candidate in python3 /usr/bin/python3; do
    "$candidate" -c 'import ensurepip, numpy, venv' 2>/dev/null && python=$candidate && break
  done
  [ -n "$python" ] || { echo "there is no Python with numpy and venv: python3-numpy and python3-venv have them"; return 77; }
  rm -rf out/install
  mkdir -p out/install
  sh examples/packaging/wheel.sh --build "$top/build-install" --output out/install/dist &&
    SOURCE_DATE_EPOCH=1000000000 python3 examples/packaging/wheel.py build-install/staged 0 out/install/one &&
    SOURCE_DATE_EPOCH=1000000000 TZ=Pacific/Auckland python3 examples/packaging/wheel.py build-install/staged 0 out/install/two &&
    cmp out/install/one/*.whl out/install/two/*.whl || return 1
  installed=$top/out/install/venv/bin
  "$python" -m venv --system-site-packages out/install/venv && "$installed/pip" install -q --no-index out/install/dist/*.whl || return 1
  plugins=$(cd out/install && "$installed/python" -c 'import cudaconvolve; print(cudaconvolve.plugin_path())')
  (cd out/install && "$installed/python" "$top/tests/library/python_module.py" --cases 60) &&
    found_in "$plugins" env GST_PLUGIN_PATH="$plugins" || return 1
  for program in build-install/staged/bin/*; do
    [ ! -e "$program" ] || gst_alone "$installed/$(basename "$program")" --help >/dev/null || return 1
    [ ! -e "$program" ] || [ -s "out/install/venv/share/man/man1/$(basename "$program").1" ] || return 1
  done
  # Before Gst.init() and after it, and where GStreamer looks at the variable with its version alone.
  for order in "import cudaconvolve; Gst.init(None)" "Gst.init(None); import cudaconvolve" \
    "import os; os.environ['GST_PLUGIN_PATH_1_0'] = '/nowhere'; import cudaconvolve; Gst.init(None)"; do
    "$python" -c 'import gi; gi.require_version("Gst", "1.0")' 2>/dev/null || { echo "without gi, of python3-gi"; break; }
    rm -f out/install/registry.bin
    found=$(gst_alone "$installed/python" -c "
import gi
gi.require_version('Gst', '1.0')
from gi.repository import Gst
$order
print(Gst.ElementFactory.find('cudaconvolve').get_plugin().get_filename())")
    [ "$found" = "$plugins/libgstcudaconvolve.so" ] || { echo "$order: $found"; return 1; }
  done
}

install_devenv () {
  install_build && found_in "$top/build-install/plugin" meson devenv -C build-install
}

install_rows () {
  check "install: the prefix decides, and the printed line is enough" install_prefix
  check "install: the option plugin-dir" install_plugin_dir
  check "install: DESTDIR" install_destdir
  check "install: the shared library, and a program with it" install_library
  check "install: meson devenv" install_devenv
  [ -z "$all" ] || check "install: a wheel in a virtual environment" install_wheel
}
