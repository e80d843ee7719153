#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# What the user has to do after `meson install`, for GStreamer to find the plugin.
#
#   installed.sh --line FOLDER PLUGINSDIR   prints the line that makes GStreamer search FOLDER, or nothing where GStreamer
#                                           searches there by itself; PLUGINSDIR is the variable of gstreamer-1.0.pc
#   installed.sh SENTENCE LINE              prints both, at the end of `meson install`
#
# The line is found when the build is configured: Meson 1.0 shows an install script's arguments, but not its output.
set -eu
if [ "$1" != --line ]; then
  [ -n "${MESON_INSTALL_QUIET:-}" ] || printf '\n%s\n\n    %s\n\n' "$1" "$2"
  exit 0
fi
folder=$2

# The folder's name without symbolic links, or as given where there is no such folder yet.
real () {
  (cd "$1" 2>/dev/null && pwd -P) || printf '%s\n' "$1"
}

# By itself GStreamer searches PLUGINSDIR and a folder of the user's.
for known in "$3" "${XDG_DATA_HOME:-${HOME:-}/.local/share}/gstreamer-1.0/plugins"; do
  if [ "$(real "$known")" = "$(real "$folder")" ]; then exit 0; fi
done

# In single quotes where the shell would read more than letters in the name.
case $folder in
  *[!a-zA-Z0-9/._+@%=-]*) folder=\'$(printf '%s\n' "$folder" | sed "s/'/'\\\\''/g")\' ;;
esac
# shellcheck disable=SC2016 # the reader's shell is to expand the variable
printf 'export GST_PLUGIN_PATH=%s${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}\n' "$folder"
