# SPDX-License-Identifier: MIT
"""Times the PyTorch peer: peer.py train|decode|tree|recurrent --size SIZE --data FILE. Prints one JSON object.

train: forward, backward, clipping by the global norm at 1, Adam (.9, .98), label smoothing .1, dropout .1 of embeddings
and sublayer outputs. decode: beam search with untrained weights for a fixed number of steps, without the end token: 14
(small, mmt), 28 (msmt) or 128 (long). tree, recurrent: the model of Chen et al. (2017), trained without label smoothing
and dropout. plait-bench --json prints the same fields:

    program, version, mode, threads    as given
    size, part, combiner, coverage, reset, nodes, beam, batch, dropout    as given, null if without meaning (plait: experiment, set, measured)
    tokens_per_second        target tokens without padding a second; decoding: sentences/s times steps
    sentences_per_second     sentences a second
    peak_bytes, loaded_bytes    VmHWM after the last timed step, and after loading the libraries
    sgemm_gflops             float32 2048 x 2048 x 2048, all threads, median of 8, after the timed steps
    share, flop_per_step     FLOP a second divided by the sgemm rate, null in decoding; FLOP of a step (plait alone)
    warmup, steps, seconds_per_step, processor_seconds_per_step    steps before the timed ones, timed steps, their times in order
    losses                   of all steps: nats a target token; decoding: minus the mean score of all hypotheses; encoder and attention: the sum that backward begins with
    core_type                the kernels in use

compare.py derives rates from seconds_per_step, equally for all programs.
"""

import argparse
import dataclasses
import json
import os
import statistics
import sys
import time

# The environment in which the process is fastest (../tables.py peer-settings).
TUNED = {
    "MALLOC_MMAP_THRESHOLD_": str(1 << 32),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 33),
    "MALLOC_TOP_PAD_": str(1 << 26),
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}
# Debian's PyTorch has no virtual environment and no MKL.
if sys.prefix != sys.base_prefix:
    TUNED["LD_PRELOAD"] = os.path.join(sys.prefix, "lib", "mkl-avx512.so")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mode", choices=("train", "decode", "tree", "recurrent"))
    parser.add_argument("--size", choices=("small", "msmt", "mmt", "long", "h128", "h256", "h1024"), required=True)
    parser.add_argument("--data", help="token-data file (tokens.py)")
    parser.add_argument("--combiner", choices=("serial", "parallel", "flat", "hierarchical"), default="serial")
    parser.add_argument("--encoding", choices=("interleaved", "rotary"), default="interleaved", help="positions of the Transformer: sinusoids, or rotary")
    parser.add_argument("--output", choices=("softmax", "pointer"), default="softmax", help="pointer: copies words of the sources")
    parser.add_argument("--rate", type=float, default=1e-4, help="learning rate")
    parser.add_argument("--settings", choices=("plain", "tuned"), default="tuned", help="plain: padded rows and the default environment")
    parser.add_argument("--precision", choices=("float", "bfloat16"), default="float", help="train: bfloat16 casts as torch.autocast does")
    parser.add_argument("--dropout", type=float, default=0.1, help="train: dropout of embeddings and sublayer outputs")
    parser.add_argument("--beam", type=int, default=10)
    parser.add_argument("--batch", type=int, help="sentences a batch in decoding; default 16")
    parser.add_argument("--members", type=int, default=1, help="decode: models of an ensemble; model N > 0 begins with the values in PARAMETERS.N")
    parser.add_argument("--part", choices=("step", "encoder", "attention", "attention-forward"), default="step", help="tree, recurrent: the timed part")
    parser.add_argument("--coverage", choices=("none", "word", "tree"), default="none")
    parser.add_argument("--reset", choices=("before", "after"), default="before", help="tree, recurrent: reset gates act before or after the product")
    parser.add_argument("--nodes", choices=("level", "single"), default="level", help="tree: all nodes of a level together, or one by one")
    parser.add_argument("--positions", type=int, default=10000, help="rows that a step of attention reads")
    parser.add_argument("--parameters", help="file of initial values by plait-bench --parameters; default: random values")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--warmup", type=int, default=2, help="steps before the timed ones")
    parser.add_argument("--steps", type=int, default=10, help="timed steps: updates, or batches decoded")
    parser.add_argument("--json", action="store_true", help="ignored: the output is always JSON")
    options = parser.parse_args()
    if not options.data and not options.part.startswith("attention"):
        parser.error("--data is missing")
    return options


def restart_tuned():
    """Starts this process again with the tuned environment, which the dynamic loader and malloc read only at the start."""
    if any(os.environ.get(name) != value for name, value in TUNED.items()):
        if not os.path.exists(TUNED.get("LD_PRELOAD", "/")):
            sys.exit(f"{TUNED['LD_PRELOAD']} is missing: make the environment with setup.sh and run its python")
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **TUNED})


def peak_bytes():
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def updating(model, loss, precision="float", rate=1e-4):
    """Returns a training step: a function that computes the loss of a batch and its gradients and updates the model."""
    import torch

    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    clip = torch.nn.utils.clip_grad_norm_
    # PyTorch 1.13 (Debian's) has fused Adam only for GPUs, and one form of clipping.
    fastest = {"fused": True} if torch.__version__ >= "2" else {"foreach": True}
    foreach = {"foreach": True} if torch.__version__ >= "2" else {}
    optimiser = torch.optim.Adam(trained, lr=rate, betas=(0.9, 0.98), eps=1e-9, **fastest)

    def step(batch):
        optimiser.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16"):
            found = loss(batch)
        found.backward()
        clip(trained, 1.0, **foreach)
        optimiser.step()
        return found

    return step


def transformer(options, size, batches):
    """Returns (step, its arguments for each of `batches`)."""
    import torch

    from initial import load
    from model import Batch, Model
    from search import beam_search, prepack

    packed = options.settings == "tuned"
    image = torch.randn(max(map(len, batches)), size.image_positions, size.image_width) if size.image_positions else None
    prepared = [Batch(batch, size, packed, image, copies=options.output == "pointer") for batch in batches]
    models = [Model(size, options.combiner, options.dropout, options.encoding, options.output, sparse=packed) for _ in range(options.members)]
    for number, model in enumerate(models if options.parameters else []):
        load(model, parameters(f"{options.parameters}.{number}" if number else options.parameters))
    if options.mode == "train":
        return updating(models[0], models[0].loss, options.precision, options.rate), prepared
    for model in models:
        model.eval()
        if options.settings == "tuned":
            prepack(model, options.beam * max(map(len, batches)))
    return lambda batch: -beam_search(models, batch, options.beam, size.decode_steps)[1].mean(), prepared


def parameters(path):
    """Returns name -> array of the file that plait-bench wrote."""
    import h5py

    values = {}

    def take(name, item):
        if isinstance(item, h5py.Dataset):
            values[name] = item[()]

    with h5py.File(path) as file:
        file["parameters"].visititems(take)
    return values


def recurrent(options, size, batches):
    """Returns (step, its arguments for each of `batches`)."""
    import torch

    from naive import NodeByNode
    from recurrent import Attention, Batch, System

    values = parameters(options.parameters) if options.parameters else None

    def going_back(model, loss):
        def step(batch):
            model.zero_grad(set_to_none=True)
            found = loss(batch)
            found.backward()
            return found

        return step

    if options.part.startswith("attention"):
        model = Attention(size, options.positions, values)
        forward = torch.no_grad()(lambda batch: model())
        return (going_back(model, lambda batch: model()) if options.part == "attention" else forward), [None]
    model = (System if options.nodes == "level" else NodeByNode)(size, options.coverage, options.reset, values)
    prepared = [Batch(batch, size) for batch in batches]
    if options.part == "encoder":
        return going_back(model, lambda batch: model.encode(batch).sum()), prepared
    return updating(model, model.loss), prepared


def main():
    options = parse()
    if options.settings == "tuned":
        restart_tuned()

    import torch

    loaded = peak_bytes()
    import figures
    import tokens
    from sizes import RECURRENT_SIZES, SIZES

    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    torch.set_flush_denormal(True)
    is_recurrent = options.mode in ("tree", "recurrent")
    if options.size not in (RECURRENT_SIZES if is_recurrent else SIZES):
        sys.exit(f"--size cannot be {options.size} in mode {options.mode}")
    size = dataclasses.replace(RECURRENT_SIZES[options.size], trees=options.mode == "tree") if is_recurrent else SIZES[options.size]
    batches = [] if options.part.startswith("attention") else tokens.read(options.data, size)
    if options.mode == "decode":
        batches = tokens.regroup(batches, options.batch or 16)
    step, prepared = (recurrent if is_recurrent else transformer)(options, size, batches)

    seconds, processor, losses = [], [], []
    for index in range(options.warmup + options.steps):
        start, spent = time.perf_counter(), time.process_time()
        found = step(prepared[index % len(prepared)])
        if index >= options.warmup:
            seconds.append(time.perf_counter() - start)
            processor.append(time.process_time() - spent)
        if isinstance(found, torch.Tensor):
            losses.append(found.item())
    peak = peak_bytes()

    timed = [batches[index % len(batches)] for index in range(options.warmup, options.warmup + options.steps)] if batches else []
    sgemm = figures.sgemm_gflops(lambda n: torch.randn(n, n), torch.mm)
    derived = figures.derive(size, options.mode, options.combiner, timed, seconds, sgemm, options.part, options.coverage)
    print(
        json.dumps(
            {
                "program": f"PyTorch {options.settings}",
                "version": torch.__version__,
                "size": options.size,
                "mode": options.mode,
                "part": options.part,
                "coverage": options.coverage if is_recurrent else None,
                "reset": options.reset if is_recurrent else None,
                "nodes": options.nodes if options.mode == "tree" else None,
                "combiner": options.combiner,
                "beam": options.beam if options.mode == "decode" else None,
                "batch": statistics.median(len(batch) for batch in timed) if timed else 1,
                "threads": options.threads,
                "precision": options.precision if options.mode == "train" else None,
                "dropout": 0 if is_recurrent else options.dropout,
                **derived,
                "peak_bytes": peak,
                "loaded_bytes": loaded,
                "sgemm_gflops": sgemm,
                "warmup": options.warmup,
                "steps": options.steps,
                "seconds_per_step": seconds,
                "processor_seconds_per_step": processor,
                "losses": losses,
                "core_type": f"{'MKL' if torch.backends.mkl.is_available() else 'OpenBLAS'}{', AVX-512 kernels' if options.settings == 'tuned' else ''}",
            }
        )
    )


if __name__ == "__main__":
    main()
