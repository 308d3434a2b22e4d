# SPDX-License-Identifier: MIT
"""Gives the Transformer of model.py the parameters of plait (plait-bench --parameters), whose weights are [in, out]."""

import numpy
import torch
from torch import nn


def names(model):
    """Yields each module with its name in plait, as (name, module)."""
    sources = [f"text{index}" for index in range(model.size.token_sources)]
    for source, layers, norm in zip(sources, model.encoders, model.encoder_norms):
        for index, layer in enumerate(layers):
            yield from of_layer(f"source/{source}/layer/{index}", layer)
        yield f"source/{source}/norm", norm
    if model.image is not None:
        yield "source/image/projection", model.image
        sources.append("image")
    for index, layer in enumerate(model.decoder):
        prefix, combiner = f"decoder/layer/{index}", layer.combiner
        yield from of_layer(prefix, layer)
        attended = ["jointly"] if combiner.kind == "flat" else [f"attend/{source}" for source in sources]
        attentions = [*zip(attended, combiner.attentions), ("contexts", combiner.contexts)]
        for name, attention in attentions:
            if attention is not None:
                yield f"{prefix}/combiner/{name}/query", attention.queries
                yield f"{prefix}/combiner/{name}/key_value", attention.inputs
                yield f"{prefix}/combiner/{name}/output", attention.output
        for number, norm in enumerate(combiner.norms):
            yield f"{prefix}/combiner/normalise/{number}", norm
    yield "decoder/norm", model.decoder_norm


def of_layer(prefix, layer):
    yield f"{prefix}/self_attention/query_key_value", layer.attention.inputs
    yield f"{prefix}/self_attention/output", layer.attention.output
    yield f"{prefix}/feed_forward/inner", layer.feed_forward[0]
    yield f"{prefix}/feed_forward/outer", layer.feed_forward[2]
    yield f"{prefix}/self_attention_norm", layer.norms[0]
    yield f"{prefix}/feed_forward_norm", layer.norms[1]


def scores_of(values, name):
    """Returns weight and bias of the scores `name` of the pointer, which has a weight for each input."""
    parts = [values.pop(f"decoder/output/{name}/{part}/weight") for part in ("context", "state", "embedded")]
    return numpy.concatenate(parts), values.pop(f"decoder/output/{name}/state/bias")


@torch.no_grad()
def load(model, values):
    """Copies values (name -> array). Fails if one is missing or left."""
    values = dict(values)
    model.embedding.copy_(torch.from_numpy(values.pop("embedding/shared/table")))
    for name, module in names(model):
        is_norm = isinstance(module, nn.LayerNorm)
        weight = values.pop(f"{name}/{'gain' if is_norm else 'weight'}")
        module.weight.copy_(torch.from_numpy(weight.reshape(-1) if is_norm else weight.T))
        if module.bias is not None:
            module.bias.copy_(torch.from_numpy(values.pop(f"{name}/bias").reshape(-1)))
    if model.pointer is not None:
        found = [scores_of(values, name) for name in (["gate", "sources"] if model.pointer.own else ["gate"])]
        model.pointer.scores.weight.copy_(torch.from_numpy(numpy.concatenate([weight for weight, _ in found], 1).T))
        model.pointer.scores.bias.copy_(torch.from_numpy(numpy.concatenate([bias for _, bias in found], 1).reshape(-1)))
    # Plait declares these for several sources, but hierarchical and flat attention do not use them.
    left = [name for name in values if not name.startswith("decoder/output/sources/")]
    if left:
        raise SystemExit(f"the peer has no parameter {left[0]}")
