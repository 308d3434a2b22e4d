#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a run as a CTranslate2 model: a Transformer that reads one source.

    to-ctranslate2.py RUN.h5 --output FOLDER [--checkpoint best|last|average] [--positions N] [--changed-plugins]
        [--force] [--plait PROGRAM]

FOLDER gets model.bin (binary version 6, TransformerSpec of revision 7), config.json and the vocabularies. The model
reads pieces, as "plait vocabulary --encode" prints them, and adds the start and end tokens of sources itself. It has as
many positions as --positions says, else as position_limit says. CTranslate2 itself cuts sources after 1024 tokens,
unless its max_input_length says otherwise. Log-probabilities equal those of plait up to rounding (peers/published.py
checks this). Needs only Python and plait, which reads the run.
"""
import argparse
import array
import configparser
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

FILES = ("config.json", "shared_vocabulary.json", "source_vocabulary.json", "target_vocabulary.json", "model.bin")
TYPES = {"float32": (0, "<f"), "int8": (1, "<b"), "int16": (2, "<h")}
ACTIVATIONS = {"relu": 0, "gelu_tanh": 1, "swish": 2, "gelu": 3}
PAD, BOS, EOS, UNKNOWN = range(4)
# Parts of a layer: CTranslate2's name, plait's name, and whether it is a norm; at the end the attention to the source.
LAYER = (
    ("/self_attention/linear_0", "/self_attention/query_key_value", False),
    ("/self_attention/linear_1", "/self_attention/output", False),
    ("/ffn/linear_0", "/feed_forward/inner", False),
    ("/ffn/linear_1", "/feed_forward/outer", False),
    ("/self_attention/layer_norm", "/self_attention_norm", True),
    ("/ffn/layer_norm", "/feed_forward_norm", True),
)
CROSS = (("/attention/linear_0", "/query"), ("/attention/linear_1", "/key_value"), ("/attention/linear_2", "/output"))


def fail(message):
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


class Run:
    """A run, read by plait: its experiment, parameters and vocabularies."""

    def __init__(self, program, path, options):
        self.program, self.path = program, path
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "run.safetensors")
            self.call("export", path, "--output", file, *options)
            with open(file, "rb") as stream:
                header = json.loads(stream.read(struct.unpack("<Q", stream.read(8))[0]))
                self.values = stream.read()
        text = header.pop("__metadata__")["experiment"]
        self.tensors, self.used = header, set()
        self.settings = configparser.RawConfigParser(delimiters="=", comment_prefixes="#", empty_lines_in_values=False)
        self.settings.optionxform = str
        self.settings.read_string(text)

    def call(self, *arguments):
        done = subprocess.run([self.program, *arguments, "--quiet"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.stderr.write(done.stderr)
            sys.exit(done.returncode)
        return done.stdout

    def show(self, path):
        return json.loads(self.call("show", self.path, path, "--json"))

    def get(self, group, key, otherwise=""):
        return self.settings.get(group, key, fallback=otherwise)

    def find(self, name):
        """Returns shape and values of parameter NAME and marks it as exported; None if there is no such parameter."""
        tensor = self.tensors.get(name)
        if tensor is None:
            return None
        self.used.add(name)
        first, end = tensor["data_offsets"]
        values = array.array({"F32": "f", "F64": "d"}[tensor["dtype"]])
        values.frombytes(self.values[first:end])
        return tensor["shape"], array.array("f", values)

    def take(self, name):
        found = self.find(name)
        if found is None:
            fail(f"{self.path}: the run has no parameter {name}, which the models of CTranslate2 have; export it as safetensors")
        return found

    def vocabulary(self, stream):
        return "shared" if self.get("data", "vocabulary") == "shared" else stream

    def lists(self, key, stream):
        return stream in (item.split(":")[0] for item in self.get("data", key).split(";"))


class Model:
    """The variables of model.bin in order, (name, type, shape, bytes), and aliases of them."""

    def __init__(self):
        self.variables, self.names = [], []

    def add_number(self, name, kind, number):
        self.variables.append((name, kind, (), struct.pack(TYPES[kind][1], number)))

    def add_tensor(self, name, tensor, rank=2, transposed=False):
        (rows, width), values = tensor
        if rows * width * 4 >= 1 << 32:
            fail(f"{name} has 4 GiB or more, but the format allows less; export the run as safetensors")
        if transposed:
            values = array.array("f", b"".join(values[k::width].tobytes() for k in range(width)))
            rows, width = width, rows
        self.variables.append((name, "float32", (rows, width)[2 - rank :], values.tobytes()))

    def write(self, stream):
        def text(name):
            return struct.pack("<H", len(name.encode()) + 1) + name.encode() + b"\0"

        stream.write(struct.pack("<I", 6) + text("TransformerSpec") + struct.pack("<II", 7, len(self.variables)))
        for name, kind, shape, values in self.variables:
            stream.write(text(name) + struct.pack(f"<B{len(shape)}IBI", len(shape), *shape, TYPES[kind][0], len(values)))
            stream.write(values)
        stream.write(struct.pack("<I", len(self.names)))
        for name, same_as in self.names:
            stream.write(text(name) + text(same_as))


def check(run):
    """Refuses keys that CTranslate2 has no model for. Other differences show as parameters that are not exported."""
    sources = [group for group in run.settings.sections() if group.startswith("source ") and "/" not in group]
    heads = run.get("combiner", "heads", "0")
    what = None
    if len(sources) != 1:
        what = "it reads several sources"
    elif run.get("predict", "kind", "sequence") != "sequence" or run.get("decoder", "type") != "transformer":
        what = "it has no decoder of type transformer"
    elif run.get(sources[0], "encoder") != "transformer":
        what = "its encoder is not transformer"
    elif run.get("decoder", "combiner") not in ("serial", "parallel"):
        what = "its combiner is neither serial nor parallel"
    elif run.get("decoder", "coverage") != "none":
        what = "it has coverage"
    elif run.get(sources[0], "layers") == "0":
        what = "its encoder has no layers"
    elif heads not in ("0", run.get("decoder", "heads")):
        what = "its combiner has other heads than its decoder"
    elif run.get("decoder", "self_attention") == "group":
        what = "its decoder has self_attention=group"
    for group in () if what else (sources[0], "decoder"):
        if run.get(group, "positions") in ("rotary", "alibi"):
            what = f"[{group}] has positions={run.get(group, 'positions')}"
        elif run.get(group, "window", "0") != "0":
            what = f"[{group}] has a window"
    if what:
        fail(f"{run.path}: CTranslate2 does not support this model: {what}; export it as safetensors, or a Transformer of one source")
    return sources[0]


def add_linear(run, model, theirs, ours):
    bias = run.find(ours + "/bias")
    model.add_tensor(theirs + "/weight", run.take(ours + "/weight"), transposed=True)
    if bias:
        model.add_tensor(theirs + "/bias", bias, 1)


def add_norm(run, model, theirs, ours, optional=False):
    if not optional or ours + "/gain" in run.tensors:
        model.add_tensor(theirs + "/gamma", run.take(ours + "/gain"), 1)
        model.add_tensor(theirs + "/beta", run.take(ours + "/bias"), 1)


def sinusoids(kind, rows, width):
    """Returns the table of sinusoids of that kind; zeros for the kind none."""
    table = array.array("f", bytes(4 * rows * width))
    if kind == "none":
        return table
    pairs = width // 2
    frequencies = pairs if kind == "concatenated" else width - pairs
    for i in range(frequencies):
        frequency = 10000.0 ** -(i / max(pairs - 1, 1) if kind == "concatenated" else 2 * i / width)
        sine, cosine = (2 * i, 2 * i + 1) if kind == "interleaved" else (i, frequencies + i)
        for row in range(rows):
            table[row * width + sine] = math.sin(row * frequency)
            if cosine < width:
                table[row * width + cosine] = math.cos(row * frequency)
    return table


def add_positions(run, model, side, ours, group, asked):
    """Adds the learned table of positions, or sinusoids for the given number of positions. Returns the number of
    positions."""
    rows, width = asked or int(run.get(group, "position_limit")), int(run.get("decoder", "width"))
    if run.get(group, "positions") == "learned":
        (there, _), table = run.take(ours + "/table")
        if rows > there:
            fail(f"{run.path}: it has {there} learned positions, so {rows} cannot be written; lower --positions or leave it out")
        table = table[: rows * width]
    else:
        table = sinusoids(run.get(group, "positions"), rows, width)
    model.add_tensor(side + "position_encodings/encodings", ((rows, width), table))
    return rows


def add_side(run, model, side, group, pre_norm):
    scales = run.get("decoder", "scale_embeddings") == "true"
    model.add_number(side + "num_heads", "int16", int(run.get(group, "heads")))
    model.add_number(side + "activation", "int8", ACTIVATIONS[run.get(group, "activation")])
    model.add_number(side + "pre_norm", "int8", pre_norm)
    model.add_number(side + "scale_embeddings", "float32", math.sqrt(int(run.get("decoder", "width"))) if scales else 1)


def add_layer(run, model, theirs, ours):
    for their_part, our_part, norm in LAYER:
        (add_norm if norm else add_linear)(run, model, theirs + their_part, ours + our_part)


def add_encoder(run, model, group, asked):
    ours = "source/" + group.split(" ", 1)[1]
    norm = run.get(group, "norm")
    add_side(run, model, "encoder/", group, (run.get("decoder", "norm") if norm == "decoder" else norm) == "pre")
    model.add_number("encoder/embeddings_merge", "int8", 0)
    model.add_number("encoder/multi_query_attention", "int8", 0)
    positions = add_positions(run, model, "encoder/", ours + "/positions", group, asked)
    add_norm(run, model, "encoder/layernorm_embedding", ours + "/embedding_norm", True)
    add_norm(run, model, "encoder/layer_norm", ours + "/norm", True)
    for i in range(int(run.get(group, "layers"))):
        add_layer(run, model, f"encoder/layer_{i}", f"{ours}/layer/{i}")
    return positions


def add_decoder(run, model, source, asked):
    add_side(run, model, "decoder/", "decoder", run.get("decoder", "norm") == "pre")
    model.add_number("decoder/alignment_heads", "int16", 1)
    model.add_number("decoder/alignment_layer", "int16", -1)
    for name in ("alibi", "alibi_use_positive_positions", "scale_alibi", "start_from_zero_embedding"):
        model.add_number("decoder/" + name, "int8", 0)
    positions = add_positions(run, model, "decoder/", "decoder/positions", "decoder", asked)
    add_norm(run, model, "decoder/layernorm_embedding", "decoder/embedding_norm", True)
    add_norm(run, model, "decoder/layer_norm", "decoder/norm", True)
    for i in range(int(run.get("decoder", "layers"))):
        theirs, ours = f"decoder/layer_{i}", f"decoder/layer/{i}"
        add_layer(run, model, theirs, ours)
        for their_part, our_part in CROSS:
            add_linear(run, model, theirs + their_part, f"{ours}/combiner/attend/{source}{our_part}")
        add_norm(run, model, theirs + "/attention/layer_norm", ours + "/combiner/normalise/0")
    return positions


def add_words(run, model, source, source_stream):
    """Adds embeddings and the output layer. A shared table is stored once."""
    target = "decoder/embeddings/weight"
    shared = run.get("decoder", "share_embeddings") == "true"
    of_source = "embedding/" + run.vocabulary(source_stream) if shared else f"source/{source}/embedding"
    of_target = "embedding/" + run.vocabulary(run.get("data", "target")) if shared else "decoder/embedding"
    bias = run.find("decoder/output/bias")
    model.add_tensor(target, run.take(of_target + "/table"))
    if of_source == of_target:
        model.names.append(("encoder/embeddings_0/weight", target))
    else:
        model.add_tensor("encoder/embeddings_0/weight", run.take(of_source + "/table"))
    if run.get("decoder", "tie_output") == "true":
        model.names.append(("decoder/projection/weight", target))
    else:
        model.add_tensor("decoder/projection/weight", run.take("decoder/output/weight"))
    if bias:
        model.add_tensor("decoder/projection/bias", bias, 1)


def name_specials(words, source, target):
    """Names the special tokens. CTranslate2 stores one name for each, for source and target, and finds tokens by their
    spelling.

    Text must not spell a special token: a space in the name separates it from all words. Only the unknown token has no
    space: a word with its spelling is unknown anyway.
    """
    ordinary = set(source[UNKNOWN + 1 :] + target[UNKNOWN + 1 :])
    names = []
    for token in range(UNKNOWN + 1):
        name = (" " if words and token != UNKNOWN else "") + target[token]
        while name in ordinary:
            name = f"<{name}>"
        names.append(name)
    return names


def begins(run, path):
    """True if texts of the vocabulary begin with a start token, as those of some published models do."""
    if run.show(path)["object"]["attributes"]["format"] != "published":
        return False
    head = bytes(run.show(path + "/model")["values"][:1000]).split(b"\nfile ")[0]
    return b"begins 1" in head.split(b"\n")


def to_json(value):
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def describe(run, source_stream):
    """Returns the texts of config.json and of the vocabularies, by file name."""
    target_stream = run.get("data", "target")
    paths = [f"/vocabulary/{run.vocabulary(stream)}" for stream in (source_stream, target_stream)]
    groups = [run.show(path)["object"]["attributes"] for path in paths]
    pieces = [run.show(path + "/pieces")["values"] for path in paths]
    specials = name_specials("words" in (group["format"] for group in groups), *pieces)
    config = {
        "add_source_bos": begins(run, paths[0]),
        "add_source_eos": run.get("data", "append_end") == "true",
        "bos_token": specials[BOS],
        "decoder_start_token": specials[{"bos": BOS, "eos": EOS, "pad": PAD}[run.get("decoder", "start")]],
        "eos_token": specials[EOS],
        "layer_norm_epsilon": float(run.get("decoder", "norm_epsilon")),
        "multi_query_attention": False,
        "unk_token": specials[UNKNOWN],
    }
    source, target = (to_json(specials + of[UNKNOWN + 1 :]) for of in pieces)
    if groups[0]["sha256"] == groups[1]["sha256"]:
        return {"config.json": to_json(config), "shared_vocabulary.json": target}
    return {"config.json": to_json(config), "source_vocabulary.json": source, "target_vocabulary.json": target}


def tell_documents(run, stream, which):
    """Prints how documents of STREAM must be given to the model; WHICH says how a first sentence is marked."""
    is_target = stream == run.get("data", "target")
    if not (run.lists("documents", stream) or run.lists("documents_by_line", stream)):
        return
    if run.get("data", "document_starts") in ("all", "target" if is_target else "sources"):
        print(f"{stream} holds documents: the model expects the bos_token of its config.json before each sentence{which}", file=sys.stderr)
    if not is_target and run.get("data", "document_length", "0") != "0":
        print(f"{stream} holds documents: the converted model does not cut documents at data.document_length={run.get('data', 'document_length')}", file=sys.stderr)


def write(model, texts, folder):
    """Writes all files under temporary names, then renames them; removes files of an earlier model."""
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".new-") as new:
        with open(os.path.join(new, "model.bin"), "wb") as stream:
            model.write(stream)
        for name, text in texts.items():
            with open(os.path.join(new, name), "w", encoding="utf-8") as stream:
                stream.write(text)
        for name in FILES:
            if name in texts or name == "model.bin":
                os.replace(os.path.join(new, name), os.path.join(folder, name))
            elif os.path.exists(os.path.join(folder, name)):
                os.remove(os.path.join(folder, name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", metavar="RUN.h5")
    parser.add_argument("--output", "-o", required=True, metavar="FOLDER", help="folder for the model")
    parser.add_argument("--checkpoint", "-c", choices=("best", "last", "average"), help="parameters to write; default: best")
    parser.add_argument("--positions", type=int, metavar="N", help="number of positions of a source and of a translation")
    parser.add_argument("--changed-plugins", action="store_true", help="compute with plugins that have changed")
    parser.add_argument("--force", action="store_true", help="replace an existing model")
    parser.add_argument("--plait", default="plait", help="the program; default: plait in PATH")
    options = parser.parse_args()
    if options.positions is not None and options.positions < 1:
        fail(f"--positions cannot be {options.positions}; expected an integer from 1 on")
    for name in FILES:
        path = os.path.join(options.output, name)
        if os.path.exists(path) and os.path.exists(options.run) and os.path.samefile(path, options.run):
            fail(f"{path}: is the same file as {options.run}, which is read; name another folder")
        if os.path.exists(path) and not options.force:
            fail(f"{path}: exists already; name another folder, or add --force to replace it")
    passed_on = ["--checkpoint", options.checkpoint] if options.checkpoint else []
    run, model = Run(options.plait, options.run, passed_on + ["--changed-plugins"] * options.changed_plugins), Model()
    group = check(run)
    source, stream = group.split(" ", 1)[1], run.get(group, "stream")
    positions = add_encoder(run, model, group, options.positions), add_decoder(run, model, source, options.positions)
    add_words(run, model, source, stream)
    left = [name for name in run.tensors if name not in run.used]
    if left:
        fail(f"{run.path}: CTranslate2 has no place for {left[0]}; export the run as safetensors")
    write(model, describe(run, stream), options.output)
    print(f"the model has positions for {positions[0]} tokens of a source and {positions[1]} of a translation, start and end counted"
          f"{'' if options.positions else '; --positions changes these numbers'}", file=sys.stderr)
    print("CTranslate2 cuts sources after 1024 tokens, unless its max_input_length says otherwise", file=sys.stderr)
    tell_documents(run, stream, ", including the first")
    tell_documents(run, run.get("data", "target"), " except the first")
    if run.get("decode", "precision", "float") != "float":
        print("the weights of the converted model are floats; decode.precision=int8 is not applied", file=sys.stderr)


if __name__ == "__main__":
    main()
