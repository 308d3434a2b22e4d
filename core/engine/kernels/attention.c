/* SPDX-License-Identifier: MIT */
#include "kernels/attention-bfloat16.h"

/*
 * Forward pass of attention for one sentence and head. The softmax of a query is computed block by block: a weight is
 * exp (score - greatest score so far). If a block has a greater score, the context and total of the earlier blocks are
 * scaled down. If all keys fit into one block, the weights are divided by their total. Otherwise the context is divided
 * by the total. Each step is done for all queries of a tile before the next step, so that the processor can overlap the
 * work of several queries.
 */

typedef struct
{
  PlaitScalar *columns;  /* transposed keys: [blocks][width][stride] */
  PlaitScalar *gathered; /* gathered rows of a block before they are transposed: [block][padded] */
  PlaitScalar *values;   /* copied values: [keys][padded] */
  PlaitScalar *queries;  /* copied queries of a tile: [tile][padded] */
  PlaitScalar *scores;   /* scores, then weights: [tile][stride] */
  PlaitScalar *contexts; /* [tile][padded] */

  /* Factors rounded to bfloat16. If products use bfloat16, @columns, @values and @queries are unused. */
  PlaitBfloat16Pair *key_panels;     /* transposed keys of each block */
  PlaitBfloat16Pair *value_panels;   /* values of each block, not transposed */
  PlaitBfloat16Pair *query_bfloat16; /* queries of a tile */
  PlaitBfloat16Pair *weight_bfloat16;
} Workspace;

/* Running maximum and sum of the softmax, for each query of a tile. */
typedef struct
{
  PlaitScalar greatest[MAX_QUERIES + LANES]; /* greatest scaled score so far */
  PlaitScalar totals[MAX_QUERIES + LANES];   /* sum of the weights so far, before division */
  PlaitScalar factors[MAX_QUERIES + LANES];  /* factors that scale the earlier blocks down */
} Running;

static gboolean
has_columns (const Piece *piece)
{
  return piece->job->memories[0].transposed_keys != NULL;
}

/* Lays out the workspace in @data (NULL: only counts) and returns its size in scalars. */
static gsize
take_workspace (const Piece *piece, PlaitScalar *data, Workspace *workspace)
{
  Scratch scratch = { data, 0 };
  gint64 blocks = (piece->keys + piece->block - 1) / piece->block;

  workspace->gathered = take_block (&scratch, piece->block * piece->padded);
  workspace->scores = take_block (&scratch, piece->tile * piece->stride);
  workspace->contexts = take_block (&scratch, piece->tile * piece->padded);
  if (piece->bfloat16)
    {
      workspace->key_panels = take_bfloat16 (&scratch, blocks * right_size (piece->block, piece->width));
      workspace->value_panels = take_bfloat16 (&scratch, blocks * right_size (piece->width, piece->block));
      workspace->query_bfloat16 = take_bfloat16 (&scratch, piece->tile * plait_bfloat16_pairs (piece->width));
      workspace->weight_bfloat16 = take_bfloat16 (&scratch, piece->tile * plait_bfloat16_pairs (piece->block));
      return scratch.taken;
    }
  workspace->columns = take_block (&scratch, has_columns (piece) ? 0 : blocks * piece->width * piece->stride);
  workspace->values = take_block (&scratch, piece->keys * piece->padded);
  workspace->queries = take_block (&scratch, piece->tile * piece->padded);
  return scratch.taken;
}

static PlaitScalar *
columns_of_block (const Piece *piece, const Workspace *workspace, gint64 from)
{
  return workspace->columns + from / piece->block * piece->width * piece->stride;
}

/* Returns the rounded, transposed keys of the block at key @from. */
static Right
key_panels_of_block (const Piece *piece, const Workspace *workspace, gint64 from)
{
  return (Right){ workspace->key_panels + from / piece->block * right_size (piece->block, piece->width),
                  plait_bfloat16_pairs (piece->width) };
}

static Right
value_panels_of_block (const Piece *piece, const Workspace *workspace, gint64 from)
{
  return (Right){ workspace->value_panels + from / piece->block * right_size (piece->width, piece->block),
                  plait_bfloat16_pairs (MIN (piece->block, piece->keys - from)) };
}

static void
round_memories (const Piece *piece, const Workspace *workspace)
{
  for (gint64 from = 0; from < piece->keys; from += piece->block)
    {
      gint64 end = MIN (from + piece->block, piece->keys);

      round_right (piece, key_panels_of_block (piece, workspace, from).panels,
                   rows_of_block (piece, FALSE, from, end, workspace->gathered), end - from, TRUE);
      round_right (piece, value_panels_of_block (piece, workspace, from).panels,
                   rows_of_block (piece, TRUE, from, end, workspace->gathered), end - from, FALSE);
    }
}

static void
lay_out_memories (const Piece *piece, const Workspace *workspace)
{
  if (piece->bfloat16)
    {
      round_memories (piece, workspace);
      return;
    }
  for (gint64 from = 0; from < piece->keys && !has_columns (piece); from += piece->block)
    transpose_block (piece, columns_of_block (piece, workspace, from), FALSE, from,
                     MIN (from + piece->block, piece->keys), workspace->gathered);
  EACH_KEY_RANGE (part, piece, 0, piece->keys)
  rows_of_key_range (piece, part, TRUE, piece->in_place, workspace->values + part.key * piece->padded);
}

static Rows
values_of_key_range (const Piece *piece, const Workspace *workspace, KeyRange part)
{
  if (piece->in_place && !piece->job->memories[part.memory].gather)
    return rows_of_key_range (piece, part, TRUE, TRUE, NULL);
  return (Rows){ workspace->values + part.key * piece->padded, piece->padded };
}

/* Writes the products [n][stride] of the tile's queries with keys @from .. @from + @keys - 1. */
static void
multiply_block (const Piece *piece, const Workspace *workspace, Rows queries, gint64 n, gint64 from, gint64 keys)
{
  gint64 width = piece->job->queries.width;

  if (piece->bfloat16)
    {
      multiply_bfloat16 (piece, round_left (piece, workspace->query_bfloat16, queries, n, piece->width, FALSE),
                         key_panels_of_block (piece, workspace, from), workspace->scores, piece->stride, keys, FALSE);
      return;
    }
  if (!has_columns (piece))
    {
      KERNEL (multiply)
      (n, whole_vectors (keys), piece->width, queries.data, queries.stride, 1,
       columns_of_block (piece, workspace, from), piece->stride, workspace->scores, piece->stride, FALSE);
      return;
    }
  /* Padding follows the keys of a range: the next range overwrites it, and @stride has room for the last padding. */
  EACH_KEY_RANGE (part, piece, from, from + keys)
  {
    const PlaitAttentionMemory *memory = &piece->job->memories[part.memory];
    gint64 stride = whole_vectors (memory_length (piece, part.memory));
    const PlaitScalar *columns = memory->transposed_keys
                                 + plait_transposed_keys_offset (memory->rows, piece->sentence, width)
                                 + piece->column * stride;

    KERNEL (multiply)
    (n, whole_vectors (part.n), piece->width, queries.data, queries.stride, 1, columns + part.first, stride,
     workspace->scores + part.key - from, piece->stride, FALSE);
  }
}

/* Writes the unscaled scores [n][stride] of the queries from @first on with keys @from .. @from + @keys - 1. */
static void
score_block (const Piece *piece, const Workspace *workspace, Rows queries, gint64 first, gint64 n, gint64 from,
             gint64 keys)
{
  multiply_block (piece, workspace, queries, n, from, keys);
  if (RELATIVE)
    add_linear_bias (piece, workspace->scores, first, n, from, keys);
}

/* Updates the greatest score of each query from the scores of the block. Scales the totals and contexts of the earlier
 * blocks down accordingly. */
static void
raise_greatest (const Piece *piece, const Workspace *workspace, Running *running, gint64 first, gint64 n, gint64 from,
                gint64 keys)
{
  const gint64 begin = first_key_of_tile (piece, first);
  const Vector lowest = vector_all (-(PlaitScalar)INFINITY);

  for (gint64 q = 0; q < n; q++)
    {
      const PlaitScalar *row = workspace->scores + q * piece->stride;
      gint64 seen = seen_of_block (piece, first + q, from, keys), i = 0;
      gint64 unseen = unseen_of_block (piece, first + q, from, keys);
      PlaitScalar earlier = running->greatest[q], here;
      Vector found = lowest;

      for (i = unseen / VECTOR_LENGTH * VECTOR_LENGTH; RELATIVE && i < MIN (unseen, seen); i += VECTOR_LENGTH)
        found = vector_maximum (found,
                                vector_choose (lanes_between (unseen - i, seen - i), vector_load (row + i), lowest));
      for (; i + VECTOR_LENGTH <= seen; i += VECTOR_LENGTH)
        found = vector_maximum (found, vector_load (row + i));
      if (i < seen)
        found = vector_maximum (found, vector_choose (lanes_below (seen - i), vector_load (row + i), lowest));
      here = vector_greatest (found) * piece->scale;
      running->greatest[q] = from == begin || here > earlier ? here : earlier;
      running->factors[q] = from == begin ? 0 : earlier - running->greatest[q];
    }
  if (from == begin)
    return;
  for (gint64 q = 0; q < n; q += VECTOR_LENGTH)
    {
      Vector factor = vector_exp_of_negative (vector_load (running->factors + q));

      vector_store (running->factors + q, factor);
      vector_store (running->totals + q, vector_load (running->totals + q) * factor);
    }
  for (gint64 q = 0; q < n; q++)
    for (gint64 j = 0; j < piece->padded && running->factors[q] != 1; j += VECTOR_LENGTH)
      {
        PlaitScalar *context = workspace->contexts + q * piece->padded + j;

        vector_store (context, vector_load (context) * running->factors[q]);
      }
}

/* Replaces the scores by exp (score - greatest), and by 0 for keys that a query cannot see. Adds the sum of each query
 * to @totals; the tile's first block overwrites @totals. */
static void
exponentiate (const Piece *piece, const Workspace *workspace, Running *running, PlaitScalar *totals, gint64 first,
              gint64 n, gint64 from, gint64 keys)
{
  for (gint64 q = 0; q < n; q++)
    {
      PlaitScalar *row = workspace->scores + q * piece->stride, greatest = running->greatest[q];
      gint64 seen = seen_of_block (piece, first + q, from, keys), i = 0;
      gint64 unseen = unseen_of_block (piece, first + q, from, keys);
      Vector sum = { 0 };

      for (; RELATIVE && i < unseen / VECTOR_LENGTH * VECTOR_LENGTH; i += VECTOR_LENGTH)
        vector_store (row + i, (Vector){ 0 });
      for (; i < seen; i += VECTOR_LENGTH)
        {
          Vector weight = vector_exp_of_negative (vector_load (row + i) * piece->scale - greatest);

          if (RELATIVE && i < unseen)
            weight = vector_choose (lanes_between (unseen - i, seen - i), weight, (Vector){ 0 });
          else if (i + VECTOR_LENGTH > seen)
            weight = vector_choose (lanes_below (seen - i), weight, (Vector){ 0 });
          sum += weight;
          vector_store (row + i, weight);
        }
      for (; i < keys; i += VECTOR_LENGTH)
        vector_store (row + i, (Vector){ 0 });
      totals[q] = from > first_key_of_tile (piece, first) ? totals[q] + vector_sum (sum) : vector_sum (sum);
    }
}

static void
divide_by_totals (const Piece *piece, const Workspace *workspace, const Running *running, gint64 n, gint64 keys)
{
  for (gint64 q = 0; q < n; q++)
    {
      PlaitScalar *row = workspace->scores + q * piece->stride, inverse = 1 / running->totals[q];

      for (gint64 i = 0; i < keys; i += VECTOR_LENGTH)
        vector_store (row + i, vector_load (row + i) * inverse);
    }
}

/* Computes @to [n][stride]: the weights times the values of the block. The first block overwrites @to, others add. */
static void
read_values (const Piece *piece, const Workspace *workspace, PlaitScalar *to, gint64 stride, gint64 first, gint64 n,
             gint64 from, gint64 keys)
{
  if (piece->bfloat16)
    {
      Rows weights = { workspace->scores, piece->stride };

      multiply_bfloat16 (piece, round_left (piece, workspace->weight_bfloat16, weights, n, keys, FALSE),
                         value_panels_of_block (piece, workspace, from), to, stride, piece->width,
                         from > first_key_of_tile (piece, first));
      return;
    }
  EACH_KEY_RANGE (part, piece, from, from + keys)
  {
    Rows values = values_of_key_range (piece, workspace, part);

    KERNEL (multiply)
    (n, piece->width, part.n, workspace->scores + part.key - from, piece->stride, 1, values.data, values.stride, to,
     stride, part.key > first_key_of_tile (piece, first));
  }
}

static void
drop_tile (const Piece *piece, const Workspace *workspace, gint64 first, gint64 n, gint64 from, gint64 keys)
{
  for (gint64 q = 0; q < n && piece->mask.threshold > 0; q++)
    drop (piece, first + q, workspace->scores + q * piece->stride, from, keys);
}

static void
give_contexts (const Piece *piece, const Workspace *workspace, const Running *running, gint64 first, gint64 n)
{
  for (gint64 q = 0; q < n; q++)
    {
      PlaitScalar *to = plait_tensor_row (piece->job->context, piece->first_query + first + q) + piece->column;
      const PlaitScalar *from = workspace->contexts + q * piece->padded;
      PlaitScalar inverse = 1 / running->totals[q];

      for (gint64 j = 0; j < piece->width; j += VECTOR_LENGTH)
        put (to + j, vector_load (from + j) * inverse, MIN (VECTOR_LENGTH, piece->width - j));
    }
}

/* Returns a pointer to the first weight of this sentence and head in the @weights of the memory. */
static PlaitScalar *
kept_weights (const Piece *piece, const PlaitAttentionMemory *memory)
{
  PlaitRagged queries = piece->job->query_rows;
  gint64 before = 0, pairs = 0;

  for (gint64 s = 0; s < queries.n; s++)
    {
      before = s == piece->sentence ? pairs : before;
      pairs += plait_ragged_length (queries, s) * plait_ragged_length (memory->rows, s);
    }
  return memory->weights + piece->head * pairs + before;
}

/* Copies the weights of the tile and block to the memories whose @weights is not NULL. */
static void
keep_weights (const Piece *piece, const Workspace *workspace, gint64 first, gint64 n, gint64 from, gint64 keys)
{
  EACH_KEY_RANGE (part, piece, from, from + keys)
  {
    const PlaitAttentionMemory *memory = &piece->job->memories[part.memory];
    gint64 length = memory_length (piece, part.memory);
    PlaitScalar *kept = memory->weights ? kept_weights (piece, memory) : NULL;

    for (gint64 q = 0; q < n && kept; q++)
      memcpy (kept + (first + q) * length + part.first, workspace->scores + q * piece->stride + part.key - from,
              sizeof (PlaitScalar) * (gsize)part.n);
  }
}

static gboolean
keeps_weights (const PlaitAttentionJob *job)
{
  for (guint m = 0; m < job->n_memories; m++)
    if (job->memories[m].weights)
      return TRUE;
  return FALSE;
}

static void
clear_contexts (const Piece *piece)
{
  const PlaitAttentionJob *job = piece->job;

  for (gint64 i = 0; i < piece->queries; i++)
    {
      memset (plait_tensor_row (job->context, piece->first_query + i) + piece->column, 0,
              sizeof (PlaitScalar) * (gsize)piece->width);
      if (job->log_sums)
        job->log_sums[(piece->first_query + i) * job->settings->heads + piece->head] = 0;
    }
}

static void
keep_log_sums (const Piece *piece, Running *running, gint64 first, gint64 n)
{
  const PlaitAttentionJob *job = piece->job;

  for (gint64 q = n; q % VECTOR_LENGTH != 0; q++)
    running->totals[q] = 1;
  for (gint64 q = 0; q < n; q += VECTOR_LENGTH)
    vector_store (running->totals + q, vector_log (vector_load (running->totals + q)));
  for (gint64 q = 0; q < n; q++)
    job->log_sums[(piece->first_query + first + q) * job->settings->heads + piece->head]
        = running->greatest[q] + running->totals[q];
}

/* Computes a tile of queries of a sentence whose keys fit into one block. */
static void
forward_at_once (const Piece *piece, const Workspace *workspace, Running *running, Rows queries, gint64 first, gint64 n)
{
  gboolean keeps = keeps_weights (piece->job);
  /* Kept weights must be 0 for keys that no query of the tile can see. */
  gint64 keys = keeps ? piece->keys : keys_of_tile (piece, first, n);
  PlaitTensor context = piece->job->context;

  score_block (piece, workspace, queries, first, n, 0, keys);
  raise_greatest (piece, workspace, running, first, n, 0, keys);
  exponentiate (piece, workspace, running, running->totals, first, n, 0, keys);
  divide_by_totals (piece, workspace, running, n, keys);
  if (keeps)
    keep_weights (piece, workspace, first, n, 0, keys);
  drop_tile (piece, workspace, first, n, 0, keys);
  read_values (piece, workspace, plait_tensor_row (context, piece->first_query + first) + piece->column, context.stride,
               first, n, 0, keys);
}

static void
forward_by_blocks (const Piece *piece, const Workspace *workspace, Running *running, Rows queries, gint64 first,
                   gint64 n)
{
  gint64 end = keys_of_tile (piece, first, n);
  PlaitScalar ignored[MAX_QUERIES];

  for (gint64 from = first_key_of_tile (piece, first); from < end; from += piece->block)
    {
      gint64 keys = MIN (piece->block, end - from);

      score_block (piece, workspace, queries, first, n, from, keys);
      raise_greatest (piece, workspace, running, first, n, from, keys);
      exponentiate (piece, workspace, running, running->totals, first, n, from, keys);
      drop_tile (piece, workspace, first, n, from, keys);
      read_values (piece, workspace, workspace->contexts, piece->padded, first, n, from, keys);
    }
  give_contexts (piece, workspace, running, first, n);
  /* Recompute the weights from the greatest score of all blocks, which is known only now. */
  for (gint64 from = 0; from < piece->keys && keeps_weights (piece->job); from += piece->block)
    {
      gint64 keys = MIN (piece->block, piece->keys - from);

      score_block (piece, workspace, queries, first, n, from, keys);
      exponentiate (piece, workspace, running, ignored, first, n, from, keys);
      divide_by_totals (piece, workspace, running, n, keys);
      keep_weights (piece, workspace, first, n, from, keys);
    }
}

gsize
ATTENTION (forward) (const PlaitAttentionPiece *given, gpointer scratch)
{
  Piece piece = piece_of (given);
  Workspace workspace;
  gsize size = sizeof (PlaitScalar) * take_workspace (&piece, scratch, &workspace);

  if (!scratch)
    return size;
  if (piece.keys == 0)
    {
      clear_contexts (&piece);
      return size;
    }
  lay_out_memories (&piece, &workspace);
  for (gint64 first = 0; first < piece.queries; first += piece.tile)
    {
      gint64 n = MIN (piece.tile, piece.queries - first);
      Rows queries = rows_of_queries (&piece, piece.job->queries, first, n, workspace.queries);
      Running running;

      (piece.at_once ? forward_at_once : forward_by_blocks) (&piece, &workspace, &running, queries, first, n);
      if (piece.job->log_sums)
        keep_log_sums (&piece, &running, first, n);
    }
  return size;
}
