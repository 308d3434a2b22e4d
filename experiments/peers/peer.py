# SPDX-License-Identifier: MIT
"""Times the PyTorch peer: peer.py train|decode --size SIZE --data FILE. Prints one JSON object."""

import argparse
import json
import os
import statistics
import sys
import time

# What the process must be started with to be at its best, each measured (README.md).
TUNED = {
    "MALLOC_MMAP_THRESHOLD_": str(1 << 32),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 33),
    "MALLOC_TOP_PAD_": str(1 << 26),
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    "LD_PRELOAD": os.path.join(sys.prefix, "lib", "mkl_avx512.so"),
}


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mode", choices=("train", "decode"))
    parser.add_argument("--size", choices=("small", "msmt", "mmt"), required=True)
    parser.add_argument("--data", required=True, help="token-data file (README.md)")
    parser.add_argument("--combiner", choices=("serial", "parallel", "flat", "hierarchical"), default="serial")
    parser.add_argument("--settings", choices=("plain", "tuned"), default="tuned", help="plain: padded rows and the process as it comes")
    parser.add_argument("--dropout", type=float, default=0.1, help="of embeddings and sub-layer outputs, in training")
    parser.add_argument("--beam", type=int, default=10)
    parser.add_argument("--batch", type=int, help="sentences a batch in decoding; default 16")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--warmup", type=int, default=2, help="steps before the timed ones")
    parser.add_argument("--steps", type=int, default=10, help="timed steps: updates, or batches decoded")
    parser.add_argument("--json", action="store_true", help="accepted for symmetry with plait bench: the output is JSON anyway")
    return parser.parse_args()


def restart_tuned():
    """The dynamic loader and malloc read their variables at the start only."""
    if any(os.environ.get(name) != value for name, value in TUNED.items()):
        if not os.path.exists(TUNED["LD_PRELOAD"]):
            sys.exit(f"{TUNED['LD_PRELOAD']} is missing: make the environment with setup.sh and run its python")
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **TUNED})


def peak_bytes():
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def main():
    options = parse()
    if options.settings == "tuned":
        restart_tuned()

    import torch

    loaded = peak_bytes()
    import figures
    import tokens
    from model import Batch, Model
    from search import beam_search, prepack
    from sizes import SIZES

    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    torch.set_flush_denormal(True)
    size = SIZES[options.size]
    packed = options.settings == "tuned"
    batches = tokens.read(options.data, size)
    if options.mode == "decode":
        batches = tokens.regroup(batches, options.batch or 16)
    image = torch.randn(max(map(len, batches)), size.image_positions, size.image_width) if size.image_positions else None
    prepared = [Batch(batch, size, packed, image) for batch in batches]
    model = Model(size, options.combiner, options.dropout)

    if options.mode == "train":
        optimiser = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)

        def step(batch):
            optimiser.zero_grad(set_to_none=True)
            model.loss(batch).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
            optimiser.step()

    else:
        model.eval()
        if options.settings == "tuned":
            prepack(model, options.beam * max(map(len, batches)))

        def step(batch):
            beam_search(model, batch, options.beam, size.decode_steps)

    seconds = []
    for index in range(options.warmup + options.steps):
        start = time.perf_counter()
        step(prepared[index % len(prepared)])
        if index >= options.warmup:
            seconds.append(time.perf_counter() - start)
    peak = peak_bytes()

    timed = [batches[index % len(batches)] for index in range(options.warmup, options.warmup + options.steps)]
    sgemm = figures.sgemm_gflops(lambda n: torch.randn(n, n), torch.mm)
    derived = figures.derive(size, options.mode, options.combiner, timed, seconds, sgemm)
    print(
        json.dumps(
            {
                "program": f"PyTorch {options.settings}",
                "version": torch.__version__,
                "size": options.size,
                "mode": options.mode,
                "combiner": options.combiner,
                "beam": options.beam if options.mode == "decode" else None,
                "batch": statistics.median(len(batch) for batch in timed),
                "threads": options.threads,
                "dropout": options.dropout,
                **derived,
                "peak_bytes": peak,
                "loaded_bytes": loaded,
                "sgemm_gflops": sgemm,
                "warmup": options.warmup,
                "steps": options.steps,
                "seconds_per_step": seconds,
                "core_type": f"MKL{', AVX-512 kernels' if packed else ''}",
            }
        )
    )


if __name__ == "__main__":
    main()
