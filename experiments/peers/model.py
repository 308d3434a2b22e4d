# SPDX-License-Identifier: MIT
"""The multi-source Transformer of Libovický, Helcl & Mareček (2018) in plain PyTorch.

Pre-norm, one encoder for each source, embeddings shared by all streams and the output layer, four combiners. Attention
projections have no biases, feed-forward layers have. Only the queries of cross-attention are normalised. Positions are
sinusoids, or rotary (Su et al. 2021); the output is a softmax, or a pointer-generator (pointer.py).
"""

import math

import torch
from torch import nn
from torch.nn import functional as F

from pointer import Pointer, Reading, Words, dense_loss, sparse_loss
from sizes import BEGIN, PADDING

EPSILON = 1e-6
LONGEST = 4096
COMBINERS = ("serial", "parallel", "flat", "hierarchical")
POSITIONS = ("interleaved", "rotary")
OUTPUTS = ("softmax", "pointer")


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
        self.turns = None  # with rotary positions: the turns of the rows
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


def rotate(rows, turns, heads):
    """Turns columns 2 i and 2 i + 1 of each head of rows [n, d] by the complex numbers turns [n or 1, 1, d/heads/2]."""
    pairs = torch.view_as_complex(rows.view(len(rows), heads, -1, 2))
    return torch.view_as_real(pairs * turns).flatten(1)


class Batch:
    """Tensors of a list of sentence tuples (sources, then target)."""

    def __init__(self, tuples, size, packed, image=None, copies=False):
        streams = [list(stream) for stream in zip(*tuples)]
        self.words = Words(streams[:-1]) if copies else None
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

    def turned(self, inputs, turns):
        """Turns the queries and keys in inputs [rows, 3 d] by `turns`, if there are any."""
        if turns is None:
            return inputs
        width = 2 * inputs.shape[1] // 3
        return torch.cat([rotate(inputs[:, :width], turns, 2 * self.heads), inputs[:, width:]], 1)

    def forward(self, x, layout, causal):
        queries, keys, values = layout.split(self.turned(self.inputs(x), layout.turns), 3 * self.heads).chunk(3, 1)
        # Padding is on the right, where a causal query never looks.
        mask = None if causal else layout.mask
        return self.output(layout.join(F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, is_causal=causal)))

    def step(self, x, cache, time, turns):
        """x [hypotheses, d]; cache [2, longest, hypotheses, d]: writes row `time` and attends to rows 0..time."""
        count, width = x.shape
        inputs = self.turned(self.inputs(x), turns)
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

    def forward(self, x, layout, projected, read=None):
        """Appends the weights [batch, queries, keys], the mean of the heads, to the list `read` if it is given."""
        keys, values, mask = projected
        queries = layout.split(self.queries(x), self.heads)
        if read is None:
            return self.output(layout.join(F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)))
        scores = (queries * queries.shape[-1] ** -0.5) @ keys.transpose(2, 3)
        weights = (scores if mask is None else scores + mask).softmax(3)
        read.append(weights.mean(1))
        return self.output(layout.join(weights @ values))


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

    def forward(self, x, layout, projected, reading=None):
        """Fills the Reading of a pointer if it is given."""
        read = None if reading is None else reading.weights
        contexts = []
        if self.kind == "serial":
            for norm, attention, memory in zip(self.norms, self.attentions, projected):
                contexts.append(self.dropout(attention(norm(x), layout, memory, read)))
                x = x + contexts[-1]
        else:
            query = self.norms[0](x)
            contexts = [self.dropout(attention(query, layout, memory, read)) for attention, memory in zip(self.attentions, projected)]
            if self.kind == "hierarchical":
                # Each target row is a sentence of its own, and its rows are the contexts of the memories.
                each = Layout([1] * len(query), False)
                items = self.contexts.project(torch.stack(contexts, 1).flatten(0, 1), Layout([len(contexts)] * len(query), False))
                contexts = [self.dropout(self.contexts(query, each, items, None if reading is None else reading.shares))]
            x = x + sum(contexts)
        if reading is not None:
            reading.context = sum(contexts)
        return x


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

    def rest(self, x, layout, projected, reading):
        x = self.combiner(x, layout, projected, reading)
        return x + self.dropout(self.feed_forward(self.norms[1](x)))

    def forward(self, x, layout, projected, reading=None):
        return self.rest(x + self.dropout(self.attention(self.norms[0](x), layout, causal=True)), layout, projected, reading)

    def step(self, x, layout, projected, reading, cache, time, turns):
        return self.rest(x + self.attention.step(self.norms[0](x), cache, time, turns), layout, projected, reading)


class Model(nn.Module):
    def __init__(self, size, combiner="serial", dropout=0.1, positions="interleaved", output="softmax", sparse=False):
        """`sparse`: the loss of a pointer does not compute the probabilities of all words."""
        super().__init__()
        self.size, self.sparse = size, sparse
        self.embedding = nn.Parameter(torch.randn(size.vocabulary, size.width) * size.width**-0.5)
        self.encoders = nn.ModuleList(nn.ModuleList(EncoderLayer(size, dropout) for _ in range(size.encoder_layers)) for _ in range(size.token_sources))
        self.encoder_norms = nn.ModuleList(nn.LayerNorm(size.width, EPSILON) for _ in range(size.token_sources))
        self.image = nn.Linear(size.image_width, size.width) if size.image_positions else None
        self.decoder = nn.ModuleList(DecoderLayer(size, combiner, dropout) for _ in range(size.decoder_layers))
        self.decoder_norm = nn.LayerNorm(size.width, EPSILON)
        self.pointer = Pointer(size.width, size.memories, combiner) if output == "pointer" else None
        self.dropout = nn.Dropout(dropout)
        rotary = positions == "rotary"
        columns = size.width // size.heads if rotary else size.width
        angles = torch.arange(float(LONGEST))[:, None] * torch.exp(torch.arange(0, columns, 2) * (-math.log(1e4) / columns))
        self.register_buffer("signal", None if rotary else torch.stack([angles.sin(), angles.cos()], 2).flatten(1), persistent=False)
        self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles)[:, None] if rotary else None, persistent=False)

    def embed(self, ids):
        return F.embedding(ids, self.embedding) * self.size.width**0.5

    def begin(self, embedded, positions):
        """Returns the input of the first layer."""
        return self.dropout(embedded if self.signal is None else embedded + self.signal[positions])

    def encode(self, batch):
        """Returns the memories [rows, d] of all sources, the rows of the target, and its embeddings."""
        # One look-up for all streams, because each look-up has a dense gradient [vocabulary, d].
        embedded = self.embed(batch.ids)
        *sources, target = self.begin(embedded, batch.positions).split(batch.rows)
        if self.turns is not None:
            for layout, turns in zip(batch.layouts, self.turns[batch.positions].split(batch.rows)):
                layout.turns = turns
        memories = []
        for x, layers, norm, layout in zip(sources, self.encoders, self.encoder_norms, batch.layouts):
            for layer in layers:
                x = layer(x, layout)
            memories.append(norm(x))
        if self.image is not None:
            memories.append(self.image(batch.image.flatten(0, 1)))
        return memories, target, embedded[-batch.rows[-1] :]

    def output(self, x):
        return F.linear(x, self.embedding)

    def loss(self, batch, smoothing=0.1):
        """Returns the mean label-smoothed cross entropy of a target token, with teacher forcing."""
        memories, x, embedded = self.encode(batch)
        layout, reading = batch.layouts[-1], Reading(embedded) if self.pointer else None
        for layer in self.decoder:
            x = layer(x, layout, layer.combiner.project(memories, batch.memories), reading if layer is self.decoder[-1] else None)
        states = self.decoder_norm(x)
        logits = self.output(layout.real(states))
        if not self.pointer:
            return F.cross_entropy(logits, batch.target, label_smoothing=smoothing)
        gate, copied = map(layout.real, self.pointer(states, reading, layout, batch.words))
        ids = batch.words.ids.repeat_interleave(torch.tensor(layout.lengths), 0)
        return (sparse_loss if self.sparse else dense_loss)(logits, gate, copied, ids, batch.target, smoothing)
