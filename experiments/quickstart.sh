#!/bin/bash
# SPDX-License-Identifier: MIT
#
# From a bare Debian 12 to a finished grid: installs missing packages, builds plait, generates a corpus of three sources,
# trains a single-source baseline and the four combiners on it, and shows the table and the paths of its files. A second
# call does only the rest.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
. experiments/packages.sh

# shellcheck disable=SC2086
install_packages $build_packages
# Uses the build of the tests if there is one.
if [ ! -e build/quickstart ] && [ -x build/release/plait ]; then
  ln -s release build/quickstart
fi
if [ ! -f build/quickstart/build.ninja ]; then
  say "setting up build/quickstart"
  mkdir -p build
  rm -rf build/quickstart
  meson setup build/quickstart -Dtests=false > build/quickstart.log 2>&1 || { cat build/quickstart.log; exit 1; }
fi
say "building build/quickstart"
ninja -C build/quickstart --quiet

plait=build/quickstart/plait
output=build/quickstart-grid
say "$plait grid experiments/quickstart.ini --output $output"
"$plait" grid experiments/quickstart.ini --output "$output"
shown=$(ls "$output"/*hierarchical*.h5 | head -n 1)
say "the source that each word of one translation attends to: $plait show $shown /attention/test/0/contexts"
"$plait" show "$shown" /attention/test/0/contexts

cat <<END

The table is in $output/table.md and table.csv; grid.h5 opens all cells at once:
END
ls -1 "$output"/*.h5
cat <<END

To look into them:
  $plait show $shown
  $plait report $output/grid.h5 --output grid.html
  $plait adversarial $shown
  h5ls -r $shown            (Debian package hdf5-tools)
END
