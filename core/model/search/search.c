/* SPDX-License-Identifier: MIT */
#include "search/part-search.h"

#include "corpus/batch.h"
#include "layers/parameter-set.h"
#include "search/unknown.h"
#include "tensor/blas.h"

/* Minimum size of a part: sentences, and rows. With fewer sentences, one thread may finish long before another. With
 * fewer rows, each thread would read all weights for too little work. */
#define MIN_SENTENCES 8
#define MIN_ROWS 32

void
plait_search_set_ranks (PlaitSearch *search, PlaitRanks *ranks)
{
  search->ranks = ranks;
}

PlaitRanks *
plait_search_ranks (const PlaitSearch *search)
{
  return search->ranks;
}

/* Creates arenas of at most @memory bytes each (0: no limit), and their tapes. */
static void
workspace_open (PlaitSearchWorkspace *workspace, PlaitPool *pool, gsize memory)
{
  *workspace = (PlaitSearchWorkspace){ .pool = pool,
                                       .batch_arena = plait_arena_new (memory),
                                       .step_arena = plait_arena_new (memory) };
  workspace->batch_tape = plait_tape_new (pool, workspace->batch_arena);
  workspace->step = plait_tape_new (pool, workspace->step_arena);
}

static void
workspace_close (PlaitSearchWorkspace *workspace)
{
  plait_tape_free (workspace->batch_tape);
  plait_tape_free (workspace->step);
  plait_arena_free (workspace->batch_arena);
  plait_arena_free (workspace->step_arena);
}

PlaitSearch *
plait_search_new (PlaitModel *model, PlaitPool *pool, PlaitPrecision precision, gsize memory, GError **error)
{
  const PlaitSearchMember member = { model, precision, 1 };

  return plait_search_new_ensemble (&member, 1, PLAIT_ENSEMBLE_MEAN, pool, memory, error);
}

PlaitSearch *
plait_search_new_ensemble (const PlaitSearchMember *members, guint n, PlaitEnsembleRule rule, PlaitPool *pool,
                           gsize memory, GError **error)
{
  PlaitSearch *search;

  for (guint i = 0; i < n; i++)
    if (!plait_parameters_pack (plait_model_parameters (members[i].model), pool, members[i].precision, error))
      return NULL;
  search = g_new0 (PlaitSearch, 1);
  search->members = g_memdup2 (members, n * sizeof *members);
  search->n_members = n;
  search->rule = rule;
  search->model = members[0].model;
  search->pool = pool;
  search->memory = memory;
  workspace_open (&search->whole, pool, memory);
  return search;
}

void
plait_search_free (PlaitSearch *search)
{
  if (!search)
    return;
  workspace_close (&search->whole);
  for (guint i = 0; search->parts && i < plait_pool_threads (search->pool); i++)
    workspace_close (&search->parts[i]);
  g_free (search->parts);
  plait_unknown_replacement_free (search->replacement);
  g_free (search->members);
  g_free (search);
}

PlaitSearchWork
plait_search_work (const PlaitSearch *search)
{
  return search->work;
}

PlaitAttentionRecord *
plait_search_record (const PlaitSearch *search, PlaitSearchWorkspace *workspace, gboolean coverage)
{
  guint n_memories;

  plait_model_memories (search->model, &n_memories);
  return plait_attention_record_new (
      workspace->batch_arena, plait_decoder_n_layers (plait_model_decoder (search->model)), n_memories, coverage);
}

/* Adds the words of the best hypothesis of each sentence, EOS included, and the seconds since @start to @work. */
static void
count_work (PlaitSearchWork *work, const PlaitHypotheses *hypotheses, gint64 n, gint64 start)
{
  work->seconds += (double)(g_get_monotonic_time () - start) / 1e6;
  for (gint64 s = 0; s < n; s++)
    if (hypotheses[s].n > 0)
      work->words += hypotheses[s].hypotheses[0].length + hypotheses[s].hypotheses[0].ended;
}

static gboolean
too_large (const PlaitBatch *batch, const PlaitDecodeSettings *settings, GError **error, GError *cause)
{
  g_autoptr (GError) held = cause;

  if (!g_error_matches (held, PLAIT_ERROR, PLAIT_ERROR_MEMORY))
    return plait_no_error (&held, error);
  if (settings->method == PLAIT_DECODE_METHOD_SAMPLE)
    return plait_fail (error, PLAIT_ERROR_MEMORY,
                       "sampling %jd translations of each of %jd sentences does not fit into memory; lower "
                       "decode.batch, decode.n_best or decode.maximum_length (%s)",
                       settings->n_best, batch->n_sentences, held->message);
  return plait_fail (error, PLAIT_ERROR_MEMORY,
                     "searching %jd sentences with a beam of %jd does not fit into memory; lower decode.batch, "
                     "decode.beam or decode.maximum_length (%s)",
                     batch->n_sentences, settings->beam, held->message);
}

/* Removes the hypotheses of sentences that are missing in all sources: the model would only produce frequent words. */
static void
drop_unread (const PlaitBatch *batch, PlaitHypotheses *hypotheses)
{
  for (gint64 s = 0; s < batch->n_sentences; s++)
    if (plait_search_is_unread (batch, s))
      plait_hypotheses_clear (&hypotheses[s]);
}

/*
 * Functions that cut batches into parts
 */

static void
part_piece (gpointer data, gint64 part, guint thread)
{
  PlaitPartSearch *work = (PlaitPartSearch *)data + part;

  plait_pool_profile_nested (work->workspace->pool, work->search->pool);
  plait_part_search_run (work);
  work->times = plait_pool_times (work->workspace->pool);
}

gint64
plait_search_parts (const PlaitPool *pool, gint64 sentences, gint64 width)
{
  gint64 threads = plait_pool_threads (pool);

  /* In BLAS the bits of a row may depend on the other rows of the product, so batches are not cut. */
  if (plait_blas_rows (plait_kernels (), FALSE) > 0 || sentences < threads * MIN_SENTENCES
      || sentences * width < threads * MIN_ROWS)
    return 1;
  return threads;
}

/* Returns the workspace of part @part of @n. */
static PlaitSearchWorkspace *
workspace_of (PlaitSearch *search, gint64 part, gint64 n)
{
  guint threads = plait_pool_threads (search->pool);

  if (n == 1)
    return &search->whole;
  if (!search->parts)
    {
      search->parts = g_new0 (PlaitSearchWorkspace, threads);
      for (guint i = 0; i < threads; i++)
        workspace_open (&search->parts[i], plait_pool_for_thread (search->pool, i), search->memory / threads);
    }
  return &search->parts[part];
}

/* Appends part @part of @n to @works, as a copy of @common with its own sentences. */
static gboolean
add_part (GArray *works, const PlaitPartSearch *common, gint64 part, gint64 n, GError **error)
{
  const PlaitBatch *batch = common->batch;
  gint64 first = batch->n_sentences * part / n, end = batch->n_sentences * (part + 1) / n;
  PlaitPartSearch work = *common;

  work.workspace = workspace_of (work.search, part, n);
  work.hypotheses += first;
  if (work.requirements)
    work.requirements += first;
  if (n > 1)
    {
      work.part = plait_batch_slice (batch, first, end - first, error);
      if (!work.part)
        return FALSE;
      work.batch = work.part;
    }
  g_array_append_val (works, work);
  return TRUE;
}

/* Adds up the work of all parts, and reports the first error. */
static gboolean
join_parts (GArray *works, const PlaitPartSearch *common, GError **error)
{
  PlaitSearch *search = common->search;
  GError *cause = NULL;

  for (guint i = 0; i < works->len; i++)
    {
      PlaitPartSearch *work = &g_array_index (works, PlaitPartSearch, i);

      search->work.steps += work->workspace->steps;
      search->work.rows_weighed.all += work->workspace->rows_weighed.all;
      search->work.rows_weighed.selected += work->workspace->rows_weighed.selected;
      work->workspace->steps = 0;
      work->workspace->rows_weighed = (PlaitAttentionCost){ 0 };
      if (works->len > 1)
        plait_pool_add_nested_times (search->pool, &work->times);
      if (!cause)
        cause = g_steal_pointer (&work->error);
    }
  return !cause || too_large (common->batch, &common->settings, error, cause);
}

/* Searches the batch of @common in @n parts, which it appends to @works. */
static gboolean
run_parts (GArray *works, const PlaitPartSearch *common, gint64 n, GError **error)
{
  for (gint64 part = 0; part < n; part++)
    if (!add_part (works, common, part, n, error))
      return FALSE;
  if (n == 1)
    plait_part_search_run (&g_array_index (works, PlaitPartSearch, 0));
  else
    plait_pool_run (common->search->pool, n, part_piece, works->data);
  return join_parts (works, common, error);
}

PlaitHypotheses *
plait_search_batch_with_attention (PlaitSearch *search, const PlaitBatch *batch, const PlaitDecodeSettings *settings,
                                   const PlaitRequirement *requirements, PlaitAttentionRecords **attention,
                                   guint n_recorded, gboolean coverage, GError **error)
{
  g_autoptr (GArray) works = g_array_new (FALSE, FALSE, sizeof (PlaitPartSearch));
  gboolean by_steps = plait_search_goes_by_steps (search);
  gint64 n = by_steps ? plait_search_parts (search->pool, batch->n_sentences, plait_decode_width (settings)) : 1;
  gint64 start = g_get_monotonic_time ();
  PlaitHypotheses *hypotheses = g_new0 (PlaitHypotheses, batch->n_sentences);
  gboolean replaces = by_steps && search->replacement && settings->unknown == PLAIT_DECODE_UNKNOWN_REPLACE;
  g_autoptr (PlaitAttentionRecords) records = NULL;
  const PlaitPartSearch common = { .search = search,
                                   .batch = batch,
                                   .settings = *settings,
                                   .requirements = requirements,
                                   .recording = attention || replaces,
                                   .replaces = replaces,
                                   .n_recorded = n_recorded,
                                   .recording_coverage = coverage,
                                   .hypotheses = hypotheses };

  g_assert (by_steps || !attention);
  g_array_set_clear_func (works, plait_part_search_clear);
  if (!plait_search_check_batch (search, batch, error) || !run_parts (works, &common, n, error))
    {
      plait_hypotheses_free (hypotheses, batch->n_sentences);
      return NULL;
    }
  if (common.recording)
    records = plait_attention_records_new (MAX (n_recorded, replaces ? settings->n_best : 0) * batch->n_sentences);
  for (guint i = 0; by_steps && i < works->len; i++)
    {
      const PlaitPartSearch *work = &g_array_index (works, PlaitPartSearch, i);

      plait_part_search_collect (work);
      if (records)
        plait_part_search_follow_attention (work, records, work->hypotheses - hypotheses, batch->n_sentences);
    }
  if (replaces && !plait_search_replace_unknown (search, batch, records, hypotheses, error))
    {
      plait_hypotheses_free (hypotheses, batch->n_sentences);
      return NULL;
    }
  if (attention)
    *attention = g_steal_pointer (&records);
  count_work (&search->work, hypotheses, batch->n_sentences, start);
  if (by_steps)
    drop_unread (batch, hypotheses);
  return hypotheses;
}

PlaitHypotheses *
plait_search_batch (PlaitSearch *search, const PlaitBatch *batch, const PlaitDecodeSettings *settings, GError **error)
{
  return plait_search_batch_with_attention (search, batch, settings, NULL, NULL, 0, FALSE, error);
}
