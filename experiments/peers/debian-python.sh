#!/bin/sh
# SPDX-License-Identifier: MIT
# Debian's own python3 and PyTorch (apt-get install python3-torch python3-h5py libopenblas0-openmp), as the --python of compare-recurrent.py.
# PyTorch computes on OpenMP's threads: an OpenBLAS with threads of its own, Debian's first choice, would make each pool wait for the other.
for folder in /usr/lib/*/openblas-openmp; do
    [ -e "$folder/libopenblas.so.0" ] || { echo "debian-python.sh: there is no libopenblas0-openmp; install it" >&2; exit 1; }
    exec env LD_LIBRARY_PATH="$folder" /usr/bin/python3 "$@"
done
