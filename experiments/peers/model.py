# SPDX-License-Identifier: MIT
"""The multi-source Transformer of Libovický, Helcl & Mareček (2018) in plain PyTorch.

Pre-norm, one encoder for each source, embeddings shared by all streams and the output layer, four combiners. Attention
projections have no biases, feed-forward layers have. Only the queries of cross-attention are normalised.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F

from sizes import BEGIN, PADDING

EPSILON = 1e-6
LONGEST = 4096
COMBINERS = ("serial", "parallel", "flat", "hierarchical")


class Spread(torch.autograd.Function):
    """rows [N, d] -> cells [cells, d]; cells without a row are zero. Each cell has at most one row, so nothing is added
    up."""

    @staticmethod
    def forward(context, rows, cell, cells):
        context.save_for_backward(cell)
        return rows.new_zeros(cells, rows.shape[1]).index_copy_(0, cell, rows)

    @staticmethod
    def backward(context, gradient):
        return gradient.index_select(0, context.saved_tensors[0]), None, None


class Collect(torch.autograd.Function):
    """cells [cells, d] -> rows [N, d]: the cells with the indices `cell`."""

    @staticmethod
    def forward(context, cells, cell):
        context.save_for_backward(cell)
        context.cells = cells.shape[0]
        return cells.index_select(0, cell)

    @staticmethod
    def backward(context, gradient):
        cell = context.saved_tensors[0]
        return gradient.new_zeros(context.cells, gradient.shape[1]).index_copy_(0, cell, gradient), None


class Layout:
    """Positions of the rows of a batch: end to end (packed), or each sentence padded to the longest of the batch."""

    def __init__(self, lengths, packed, dtype=torch.float32):
        self.lengths, self.batch, self.longest = lengths, len(lengths), max(lengths)
        real = torch.arange(self.longest)[None] < torch.tensor(lengths)[:, None]
        self.full = bool(real.all())
        self.packed = packed and not self.full
        self.cell = real.flatten().nonzero().flatten()
        self.mask = None if self.full else torch.zeros(self.batch, 1, 1, self.longest, dtype=dtype).masked_fill_(~real[:, None, None], -torch.inf)

    def split(self, rows, heads):
        """rows [*, d] -> [batch, heads, longest, d/heads]"""
        cells = Spread.apply(rows, self.cell, self.batch * self.longest) if self.packed else rows
        return cells.view(self.batch, self.longest, heads, -1).transpose(1, 2)

    def join(self, split):
        """[batch, heads, longest, width] -> rows [*, heads * width]"""
        cells = split.transpose(1, 2).reshape(self.batch * self.longest, -1)
        return Collect.apply(cells, self.cell) if self.packed else cells

    def real(self, rows):
        """Returns the rows without padding."""
        return rows if self.packed or self.full else Collect.apply(rows, self.cell)

    def column(self, streams):
        """Returns ids and positions of the rows, in order."""
        if self.packed or self.full:
            return torch.tensor([word for stream in streams for word in stream]), torch.cat([torch.arange(n) for n in self.lengths])
        padded = [word for stream in streams for word in stream + [PADDING] * (self.longest - len(stream))]
        return torch.tensor(padded), torch.arange(self.longest).repeat(self.batch)


class Batch:
    """Tensors of a list of sentence tuples (sources, then target)."""

    def __init__(self, tuples, size, packed, image=None):
        streams = [list(stream) for stream in zip(*tuples)]
        self.target = torch.tensor([word for stream in streams[-1] for word in stream])
        streams[-1] = [[BEGIN] + stream[:-1] for stream in streams[-1]]
        self.layouts = [Layout([len(stream) for stream in column], packed) for column in streams]
        columns = [layout.column(column) for layout, column in zip(self.layouts, streams)]
        self.rows = [len(ids) for ids, _ in columns]
        self.ids = torch.cat([ids for ids, _ in columns])
        self.positions = torch.cat([positions for _, positions in columns])
        self.memories = self.layouts[:-1]
        self.image = None
        if size.image_positions:
            self.image = image[: len(tuples)]
            self.memories = self.memories + [Layout([size.image_positions] * len(tuples), packed)]


class SelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.inputs = nn.Linear(width, 3 * width, bias=False)
        self.output = nn.Linear(width, width, bias=False)

    def forward(self, x, layout, causal):
        queries, keys, values = layout.split(self.inputs(x), 3 * self.heads).chunk(3, 1)
        # Padding is on the right, where a causal query never looks.
        mask = None if causal else layout.mask
        return self.output(layout.join(F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, is_causal=causal)))

    def step(self, x, cache, time):
        """x [hypotheses, d]; cache [2, longest, hypotheses, d]: writes row `time` and attends to rows 0..time."""
        count, width = x.shape
        inputs = self.inputs(x)
        cache[:, time] = inputs[:, width:].view(count, 2, width).transpose(0, 1)
        queries = inputs[:, :width].view(count, self.heads, 1, -1)
        keys, values = cache[:, : time + 1].view(2, time + 1, count, self.heads, -1).permute(0, 2, 3, 1, 4)
        return self.output(F.scaled_dot_product_attention(queries, keys, values).reshape(count, width))


class CrossAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.queries = nn.Linear(width, width, bias=False)
        self.inputs = nn.Linear(width, 2 * width, bias=False)
        self.output = nn.Linear(width, width, bias=False)

    def project(self, memory, layout):
        """Returns keys and values [batch, heads, rows, d/heads], and the mask of the padding."""
        keys, values = layout.split(self.inputs(memory), 2 * self.heads).chunk(2, 1)
        return keys, values, layout.mask

    def forward(self, x, layout, projected):
        keys, values, mask = projected
        queries = layout.split(self.queries(x), self.heads)
        return self.output(layout.join(F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)))


class Combiner(nn.Module):
    """Adds attention to all memories to x, combined as in Libovický et al. 2018, equations 4 to 8."""

    def __init__(self, kind, width, heads, memories, dropout):
        super().__init__()
        self.kind = kind
        self.norms = nn.ModuleList(nn.LayerNorm(width, EPSILON) for _ in range(memories if kind == "serial" else 1))
        self.attentions = nn.ModuleList(CrossAttention(width, heads) for _ in range(1 if kind == "flat" else memories))
        self.contexts = CrossAttention(width, heads) if kind == "hierarchical" else None
        self.dropout = nn.Dropout(dropout)

    def project(self, memories, layouts):
        if self.kind != "flat":
            return [attention.project(*pair) for attention, pair in zip(self.attentions, zip(memories, layouts))]
        parts = [self.attentions[0].project(*pair) for pair in zip(memories, layouts)]
        keys, values = (torch.cat([part[i] for part in parts], 2) for i in (0, 1))
        masks = [keys.new_zeros(part[0].shape[0], 1, 1, part[0].shape[2]) if part[2] is None else part[2] for part in parts]
        return [(keys, values, torch.cat(masks, 3))]

    def forward(self, x, layout, projected):
        if self.kind == "serial":
            for norm, attention, memory in zip(self.norms, self.attentions, projected):
                x = x + self.dropout(attention(norm(x), layout, memory))
            return x
        query = self.norms[0](x)
        found = [self.dropout(attention(query, layout, memory)) for attention, memory in zip(self.attentions, projected)]
        if self.kind == "hierarchical":
            # Each target row is a sentence of its own, and its rows are the contexts of the memories.
            each = Layout([1] * len(query), False)
            items = Layout([len(found)] * len(query), False)
            return x + self.dropout(self.contexts(query, each, self.contexts.project(torch.stack(found, 1).flatten(0, 1), items)))
        return x + sum(found)


class FeedForward(nn.Sequential):
    def __init__(self, width, inner):
        super().__init__(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width))


class EncoderLayer(nn.Module):
    def __init__(self, size, dropout):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(size.width, EPSILON) for _ in range(2))
        self.attention = SelfAttention(size.width, size.heads)
        self.feed_forward = FeedForward(size.width, size.inner)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, layout):
        x = x + self.dropout(self.attention(self.norms[0](x), layout, causal=False))
        return x + self.dropout(self.feed_forward(self.norms[1](x)))


class DecoderLayer(nn.Module):
    def __init__(self, size, combiner, dropout):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(size.width, EPSILON) for _ in range(2))
        self.attention = SelfAttention(size.width, size.heads)
        self.combiner = Combiner(combiner, size.width, size.heads, size.memories, dropout)
        self.feed_forward = FeedForward(size.width, size.inner)
        self.dropout = nn.Dropout(dropout)

    def rest(self, x, layout, projected):
        x = self.combiner(x, layout, projected)
        return x + self.dropout(self.feed_forward(self.norms[1](x)))

    def forward(self, x, layout, projected):
        return self.rest(x + self.dropout(self.attention(self.norms[0](x), layout, causal=True)), layout, projected)

    def step(self, x, layout, projected, cache, time):
        return self.rest(x + self.attention.step(self.norms[0](x), cache, time), layout, projected)


class Model(nn.Module):
    def __init__(self, size, combiner="serial", dropout=0.1):
        super().__init__()
        self.size = size
        self.embedding = nn.Parameter(torch.randn(size.vocabulary, size.width) * size.width**-0.5)
        self.encoders = nn.ModuleList(nn.ModuleList(EncoderLayer(size, dropout) for _ in range(size.encoder_layers)) for _ in range(size.token_sources))
        self.encoder_norms = nn.ModuleList(nn.LayerNorm(size.width, EPSILON) for _ in range(size.token_sources))
        self.image = nn.Linear(size.image_width, size.width) if size.image_positions else None
        self.decoder = nn.ModuleList(DecoderLayer(size, combiner, dropout) for _ in range(size.decoder_layers))
        self.decoder_norm = nn.LayerNorm(size.width, EPSILON)
        self.dropout = nn.Dropout(dropout)
        angles = torch.arange(float(LONGEST))[:, None] * torch.exp(torch.arange(0, size.width, 2) * (-math.log(1e4) / size.width))
        self.register_buffer("signal", torch.stack([angles.sin(), angles.cos()], 2).flatten(1), persistent=False)

    def embed(self, ids, positions):
        return self.dropout(F.embedding(ids, self.embedding) * self.size.width**0.5 + self.signal[positions])

    def encode(self, batch):
        """Returns the memories [rows, d] of all sources, and the rows of the target."""
        # One look-up for all streams, because each look-up has a dense gradient [vocabulary, d].
        *sources, target = self.embed(batch.ids, batch.positions).split(batch.rows)
        memories = []
        for x, layers, norm, layout in zip(sources, self.encoders, self.encoder_norms, batch.layouts):
            for layer in layers:
                x = layer(x, layout)
            memories.append(norm(x))
        if self.image is not None:
            memories.append(self.image(batch.image.flatten(0, 1)))
        return memories, target

    def output(self, x):
        return F.linear(x, self.embedding)

    def loss(self, batch, smoothing=0.1):
        """Returns the mean label-smoothed cross entropy of a target token, with teacher forcing."""
        memories, x = self.encode(batch)
        layout = batch.layouts[-1]
        for layer in self.decoder:
            x = layer(x, layout, layer.combiner.project(memories, batch.memories))
        return F.cross_entropy(self.output(layout.real(self.decoder_norm(x))), batch.target, label_smoothing=smoothing)
