/* SPDX-License-Identifier: MIT */
#include "attention/tree-descent.h"

#include <string.h>

#include "attention/sparse-private.h"

/* Number of scalars in a cache line. */
#define LINE (64 / (gint64)sizeof (PlaitScalar))

/* A row whose children are weighed next: its index in the entry, and its path weight. */
typedef struct
{
  gint64 index;
  PlaitScalar path;
} Selection;

/* The sets that a query weighs next: the sets of head 0, then of head 1, and so on. */
typedef struct
{
  gint64 n;
  PlaitSiblings *sets;
  gint64 *parent;       /* index, within the entry, of the parent of each set: [n] */
  gint64 *ends;         /* index after the last set of each head: [heads] */
  Selection *selection; /* scratch memory for the selected rows of one head */
} Front;

typedef struct
{
  PlaitSiblings top; /* rows of the highest level with several rows, or of level 0 if each level has one row */
  gint64 height;     /* number of the level of @top */
  gboolean fits;     /* FALSE if find_children failed for @top */
  gint64 most;  /* number of elements reserved for an entry: the rows that it can weigh, and one vector of padding for
                   the kernel */
  gint64 first; /* index of the first element reserved for the sentence's first entry */
} Sentence;

/* The weighed rows and sets of one entry so far, and the memory reserved for them. The arrays of sets have one element
 * more than the arrays of rows. */
typedef struct
{
  gint64 begin; /* index of the first reserved element */
  gint64 n;     /* number of weighed rows; -1 if find_children or select_next failed */
  gint64 from;  /* index, in the entry, of the first row of the last weighed level */
  gint64 n_sets;
  gboolean joined; /* TRUE if two sets of the last weighed level have a common row */
  gint64 *row;
  PlaitScalar *weights;
  PlaitScalar *path;
  gint64 *in_set;
  gint64 *parent;
} Entry;

typedef struct
{
  const PlaitKernels *kernels;
  const PlaitTreeDescent *descent;
  const PlaitTreeDescentScores *scores;
  gint64 pieces;
  gint64 capacity; /* number of elements reserved for all entries together */
  Sentence *sentences;
  Front *fronts; /* [pieces] */
  Entry *entries;

  /* Memory for the rows and sets of all entries. */
  gint64 *row;
  PlaitScalar *weights;
  PlaitScalar *path;
  gint64 *in_set;
  gint64 *parent;
} Call;

/* Inserts @candidate into the @n best so far, which stay at most @most. Returns their new number. */
static inline gint64
insert (Selection *best, gint64 n, gint64 most, Selection candidate)
{
  gint64 at = n;

  if (n == most && (n == 0 || !(candidate.path > best[n - 1].path)))
    return n;
  if (n == most)
    at--;
  for (; at > 0 && candidate.path > best[at - 1].path; at--)
    best[at] = best[at - 1];
  best[at] = candidate;
  return MIN (n + 1, most);
}

static inline void
sort_by_index (Selection *selection, gint64 n)
{
  for (gint64 i = 1; i < n; i++)
    {
      Selection one = selection[i];
      gint64 at = i;

      for (; at > 0 && selection[at - 1].index > one.index; at--)
        selection[at] = selection[at - 1];
      selection[at] = one;
    }
}

/* Finds the children of @row. FALSE if the children are not rows of the sentence, or if there are more than
 * max_children. */
static inline gboolean
find_children (const PlaitTreeDescent *descent, gint64 sentence, gint64 row, PlaitSiblings *children)
{
  children->first = descent->first_child[row];
  children->n = descent->n_children[row];
  if (children->n == 0)
    children->first = 0;
  return children->n == 0
         || (children->n > 0 && children->n <= descent->max_children
             && children->first >= descent->rows.offsets[sentence]
             && children->first + children->n <= descent->rows.offsets[sentence + 1]);
}

/* Writes the rows of the last weighed level to @selection and returns their number. A row that belongs to
 * two sets of siblings is written once, with the sum of its path weights. */
static gint64
join (const Entry *entry, Selection *selection)
{
  gint64 n = 0;

  for (gint64 i = entry->from; i < entry->n; n++)
    {
      selection[n] = (Selection){ i, entry->path[i] };
      for (i++; i < entry->n && entry->row[i] == entry->row[i - 1]; i++)
        selection[n].path += entry->path[i];
    }
  return n;
}

/* Selects the rows with the greatest path weights from the last weighed level. Writes the selected rows to @selection,
 * ordered by index, and returns their number. If all rows of the level differ and fit into a vector, one kernel call
 * selects them. */
static gint64
select_rows (const Call *call, const Entry *entry, Selection *selection)
{
  gint64 most = call->descent->branches, number = entry->n - entry->from, n = 0, best = 0;

  if (!entry->joined && number <= call->kernels->vector_length)
    {
      for (guint32 lanes = call->kernels->best_lanes (entry->path + entry->from, number, most); lanes != 0;
           lanes &= lanes - 1)
        {
          gint64 index = entry->from + __builtin_ctz (lanes);

          selection[n++] = (Selection){ index, entry->path[index] };
        }
      return n;
    }
  n = join (entry, selection);
  if (n <= most)
    return n;
  for (gint64 i = 0; i < n; i++)
    best = insert (selection, best, most, selection[i]);
  sort_by_index (selection, best);
  return best;
}

/* Prefetches @width columns of the rows of @set: the first and the last cache line of each row, then the lines between
 * them, if the head is that wide. */
static inline void
fetch (PlaitTensor rows, gint64 column, gint64 width, const PlaitSiblings *set)
{
  const PlaitScalar *row = plait_tensor_row (rows, set->first) + column;

  for (gint64 i = 0; i < set->n; i++, row += rows.stride)
    {
      __builtin_prefetch (row);
      __builtin_prefetch (row + MAX (width - 1, 0));
      for (gint64 j = LINE; j < width - LINE; j += LINE)
        __builtin_prefetch (row + j);
    }
}

/* Writes the numbers of @n rows from @first on, four at a time; up to three elements after them are overwritten. */
static inline void
number_rows (gint64 *row, gint64 first, gint64 n)
{
  for (gint64 i = 0; i < n; i += 4)
    for (gint64 j = 0; j < 4; j++)
      row[i + j] = first + i + j;
}

/* Weighs the sets of @front and appends their rows to the entries. If two sets share a row, the row occurs twice, and
 * entry->joined is set. */
static void
weigh (const Call *call, gint64 query, const Front *front, Entry *entries)
{
  const PlaitTreeDescentScores *from = call->scores;
  gint64 heads = call->descent->heads;
  PlaitRowScores scores = {
    .query = plait_tensor_row (from->queries, query),
    .rows = from->keys.data,
    .stride = from->keys.stride,
    .width = from->keys.width / heads,
    .scale = from->scale,
    .vector = from->vector,
  };

  call->kernels->weigh_siblings (&scores, front->sets, front->n, call->weights, call->path);
  for (gint64 h = 0, s = 0; h < heads; h++)
    {
      Entry *entry = &entries[h];
      gint64 *row = entry->row + entry->n, *end = row;
      gboolean joined = FALSE;

      for (; s < front->ends[h]; s++)
        {
          gint64 first = front->sets[s].first, n = front->sets[s].n;

          joined |= n > 0 && end > row && end[-1] == first;
          number_rows (end, first, n);
          end += n;
          entry->in_set[entry->n_sets] = n;
          entry->parent[entry->n_sets++] = front->parent[s];
        }
      entry->from = entry->n;
      entry->n = end - entry->row;
      entry->joined = joined;
    }
}

/* Selects the best rows of each entry and makes their children the new front. FALSE if find_children fails, or if the
 * memory reserved for the entry is too small. */
static gboolean
select_next (const Call *call, gint64 sentence, gint64 level, const Entry *entries, Front *front)
{
  const PlaitTreeDescent *descent = call->descent;
  const PlaitTreeDescentScores *from = call->scores;
  gint64 width = from->keys.width / descent->heads, values = from->values.width / descent->heads;

  front->n = 0;
  for (gint64 h = 0; h < descent->heads; h++)
    {
      const Entry *entry = &entries[h];
      gint64 n = select_rows (call, entry, front->selection), offset = entry->begin + entry->n;
      gint64 end = entry->begin + call->sentences[sentence].most - PLAIT_MAX_VECTOR_LENGTH,
             *parent = front->parent + front->n;
      PlaitSiblings *sets = front->sets + front->n;

      for (gint64 k = 0; k < n; offset += sets[k++].n)
        {
          Selection selection = front->selection[k];

          if (!find_children (descent, sentence, entry->row[selection.index], &sets[k]) || offset + sets[k].n > end)
            return FALSE;
          sets[k].column = h * width;
          sets[k].offset = offset;
          sets[k].path = selection.path;
          parent[k] = selection.index;
          fetch (from->keys, h * width, width, &sets[k]);
          if (level == 1 && values > 0)
            fetch (from->values, h * values, values, &sets[k]);
        }
      front->ends[h] = front->n += n;
    }
  return TRUE;
}

static Entry
entry_of (const Call *call, gint64 sentence, gint64 query, gint64 head)
{
  const Sentence *of = &call->sentences[sentence];
  gint64 heads = call->descent->heads, entry = query * heads + head;
  gint64 begin = of->first + ((query - call->descent->queries.offsets[sentence]) * heads + head) * of->most;

  return (Entry){
    .begin = begin,
    .row = call->row + begin,
    .weights = call->weights + begin,
    .path = call->path + begin,
    .in_set = call->in_set + begin + entry,
    .parent = call->parent + begin + entry,
  };
}

/* Descends for all heads of a query together, so that the processor can overlap the work of different heads. */
static void
descend_query (const Call *call, gint64 sentence, gint64 query, Front *front)
{
  const PlaitTreeDescent *descent = call->descent;
  Entry *entries = call->entries + query * descent->heads;
  gint64 heads = descent->heads, width = call->scores->keys.width / heads, level = call->sentences[sentence].height;
  PlaitSiblings top = call->sentences[sentence].top;
  gboolean fits = call->sentences[sentence].fits;

  front->n = heads;
  for (gint64 h = 0; h < heads; h++)
    {
      entries[h] = entry_of (call, sentence, query, h);
      top.column = h * width;
      top.offset = entries[h].begin;
      front->sets[h] = top;
      front->parent[h] = -1;
      front->ends[h] = h + 1;
    }
  for (; fits; level--)
    {
      weigh (call, query, front, entries);
      if (level == 0)
        break;
      fits = select_next (call, sentence, level, entries, front);
    }
  for (gint64 h = 0; h < heads && !fits; h++)
    entries[h].n = -1;
}

static void
descend_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  const PlaitTreeDescent *descent = call->descent;
  gint64 queries = plait_ragged_rows (descent->queries), sentence = 0;

  for (gint64 q = queries * piece / call->pieces; q < queries * (piece + 1) / call->pieces; q++)
    {
      gint64 next;

      while (q >= descent->queries.offsets[sentence + 1])
        sentence++;
      for (next = sentence; q + 1 < queries && q + 1 >= descent->queries.offsets[next + 1];)
        next++;
      if (next > sentence && call->sentences[next].fits)
        fetch (call->scores->keys, 0, call->scores->keys.width, &call->sentences[next].top);
      descend_query (call, sentence, q, &call->fronts[piece]);
    }
}

/* Returns an upper bound for the number of rows below the top level that one query and head weigh. The sentence has the
 * @n rows from @first on, and @height levels below the top level. The bound follows from the number of branches. If
 * this bound is more than 2 * @n, returns the smaller of this bound and the number of all children. */
static gint64
most_below (const PlaitTreeDescent *descent, gint64 first, gint64 n, gint64 height)
{
  gint64 most = height * MIN (descent->branches, n) * MAX (descent->max_children, 1), all = 0;

  if (most <= 2 * n)
    return most;
  for (gint64 row = first; row < first + n; row++)
    all += CLAMP (descent->n_children[row], 0, descent->max_children);
  return MIN (most, all);
}

/* Finds the top level of each sentence and the number of elements to reserve for its entries. Returns that number for
 * all entries together, and sets *most to the largest number for one entry. */
static gint64
measure (const PlaitTreeDescent *descent, Sentence *sentences, gint64 *most)
{
  gint64 first = 0;

  *most = 1;
  for (gint64 s = 0; s < descent->rows.n; s++)
    {
      gint64 begin = descent->rows.offsets[s], end = descent->rows.offsets[s + 1], top = end;

      while (top > begin && descent->level[top - 1] == descent->level[end - 1])
        top--;
      sentences[s] = (Sentence){ .top = { .first = top, .n = end - top, .path = 1 }, .fits = TRUE, .first = first };
      if (top < end)
        sentences[s].height = CLAMP (descent->level[top], 0, end - begin);
      sentences[s].most
          = end - top + most_below (descent, begin, end - begin, sentences[s].height) + PLAIT_MAX_VECTOR_LENGTH;
      while (sentences[s].fits && sentences[s].height > 0 && sentences[s].top.n == 1)
        {
          sentences[s].fits = find_children (descent, s, sentences[s].top.first, &sentences[s].top);
          sentences[s].height--;
        }
      first += sentences[s].most * plait_ragged_length (descent->queries, s) * descent->heads;
      *most = MAX (*most, sentences[s].most);
    }
  return first;
}

/* Returns the approximate cost of the descents in multiply-adds. */
static gint64
work_of (const PlaitTreeDescent *descent, const PlaitTreeDescentScores *scores, gint64 capacity)
{
  gint64 width = scores->keys.width / descent->heads;

  return capacity * (width * (scores->vector ? PLAIT_SPARSE_TANH_COST : 1) + PLAIT_SPARSE_SELECTION_COST);
}

static void
prepare (Call *call, PlaitArena *arena)
{
  gint64 heads = call->descent->heads, queries = plait_ragged_rows (call->descent->queries), entries = queries * heads,
         most;

  call->kernels = plait_kernels ();
  call->sentences = plait_arena_new_array (arena, Sentence, call->descent->rows.n);
  call->capacity = measure (call->descent, call->sentences, &most);
  call->pieces = CLAMP (work_of (call->descent, call->scores, call->capacity) / PLAIT_SPARSE_MIN_PARALLEL_WORK, 1,
                        MAX (queries, 1));
  call->fronts = plait_arena_new_array (arena, Front, call->pieces);
  call->entries = plait_arena_new_array (arena, Entry, entries);
  for (gint64 i = 0; i < call->pieces; i++)
    call->fronts[i] = (Front){
      .sets = plait_arena_new_array (arena, PlaitSiblings, most * heads),
      .parent = plait_arena_new_array (arena, gint64, (most + 1) * heads),
      .ends = plait_arena_new_array (arena, gint64, heads),
      .selection = plait_arena_new_array (arena, Selection, most),
    };
  call->row = plait_arena_new_array (arena, gint64, 3 * call->capacity + 2 * entries);
  call->in_set = call->row + call->capacity;
  call->parent = call->in_set + call->capacity + entries;
  call->weights = plait_arena_new_array (arena, PlaitScalar, 2 * call->capacity);
  call->path = call->weights + call->capacity;
}

static void
release (const Call *call, PlaitArena *arena, gint64 entries)
{
  plait_arena_release (arena, call->entries, sizeof *call->entries * (gsize)entries);
  plait_arena_release (arena, call->row, sizeof *call->row * (gsize)(3 * call->capacity + 2 * entries));
  plait_arena_release (arena, call->weights, sizeof *call->weights * (gsize)(2 * call->capacity));
}

/* Copies the leaves of @entry to @row and their path weights to @leaf_weights. Normalises the leaf weights if
 * descent->normalise. */
static void
note_leaves (const PlaitTreeDescent *descent, const Entry *entry, gint64 *row, PlaitScalar *leaf_weights)
{
  const PlaitScalar *path = entry->path + entry->from;
  gint64 n = entry->n - entry->from;
  PlaitScalar sum = 0;

  memcpy (row, entry->row + entry->from, sizeof *row * (gsize)n);
  for (gint64 i = 0; i < n; i++)
    sum += path[i];
  for (gint64 i = 0; i < n; i++)
    leaf_weights[i] = descent->normalise ? path[i] / sum : path[i];
}

static void
gather_leaves (const Call *call, PlaitArena *arena, gint64 entries, PlaitTreeDescentResult *result)
{
  const PlaitTreeDescent *descent = call->descent;
  gint64 *row;
  PlaitRagged sets = plait_ragged_units (arena, entries);
  gint64 *rows = plait_arena_new_array (arena, gint64, entries + 1);

  rows[0] = 0;
  for (gint64 e = 0; e < entries; e++)
    rows[e + 1] = rows[e] + call->entries[e].n - call->entries[e].from;
  row = plait_arena_new_array (arena, gint64, rows[entries]);
  result->leaf_weights = plait_arena_new_array (arena, PlaitScalar, rows[entries]);
  for (gint64 e = 0; e < entries; e++)
    note_leaves (descent, &call->entries[e], row + rows[e], result->leaf_weights + rows[e]);
  result->leaves = (PlaitSelectedRows){ descent->heads, sets, { entries, rows }, row };
}

static void
gather_all (const Call *call, PlaitArena *arena, gint64 entries, PlaitTreeDescentResult *result)
{
  gint64 n_sets = 0, n = 0;
  gint64 *sets = plait_arena_new_array (arena, gint64, entries + 1), *rows, *row, *parent;
  PlaitScalar *weights = plait_arena_new_array (arena, PlaitScalar, 2 * result->weighed), *path;

  path = weights + result->weighed;
  sets[0] = 0;
  for (gint64 e = 0; e < entries; e++)
    sets[e + 1] = sets[e] + call->entries[e].n_sets;
  rows = plait_arena_new_array (arena, gint64, 2 * sets[entries] + 1);
  parent = rows + sets[entries] + 1;
  row = plait_arena_new_array (arena, gint64, result->weighed);
  rows[0] = 0;
  for (gint64 e = 0; e < entries; e++)
    {
      const Entry *of = &call->entries[e];
      gsize number = (gsize)of->n;

      for (gint64 i = 0; i < of->n_sets; i++, n_sets++)
        {
          rows[n_sets + 1] = rows[n_sets] + of->in_set[i];
          parent[n_sets] = of->parent[i] < 0 ? -1 : n + of->parent[i];
        }
      memcpy (row + n, of->row, sizeof *row * number);
      memcpy (weights + n, of->weights, sizeof *weights * number);
      memcpy (path + n, of->path, sizeof *path * number);
      n += of->n;
    }
  result->all = (PlaitSelectedRows){ call->descent->heads, { entries, sets }, { n_sets, rows }, row };
  result->parent = parent;
  result->weights = weights;
  result->path = path;
}

PlaitTreeDescentResult
plait_tree_descent_forward (PlaitPool *pool, PlaitArena *arena, const PlaitTreeDescent *descent,
                            const PlaitTreeDescentScores *scores, gboolean all)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);
  Call call = { .descent = descent, .scores = scores };
  PlaitTreeDescentResult result = { .normalised = descent->normalise };
  gint64 entries = plait_ragged_rows (descent->queries) * descent->heads;

  g_assert (!scores->vector || descent->heads == 1);
  prepare (&call, arena);
  plait_pool_run (pool, call.pieces, descend_piece, &call);
  for (gint64 e = 0; e < entries; e++)
    {
      if (call.entries[e].n < 0)
        return (PlaitTreeDescentResult){ .weighed = -1 };
      result.weighed += call.entries[e].n;
    }
  gather_leaves (&call, arena, entries, &result);
  if (all)
    gather_all (&call, arena, entries, &result);
  release (&call, arena, entries);
  return result;
}
