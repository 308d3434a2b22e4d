/* SPDX-License-Identifier: MIT */
#include "tensor/walk.h"

#include <string.h>

#include "tensor/chosen-private.h"
#include "tensor/terms.h"

/* What choosing takes for each row, in multiply-adds. */
#define CHOICE_COST 64

/* A row that goes on: where it stands among those of its entry, and what it has. */
typedef struct
{
  gint64 place;
  PlaitScalar path;
} Kept;

/* What stands below the rows that go on. */
typedef struct
{
  PlaitSiblings *sets;
  gint64 n;
  Kept *kept; /* the row that each set stands below */
} Front;

typedef struct
{
  gint64 top;    /* the first row of its highest level */
  gint64 height; /* the number of that level */
  gint64 most;   /* rows that an entry of it can weigh, and what the kernel wants behind them */
  gint64 first;  /* where the room of its first entry begins */
} Sentence;

/* The room of one entry, and what is there so far. */
typedef struct
{
  gint64 n;
  gint64 from; /* the first row of the level that was weighed last */
  gint64 n_sets;
  gint64 *row;
  PlaitScalar *weights;
  PlaitScalar *path;
  gint64 *in_set;
  gint64 *parent;
} Entry;

typedef struct
{
  const PlaitKernels *kernels;
  const PlaitWalk *walk;
  const PlaitWalkScores *scores;
  gint64 pieces;
  gint64 room; /* of all entries */
  Sentence *sentences;
  Front *fronts;  /* [pieces][heads] */
  Entry *entries; /* likewise */

  /* Of each entry: how many. */
  gint64 *n_rows; /* -1: children that are no rows of the sentence */
  gint64 *n_leaves;
  gint64 *n_sets;

  /* In the room of each entry: its rows, and its sets, for which there is room beside each row and once more. */
  gint64 *row;
  PlaitScalar *weights;
  PlaitScalar *path;
  gint64 *in_set;
  gint64 *parent;
} Call;

/* Weighs the rows of @front. */
static void
weigh (const Call *call, const PlaitRowScores *scores, const Front *front, Entry *entry)
{
  gint64 n = entry->n;

  call->kernels->weigh_siblings (scores, front->sets, front->n, entry->weights + n, entry->path + n);
  for (gint64 s = 0; s < front->n; s++)
    {
      for (gint64 i = 0; i < front->sets[s].n; i++)
        entry->row[n++] = front->sets[s].first + i;
      entry->in_set[entry->n_sets] = front->sets[s].n;
      entry->parent[entry->n_sets++] = front->kept[s].place;
    }
  entry->from = entry->n;
  entry->n = n;
}

/* Puts @candidate among the @n best, @most at most, and returns how many they are. */
static inline gint64
insert (Kept *best, gint64 n, gint64 most, Kept candidate)
{
  gint64 place = n;

  if (n == most && (n == 0 || !(candidate.path > best[n - 1].path)))
    return n;
  if (n == most)
    place--;
  for (; place > 0 && candidate.path > best[place - 1].path; place--)
    best[place] = best[place - 1];
  best[place] = candidate;
  return MIN (n + 1, most);
}

static inline void
sort_by_place (Kept *kept, gint64 n)
{
  for (gint64 i = 1; i < n; i++)
    {
      Kept one = kept[i];
      gint64 place = i;

      for (; place > 0 && kept[place - 1].place > one.place; place--)
        kept[place] = kept[place - 1];
      kept[place] = one;
    }
}

/* The children of @row, which has @path. FALSE if they are no rows of the sentence. */
static inline gboolean
find_children (const PlaitWalk *walk, gint64 sentence, gint64 row, PlaitScalar path, PlaitSiblings *children)
{
  *children = (PlaitSiblings){ walk->first_child[row], walk->n_children[row], path };
  if (children->n == 0)
    children->first = 0;
  return children->n == 0
         || (children->n > 0 && children->n <= walk->most_children && children->first >= walk->rows.offsets[sentence]
             && children->first + children->n <= walk->rows.offsets[sentence + 1]);
}

/* The children of the best of the rows that @entry weighed last make the front. A row that two sets share stands beside
 * itself, and has the sum of both. FALSE where children are no rows of the sentence, or with them there are more than
 * @most. */
static gboolean
choose (const PlaitWalk *walk, gint64 sentence, gint64 most, const Entry *entry, Front *front)
{
  gboolean all = entry->n - entry->from <= walk->branches;
  gint64 n = 0, rows = entry->n;

  for (gint64 i = entry->from; i < entry->n;)
    {
      Kept candidate = { i, entry->path[i] };

      for (i++; i < entry->n && entry->row[i] == entry->row[i - 1]; i++)
        candidate.path += entry->path[i];
      if (all)
        front->kept[n++] = candidate;
      else
        n = insert (front->kept, n, walk->branches, candidate);
    }
  if (!all)
    sort_by_place (front->kept, n);
  front->n = n;
  for (gint64 k = 0; k < n; rows += front->sets[k++].n)
    if (!find_children (walk, sentence, entry->row[front->kept[k].place], front->kept[k].path, &front->sets[k]))
      return FALSE;
  return rows + PLAIT_LONGEST_VECTOR <= most;
}

/* The room of head @head of query @query. */
static Entry
entry_of (const Call *call, gint64 sentence, gint64 query, gint64 head)
{
  const Sentence *of = &call->sentences[sentence];
  gint64 heads = call->walk->heads, entry = query * heads + head;
  gint64 begin = of->first + ((query - call->walk->queries.offsets[sentence]) * heads + head) * of->most;

  return (Entry){
    .row = call->row + begin,
    .weights = call->weights + begin,
    .path = call->path + begin,
    .in_set = call->in_set + begin + entry,
    .parent = call->parent + begin + entry,
  };
}

/* The heads of a query go down side by side: what one of them weighs does not wait for what another one chooses. */
static void
walk_query (const Call *call, gint64 sentence, gint64 query, Front *fronts, Entry *entries)
{
  const PlaitWalk *walk = call->walk;
  const PlaitWalkScores *from = call->scores;
  const Sentence *of = &call->sentences[sentence];
  gint64 heads = walk->heads, width = from->keys.width / heads, level = of->height;
  PlaitSiblings top = { of->top, walk->rows.offsets[sentence + 1] - of->top, 1 };
  gboolean fits = TRUE;

  for (; fits && level > 0 && top.n == 1; level--)
    fits = find_children (walk, sentence, top.first, 1, &top);
  for (gint64 h = 0; h < heads; h++)
    {
      entries[h] = entry_of (call, sentence, query, h);
      fronts[h].n = 1;
      fronts[h].kept[0] = (Kept){ -1, 1 };
      fronts[h].sets[0] = top;
    }
  for (; fits; level--)
    {
      for (gint64 h = 0; h < heads; h++)
        {
          PlaitRowScores scores = {
            .query = plait_tensor_row (from->queries, query) + h * width,
            .rows = from->keys.data + h * width,
            .n = from->keys.rows,
            .stride = from->keys.stride,
            .width = width,
            .scale = from->scale,
            .vector = from->vector,
          };

          weigh (call, &scores, &fronts[h], &entries[h]);
        }
      if (level == 0)
        break;
      for (gint64 h = 0; h < heads; h++)
        fits &= choose (walk, sentence, of->most, &entries[h], &fronts[h]);
    }
  for (gint64 h = 0; h < heads; h++)
    {
      gint64 entry = query * heads + h;

      call->n_rows[entry] = fits ? entries[h].n : -1;
      call->n_leaves[entry] = entries[h].n - entries[h].from;
      call->n_sets[entry] = entries[h].n_sets;
    }
}

static void
walk_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  const PlaitWalk *walk = call->walk;
  gint64 queries = plait_ragged_rows (walk->queries), sentence = 0;

  for (gint64 q = queries * piece / call->pieces; q < queries * (piece + 1) / call->pieces; q++)
    {
      while (q >= walk->queries.offsets[sentence + 1])
        sentence++;
      walk_query (call, sentence, q, call->fronts + piece * walk->heads, call->entries + piece * walk->heads);
    }
}

/* Rows that can be weighed below the top of the @n rows from @first on, on @height levels. All of them are counted only
 * where few branches are not fewer. */
static gint64
most_below (const PlaitWalk *walk, gint64 first, gint64 n, gint64 height)
{
  gint64 most = height * MIN (walk->branches, n) * MAX (walk->most_children, 1), all = 0;

  if (most <= 2 * n)
    return most;
  for (gint64 row = first; row < first + n; row++)
    all += CLAMP (walk->n_children[row], 0, walk->most_children);
  return MIN (most, all);
}

/* Notes where the sentences' highest levels begin, and how many rows their entries can weigh; returns how many that is
 * for all entries together. */
static gint64
measure (const PlaitWalk *walk, Sentence *sentences, gint64 *most)
{
  gint64 first = 0;

  *most = 1;
  for (gint64 s = 0; s < walk->rows.n; s++)
    {
      gint64 begin = walk->rows.offsets[s], end = walk->rows.offsets[s + 1], top = end;

      while (top > begin && walk->level[top - 1] == walk->level[end - 1])
        top--;
      sentences[s] = (Sentence){ .top = top, .first = first };
      if (top < end)
        sentences[s].height = CLAMP (walk->level[top], 0, end - begin);
      sentences[s].most = end - top + most_below (walk, begin, end - begin, sentences[s].height) + PLAIT_LONGEST_VECTOR;
      first += sentences[s].most * plait_ragged_length (walk->queries, s) * walk->heads;
      *most = MAX (*most, sentences[s].most);
    }
  return first;
}

/* What the walks take, about. */
static gint64
work_of (const PlaitWalk *walk, const PlaitWalkScores *scores, gint64 room)
{
  gint64 width = scores->keys.width / walk->heads;

  return room * (width * (scores->vector ? PLAIT_CHOSEN_TANH : 1) + CHOICE_COST);
}

static void
prepare (Call *call, PlaitArena *arena)
{
  gint64 queries = plait_ragged_rows (call->walk->queries), entries = queries * call->walk->heads, most;

  call->kernels = plait_kernels ();
  call->sentences = plait_arena_new_array (arena, Sentence, call->walk->rows.n);
  call->room = measure (call->walk, call->sentences, &most);
  call->pieces = CLAMP (work_of (call->walk, call->scores, call->room) / PLAIT_CHOSEN_LITTLE, 1, MAX (queries, 1));
  call->fronts = plait_arena_new_array (arena, Front, call->pieces * call->walk->heads);
  call->entries = plait_arena_new_array (arena, Entry, call->pieces * call->walk->heads);
  for (gint64 i = 0; i < call->pieces * call->walk->heads; i++)
    {
      call->fronts[i].sets = plait_arena_new_array (arena, PlaitSiblings, most);
      call->fronts[i].kept = plait_arena_new_array (arena, Kept, most);
    }
  call->n_rows = plait_arena_new_array (arena, gint64, 3 * entries);
  call->n_leaves = call->n_rows + entries;
  call->n_sets = call->n_leaves + entries;
  call->row = plait_arena_new_array (arena, gint64, 3 * call->room + 2 * entries);
  call->in_set = call->row + call->room;
  call->parent = call->in_set + call->room + entries;
  call->weights = plait_arena_new_array (arena, PlaitScalar, 2 * call->room);
  call->path = call->weights + call->room;
}

/* What is large of it. */
static void
release (const Call *call, PlaitArena *arena, gint64 entries)
{
  plait_arena_release (arena, call->row, sizeof *call->row * (gsize)(3 * call->room + 2 * entries));
  plait_arena_release (arena, call->weights, sizeof *call->weights * (gsize)(2 * call->room));
}

/* The last @n rows of @entry, which stand in @leaves from @begin on, and what they have. */
static void
note_leaves (const PlaitWalk *walk, const Entry *entry, gint64 n_rows, gint64 n, gint64 *row, PlaitScalar *of_leaves)
{
  const PlaitScalar *path = entry->path + n_rows - n;
  PlaitScalar sum = 0;

  memcpy (row, entry->row + n_rows - n, sizeof *row * (gsize)n);
  for (gint64 i = 0; i < n; i++)
    sum += path[i];
  for (gint64 i = 0; i < n; i++)
    of_leaves[i] = walk->normalise ? path[i] / sum : path[i];
}

/* The leaves of all entries, end to end. */
static void
gather_leaves (const Call *call, PlaitArena *arena, PlaitWalked *walked)
{
  const PlaitWalk *walk = call->walk;
  gint64 entries = plait_ragged_rows (walk->queries) * walk->heads, entry = 0, *sets, *rows, *row;

  sets = plait_arena_new_array (arena, gint64, 2 * entries + 2);
  rows = sets + entries + 1;
  for (gint64 e = 0; e <= entries; e++)
    sets[e] = e;
  rows[0] = 0;
  for (gint64 e = 0; e < entries; e++)
    rows[e + 1] = rows[e] + call->n_leaves[e];
  row = plait_arena_new_array (arena, gint64, rows[entries]);
  walked->of_leaves = plait_arena_new_array (arena, PlaitScalar, rows[entries]);
  for (gint64 s = 0; s < walk->queries.n; s++)
    for (gint64 q = walk->queries.offsets[s]; q < walk->queries.offsets[s + 1]; q++)
      for (gint64 h = 0; h < walk->heads; h++, entry++)
        {
          Entry of = entry_of (call, s, q, h);

          note_leaves (walk, &of, call->n_rows[entry], call->n_leaves[entry], row + rows[entry],
                       walked->of_leaves + rows[entry]);
        }
  walked->leaves = (PlaitChosen){ walk->heads, { entries, sets }, { entries, rows }, row };
}

/* The rows and sets of all entries, end to end. */
static void
gather_all (const Call *call, PlaitArena *arena, PlaitWalked *walked)
{
  const PlaitWalk *walk = call->walk;
  gint64 entries = plait_ragged_rows (walk->queries) * walk->heads, entry = 0, n_sets = 0, n = 0;
  gint64 *sets = plait_arena_new_array (arena, gint64, entries + 1), *rows, *row, *parent;
  PlaitScalar *weights = plait_arena_new_array (arena, PlaitScalar, 2 * walked->weighed), *path;

  path = weights + walked->weighed;
  sets[0] = 0;
  for (gint64 e = 0; e < entries; e++)
    sets[e + 1] = sets[e] + call->n_sets[e];
  rows = plait_arena_new_array (arena, gint64, 2 * sets[entries] + 1);
  parent = rows + sets[entries] + 1;
  row = plait_arena_new_array (arena, gint64, walked->weighed);
  rows[0] = 0;
  for (gint64 s = 0; s < walk->queries.n; s++)
    for (gint64 q = walk->queries.offsets[s]; q < walk->queries.offsets[s + 1]; q++)
      for (gint64 h = 0; h < walk->heads; h++, entry++)
        {
          Entry of = entry_of (call, s, q, h);
          gsize number = (gsize)call->n_rows[entry];

          for (gint64 i = 0; i < call->n_sets[entry]; i++, n_sets++)
            {
              rows[n_sets + 1] = rows[n_sets] + of.in_set[i];
              parent[n_sets] = of.parent[i] < 0 ? -1 : n + of.parent[i];
            }
          memcpy (row + n, of.row, sizeof *row * number);
          memcpy (weights + n, of.weights, sizeof *weights * number);
          memcpy (path + n, of.path, sizeof *path * number);
          n += (gint64)number;
        }
  walked->all = (PlaitChosen){ walk->heads, { entries, sets }, { n_sets, rows }, row };
  walked->parent = parent;
  walked->weights = weights;
  walked->path = path;
}

PlaitWalked
plait_walk (PlaitPool *pool, PlaitArena *arena, const PlaitWalk *walk, const PlaitWalkScores *scores, gboolean all)
{
  Call call = { .walk = walk, .scores = scores };
  PlaitWalked walked = { .normalised = walk->normalise };
  gint64 entries = plait_ragged_rows (walk->queries) * walk->heads;

  g_assert (!scores->vector || walk->heads == 1);
  prepare (&call, arena);
  if (call.pieces == 1)
    walk_piece (&call, 0, 0);
  else
    plait_pool_run (pool, call.pieces, walk_piece, &call);
  for (gint64 e = 0; e < entries; e++)
    {
      if (call.n_rows[e] < 0)
        return (PlaitWalked){ .weighed = -1 };
      walked.weighed += call.n_rows[e];
    }
  gather_leaves (&call, arena, &walked);
  if (all)
    gather_all (&call, arena, &walked);
  release (&call, arena, entries);
  return walked;
}

/*
 * Backward
 */

typedef struct
{
  const PlaitWalked *walked;
  gint64 pieces;
  PlaitScalar *dpath; /* of all */
  PlaitScalar *dscores;
  PlaitScalar factor;
  const PlaitScalar *dleaves;
} BackwardCall;

/* The gradient of what the leaves of @entry had before they were normalised. */
static void
leaves_backward (const BackwardCall *call, gint64 entry)
{
  const PlaitWalked *walked = call->walked;
  gint64 begin = plait_chosen_begin (&walked->leaves, entry),
         n = plait_chosen_begin (&walked->leaves, entry + 1) - begin;
  gint64 at = plait_chosen_begin (&walked->all, entry + 1) - n;
  const PlaitScalar *dleaves = call->dleaves + begin, *of_leaves = walked->of_leaves + begin;
  PlaitScalar sum = 0, product = 0;

  for (gint64 i = 0; i < n && walked->normalised; i++)
    {
      sum += walked->path[at + i];
      product += PLAIT_TERM (walk_sum, dleaves[i] * of_leaves[i]);
    }
  for (gint64 i = 0; i < n; i++)
    call->dpath[at + i] = walked->normalised ? (PLAIT_TERM (walk_leaf, dleaves[i]) - product) / sum
                                             : PLAIT_TERM (walk_leaf, dleaves[i]);
}

/* The rows of the set come to the row that they stand below, wherever it stands. */
static void
set_backward (const BackwardCall *call, gint64 set)
{
  const PlaitWalked *walked = call->walked;
  gint64 parent = walked->parent[set], begin = walked->all.rows.offsets[set], end = walked->all.rows.offsets[set + 1];
  const gint64 *row = walked->all.row;
  PlaitScalar above = parent < 0 ? 1 : 0, sum = 0;

  for (gint64 i = begin; i < end; i++)
    sum += call->dpath[i] * walked->weights[i];
  for (gint64 i = parent; i >= 0 && i < begin && row[i] == row[parent]; i++)
    {
      above += walked->path[i];
      call->dpath[i] += PLAIT_TERM (walk_parent, sum);
    }
  above *= call->factor;
  for (gint64 i = begin; i < end; i++)
    call->dscores[i]
        = above * walked->weights[i] * (PLAIT_TERM (walk_weight, call->dpath[i]) - PLAIT_TERM (walk_normaliser, sum));
}

/* From the leaves up: sets stand behind those above them. */
static void
backward_piece (gpointer data, gint64 piece, guint thread)
{
  const BackwardCall *call = data;
  const PlaitChosen *all = &call->walked->all;
  gint64 entries = all->sets.n;

  for (gint64 e = entries * piece / call->pieces; e < entries * (piece + 1) / call->pieces; e++)
    {
      gint64 begin = plait_chosen_begin (all, e);

      memset (call->dpath + begin, 0, sizeof *call->dpath * (gsize)(plait_chosen_begin (all, e + 1) - begin));
      leaves_backward (call, e);
      for (gint64 set = all->sets.offsets[e + 1] - 1; set >= all->sets.offsets[e]; set--)
        set_backward (call, set);
    }
}

void
plait_walk_backward (PlaitPool *pool, PlaitArena *arena, const PlaitWalked *walked, PlaitScalar *dscores,
                     PlaitScalar factor, const PlaitScalar *dleaves)
{
  gsize bytes = sizeof (PlaitScalar) * (gsize)MAX (walked->weighed, 1);
  gint64 work = walked->weighed * CHOICE_COST;
  BackwardCall call = { .walked = walked,
                        .pieces = CLAMP (work / PLAIT_CHOSEN_LITTLE, 1, MAX (walked->all.sets.n, 1)),
                        .dpath = plait_arena_take (arena, bytes),
                        .dscores = dscores,
                        .factor = factor,
                        .dleaves = dleaves };

  plait_chosen_run (pool, call.pieces, work, backward_piece, &call);
  plait_arena_release (arena, call.dpath, bytes);
}
