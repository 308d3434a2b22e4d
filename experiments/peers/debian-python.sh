#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs Debian's own python3 and PyTorch (apt-get install python3-torch python3-h5py libopenblas0-openmp), as --python of
# compare-recurrent.py. PyTorch uses the threads of OpenMP. Debian's default OpenBLAS has threads of its own, and each pool
# would wait for the other.
for folder in /usr/lib/*/openblas-openmp; do
    [ -e "$folder/libopenblas.so.0" ] || { echo "debian-python.sh: libopenblas0-openmp is missing; install it" >&2; exit 1; }
    exec env LD_LIBRARY_PATH="$folder" /usr/bin/python3 "$@"
done
