# SPDX-License-Identifier: MIT
"""Reads the HDF5 files of runs and grids."""

import configparser
import os

import h5py
import numpy
import pandas


def _text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def _values(item):
    """Returns a dataset, or a list of texts of very unequal length, as an array."""
    if isinstance(item, h5py.Group):
        raw, ends = item["bytes"][:].tobytes(), item["offsets"][:]
        return numpy.array([raw[a:b].decode() for a, b in zip(ends[:-1], ends[1:])], dtype=object)
    return item.asstr()[:] if item.dtype.kind == "S" else item[:]


def _part(group, name, i):
    """Returns the part of sentence i in an array of all sentences."""
    return group[name][slice(*group[f"{name}_offsets"][i:i + 2])]


def _member(group, path, file):
    """Returns group[path], or fails with the names that there are."""
    if path not in group:
        raise KeyError(f"{file}: there is no {group.name.rstrip('/')}/{path}; there is {', '.join(group) or 'nothing'}")
    return group[path]


class Run:
    """A run, or a dump of plait translate --attention. Its file is open only while something is read."""

    def __init__(self, path):
        self.path = os.path.abspath(os.fspath(path))
        with self._file() as file:
            if "name" not in file.attrs and "attention" not in file:
                raise ValueError(f"{self.path}: is not a run of plait")
            self.name = _text(file.attrs.get("name", os.path.basename(self.path)))
            parser = configparser.RawConfigParser(delimiters="=", comment_prefixes="#", strict=False)
            parser.optionxform = str
            parser.read_string(_text(file.attrs.get("experiment", "")))
            # Group -> key -> value, all as text.
            self.settings = {group: dict(parser[group]) for group in parser.sections()}
            self.splits = list(file["evaluation"]) if "evaluation" in file else []

    def __repr__(self):
        return f"plait.open({self.path!r})"

    def _file(self):
        return h5py.File(self.path, "r")

    def table(self, place):
        """Returns the table at @place, such as "average/runs", as a data frame."""
        with self._file() as file:
            group = _member(file, place.strip("/"), self.path)
            return pandas.DataFrame({_text(name): _values(group[_text(name)]) for name in group.attrs["columns"]})

    def training(self, which="validation"):
        """Returns the rows of validations, or with which="updates" of updates."""
        return self.table(f"training/{which}")

    def scores(self, split="test"):
        return self.table(f"evaluation/{split}/metrics")

    def sentences(self, split="test"):
        """Returns sources, hypothesis and references of each sentence or document."""
        with self._file() as file:
            group = _member(file, f"evaluation/{split}", self.path)
            columns = {name: _values(lines) for name, lines in group.get("sources", {}).items()}
            columns["hypothesis"] = _values(group["hypotheses"])
            columns["reference"] = _values(group["references"])
            others = group.get("other_references", {})
            columns.update({f"reference {name}": _values(lines) for name, lines in others.items()})
            return pandas.DataFrame(columns)

    def hypotheses(self, split="test"):
        return list(self.sentences(split)["hypothesis"])

    def attention(self, sentence, memory, split="test"):
        """Returns the weights of one sentence to a memory, [layer, head, target, row]; targets and rows are tokens."""
        return self.array(f"attention/{split}/{memory}", sentence)

    def array(self, place, sentence, name=None):
        """Returns an array of one dumped sentence, such as "coverage/test/a", as xarray; name: one of several arrays."""
        import xarray

        with self._file() as file:
            group = _member(file, place.strip("/"), self.path)
            name = name or next(key[:-len("_shape")] for key in group if key.endswith("_shape"))
            sentences = [_text(found) for found in _values(group["sentence"])]
            if str(sentence) not in sentences:
                raise KeyError(f"{self.path}: sentence {sentence} was not dumped; {place} has {', '.join(sentences)}")
            i = sentences.index(str(sentence))
            axes = [_text(axis) for axis in group[name].attrs.get("axes", group.attrs.get("axes", []))]
            values = _part(group, name, i).reshape(group[f"{name}_shape"][i])
            axes = axes[-values.ndim:] if len(axes) >= values.ndim else [f"axis{k}" for k in range(values.ndim)]
            tokens = {}
            for axis, length in zip(axes, values.shape):
                if f"{axis}_labels" in group:
                    labels = _part(group, f"{axis}_labels", i).tobytes().decode().split("\0")[:-1]
                    if len(labels) == length:
                        tokens[axis] = labels
            return xarray.DataArray(values, dims=axes, coords=tokens, name=name)


class Grid:
    """A grid: its table, its cells and, by their names, its finished runs."""

    def __init__(self, path):
        path = os.path.abspath(os.fspath(path))
        self.path = os.path.join(path, "grid.h5") if os.path.isdir(path) else path
        if not os.path.isfile(self.path):
            raise FileNotFoundError(f"{self.path}: there is no such file; plait grid writes it")
        with h5py.File(self.path, "r") as file:
            links = {name: file["runs"].get(name, getlink=True) for name in file.get("runs", {})}
        folder = os.path.dirname(self.path)
        places = {name: os.path.join(folder, _text(link.filename)) for name, link in links.items()
                  if isinstance(link, h5py.ExternalLink)}
        self.runs = {name: Run(place) for name, place in places.items() if os.path.isfile(place)}

    def __repr__(self):
        return f"plait.grid({self.path!r})"

    @property
    def table(self):
        return self._table("summary")

    @property
    def cells(self):
        return self._table("cells")

    def _table(self, place):
        with h5py.File(self.path, "r") as file:
            group = _member(file, place, self.path)
            return pandas.DataFrame({_text(name): _values(group[_text(name)]) for name in group.attrs["columns"]})


def open(path):
    """Returns the run in the file @path."""
    return Run(path)


def grid(folder):
    """Returns the grid in @folder."""
    return Grid(folder)
