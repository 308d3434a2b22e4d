#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the virtual environment of the peer with the newest PyTorch that pip finds: setup.sh [FOLDER].
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here/.venv}
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet -r "$here/requirements.txt"
cc -shared -fPIC -O2 -o "$folder/lib/mkl-avx512.so" "$here/mkl-avx512.c"
"$folder/bin/python" -W ignore -c 'import torch; print("PyTorch", torch.__version__)'
