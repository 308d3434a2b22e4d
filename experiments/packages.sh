# SPDX-License-Identifier: MIT
#
# To be sourced. install_packages PACKAGE... installs the missing Debian packages, as root or with sudo.

# Packages that the build of plait needs.
build_packages="meson ninja-build pkg-config gcc g++ libglib2.0-dev zlib1g-dev libhdf5-dev libxxhash-dev libssl-dev
  libopenblas-dev libsentencepiece-dev libicu-dev libjansson-dev libstemmer-dev"

say () { printf '== %s\n' "$*"; }

install_packages ()
{
  command -v dpkg-query > /dev/null || { say "this system is not Debian: assuming that all packages are installed"; return; }
  missing=
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2> /dev/null | grep -qx installed || missing="$missing $package"
  done
  [ -z "$missing" ] && return
  say "installing$missing"
  privilege=
  [ "$(id -u)" -eq 0 ] || privilege=sudo
  # flock: two runs at once install one after the other. apt does not wait for its own locks.
  $privilege flock /run/lock/plait-packages sh -c "apt-get update -q && DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends $missing"
}
