#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs all comparisons with PyTorch: measure.sh PLAIT FOLDER [OPTION...]. Writes Markdown tables and the JSON object of
# every run into FOLDER. OPTIONs are those that all scripts have, such as --python PYTHON or --rounds 1. The recurrent
# model is also measured with Debian's PyTorch and h5py if they are installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
plait=$1 folder=$2
shift 2
mkdir -p "$folder"

# part NAME SCRIPT [OPTION...]
part ()
{
  name=$1 script=$2
  shift 2
  echo "== $name" >&2
  python3 "$here/$script" --plait "$plait" --runs "$folder/$name.jsonl" "$@" > "$folder/$name.md"
}

part transformer compare.py "$@"
part recurrent compare-recurrent.py "$@"
part descent compare-descent.py "$@"
part long compare-long.py "$@"
if /usr/bin/python3 -c 'import torch, h5py' 2> /dev/null; then
  part recurrent-debian compare-recurrent.py "$@" --without-nodes --python "$here/debian-python.sh"
fi
