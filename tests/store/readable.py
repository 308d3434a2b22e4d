# SPDX-License-Identifier: MIT
"""Reads the sample file as a user of h5py would, and checks its contents."""

import sys

import h5py


def check(found, expected):
    if found != expected:
        sys.exit(f"found {found!r}, expected {expected!r}")


def text(value):
    return value.decode() if isinstance(value, bytes) else value


with h5py.File(sys.argv[1], "r") as run:
    check(run.userblock_size, 512)
    check(int(run.attrs["format"]), 2)
    check(text(run.attrs["version"]), "0.1.0")
    check(int(run.attrs["seed"]), -7)
    check(run["checkpoint/best/parameters/source/en/weight"][:].tolist(), [[1, 2, 3], [4, 5, 6]])
    check(run["checkpoint/chosen/parameters/source/en/weight"].shape, (2, 3))
    check(run["large"].chunks, None)
    check(int(run["large"][39999]), (39999 * 7919) % 2**32)
    check(run["evaluation/test/hypotheses"].asstr()[:].tolist(), ["Ein Mann läuft.", "", "漢字"])
    check(bytes(run["vocabulary/shared/model"][:]), b"\0\1\2\377")
    link = run.get("cells/serial", getlink=True)
    check((link.filename, link.path), ("cells/serial.h5", "/"))

    table = run["training"]
    columns = [text(name) for name in table.attrs["columns"]]
    check(columns, ["step", "loss", "note"])
    check(table["step"][:].tolist(), [100, 200, 300])
    check(table["note"].asstr()[:].tolist(), ["", "best", "ändert"])

    # Find the plot as a NeXus viewer does.
    group = run
    while "default" in group.attrs:
        group = group[text(group.attrs["default"])]
    check(group.name, "/attention/test/0/en")
    check(text(group.attrs["NX_class"]), "NXdata")
    signal = group[text(group.attrs["signal"])]
    axes = [text(axis) for axis in group.attrs["axes"]]
    check(axes, ["layer", "head", "target", "row"])
    check(signal.shape, (1, 2, 3, 2))
    for axis, length in zip(axes, signal.shape):
        check(group[axis][:].tolist(), list(range(length)))
    check(text(group["row"].attrs["long_name"]), "row: 0 ▁a, 1 ▁man")
    check(text(group["title"][()]), "a man → ein Mann")

    # Find the axes through HDF5's own dimension scales.
    check([dimension.label for dimension in signal.dims], axes)
    check(list(signal.dims[3].keys()), ["row_labels", "row"])
    check(signal.dims[2][0].asstr()[:].tolist(), ["▁ein", "▁Mann", "</s>"])
    check(signal[0, 1].tolist(), [[0.125, 0.875], [0, 1], [0.75, 0.25]])
