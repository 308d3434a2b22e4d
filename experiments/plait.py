# SPDX-License-Identifier: MIT
"""Reads runs of plait in Python, as data frames if pandas is installed, else as dictionaries of numpy arrays.

Needs only h5py.

    plait.training("run.h5")                    # validations of a run: step, perplexity, metric, ...
    plait.scores("run.h5")                      # metric, score, low, high of the split "test"
    plait.sentences("run.h5")                   # sources, hypothesis, reference
    plait.attention("run.h5", 0, "a", layer=-1) # targets by rows; mean of heads
"""

import h5py
import numpy
try:
    import pandas
except ImportError:
    pandas = None


def _values(item):
    if isinstance(item, h5py.Group):  # texts of very unequal length
        raw, ends = item["bytes"][:].tobytes(), item["offsets"][:]
        return numpy.array([raw[a:b].decode() for a, b in zip(ends[:-1], ends[1:])], dtype=object)
    return item.asstr()[:] if item.dtype.kind == "S" else item[:]


def _item(kind, name, i):
    """Returns the part of sentence i in an array of all sentences."""
    return kind[name][slice(*kind[f"{name}_offsets"][i:i + 2])]


def _frame(columns):
    return columns if pandas is None else pandas.DataFrame(columns)


def table(path, place):
    with h5py.File(path) as run:
        names = [name.decode() if isinstance(name, bytes) else name for name in run[place].attrs["columns"]]
        return _frame({name: _values(run[place][name]) for name in names})


def training(path, which="validation"):  # or "updates"
    return table(path, f"training/{which}")


def scores(path, split="test"):
    return table(path, f"evaluation/{split}/metrics")


def sentences(path, split="test"):
    with h5py.File(path) as run:
        group = run["evaluation"][split]
        columns = {name: _values(lines) for name, lines in group["sources"].items()} if "sources" in group else {}
        return _frame({**columns, "hypothesis": _values(group["hypotheses"]), "reference": _values(group["references"])})


def attention(path, sentence, memory, split="test", layer=-1, head=None):
    """Returns the weights of one layer: of one head, or the mean of all heads."""
    with h5py.File(path) as run:
        kind = run[f"attention/{split}/{memory}"]
        i = kind["sentence"].asstr()[:].tolist().index(str(sentence))
        weights = _item(kind, "weights", i).reshape(kind["weights_shape"][i])[layer]
        weights = weights if weights.ndim == 2 else weights.mean(axis=0) if head is None else weights[head]
        targets, rows = (_item(kind, f"{axis}_labels", i).tobytes().decode().split("\0")[:-1]
                         for axis in kind.attrs["axes"].astype(str)[-2:])
        if pandas is None:
            return {"weights": weights, "targets": targets, "rows": rows}
        return pandas.DataFrame(weights, index=targets, columns=rows)
