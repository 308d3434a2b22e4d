# SPDX-License-Identifier: MIT
"""A step of attention in PyTorch, to all rows or down a pyramid, over the file that `plait-bench steps --parameters`
wrote."""

import argparse
import json
import math
import statistics
import time

import torch

EPSILON = 1e-6


def load(path):
    """Returns (parameters by name, all other datasets by name)."""
    import h5py

    parameters, others = {}, {}

    def take(name, item):
        if isinstance(item, h5py.Dataset):
            group, _, rest = name.partition("/")
            if group == "parameters":
                parameters[rest] = torch.from_numpy(item[()])
            elif group != "contents":  # digests of all datasets
                others[name] = torch.from_numpy(item[()])

    with h5py.File(path) as file:
        file.visititems(take)
    return parameters, others


class Step:
    """One query a sentence. All sentences have equal keys and values, each its own copy."""

    def __init__(self, path, heads, branches):
        self.parameters, written = load(path)
        self.queries, self.given = written["queries"], written["given"]
        self.additive = self.find("vector") is not None
        self.scaled = self.find("output/weight") is not None
        self.heads, self.branches = heads if self.scaled else 1, branches
        self.batch = len(self.queries)
        self.keys, self.values = self.split(written["keys"]), self.split(written["values"])
        if branches:
            self.first, self.number = written["first_child"].clamp(min=0), written["n_children"]
            levels = written["level"]
            self.height = int(levels.max())
            self.top = torch.nonzero(levels == self.height).flatten()
            self.offsets = torch.arange(int(self.number.max()))
            # [batch, heads, 1]: first row of each sentence and head, so that one index finds a row.
            n = self.keys.shape[2]
            self.base = (torch.arange(self.batch * self.heads) * n).view(self.batch, self.heads, 1)
            self.flat_keys, self.flat_values = (x.reshape(-1, x.shape[-1]) for x in (self.keys, self.values))

    def find(self, name):
        """Returns the parameter of the first cross-attention, or None."""
        first = ("decoder/layer/0/combiner/attend/", "decoder/combiner/attend/")
        found = [value for key, value in self.parameters.items() if key.startswith(first) and key.endswith("/" + name)]
        return found[0] if found else None

    def split(self, x):
        """[rows, w] -> [batch, heads, rows, w / heads]"""
        x = x.view(len(x), self.heads, -1).transpose(0, 1)
        return x.expand(self.batch, *x.shape).contiguous()

    def linear(self, name, x):
        weight, bias = self.find(f"{name}/weight"), self.find(f"{name}/bias")
        if weight is None:
            return x
        return x @ weight if bias is None else torch.addmm(bias, x, weight)

    def scores(self, query, keys):
        """query [..., 1, w], keys [..., rows, w] -> [..., rows]"""
        if self.additive:
            return torch.tanh(query + keys) @ self.find("vector").flatten()
        scores = (query * keys).sum(-1)
        return scores / math.sqrt(query.shape[-1]) if self.scaled else scores

    def attend(self, query):
        """Attends to all rows: query [batch, heads, w] -> [batch, heads, w]."""
        query = query.unsqueeze(2)
        if self.scaled:
            return torch.nn.functional.scaled_dot_product_attention(query, self.keys, self.values).squeeze(2)
        scores = self.scores(query, self.keys) if self.additive else (query @ self.keys.transpose(2, 3)).squeeze(2)
        return (torch.softmax(scores, -1).unsqueeze(2) @ self.values).squeeze(2)

    def descend(self, query):
        """Attends to the leaves below the best `branches` rows of each level: query [batch, heads, w] -> [batch, heads,
        w]."""
        rows = self.top.expand(self.batch, self.heads, 1, -1)
        there = torch.ones_like(rows, dtype=torch.bool)
        path = torch.ones(self.batch, self.heads, 1)
        for level in range(self.height, -1, -1):
            flat = rows.flatten(2)
            keys = self.flat_keys[self.base + flat]
            scores = self.scores(query.unsqueeze(2), keys).view(rows.shape).masked_fill(~there, -math.inf)
            weights = (torch.softmax(scores, -1) * path.unsqueeze(-1)).masked_fill(~there, 0).flatten(2)
            if level == 0:
                weights = weights / weights.sum(-1, keepdim=True)
                return (weights.unsqueeze(2) @ self.flat_values[self.base + flat]).squeeze(2)
            path, best = torch.topk(weights, min(self.branches, weights.shape[-1]))
            parents = flat.gather(2, best)
            rows = self.first[parents].unsqueeze(-1) + self.offsets
            there = self.offsets < self.number[parents].unsqueeze(-1)
            rows = torch.where(there, rows, rows[..., :1])

    def __call__(self):
        x = self.queries
        if self.scaled:
            x = torch.nn.functional.layer_norm(x, x.shape[-1:], eps=EPSILON)
        query = self.linear("query", x).view(self.batch, self.heads, -1)
        context = (self.descend if self.branches else self.attend)(query).flatten(1)
        return self.queries + self.linear("output", context) if self.scaled else context


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="file that plait-bench steps --parameters wrote")
    parser.add_argument("--heads", type=int, default=8, help="heads of scaled dot products")
    parser.add_argument("--branches", type=int, default=0, help="branches of each level; 0: attend to all rows")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--compile", action="store_true", help="use torch.compile")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    with torch.inference_mode():
        step = Step(options.file, options.heads, options.branches)
        difference = float((step() - step.given).abs().max() / step.given.abs().max())
        call = torch.compile(step.__call__) if options.compile else step
        for _ in range(3):
            call()
        seconds, processor = [], []
        for _ in range(options.steps):
            wall, cpu = time.perf_counter(), time.process_time()
            call()
            seconds.append(time.perf_counter() - wall)
            processor.append(time.process_time() - cpu)
    print(
        json.dumps(
            {
                "program": "torch",
                "version": torch.__version__,
                "threads": options.threads,
                "difference": difference,
                "us": statistics.median(seconds) * 1e6,
                "processor us": statistics.median(processor) * 1e6,
            }
        )
    )


if __name__ == "__main__":
    main()
