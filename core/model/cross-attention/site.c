/* SPDX-License-Identifier: MIT */
#include "cross-attention/site.h"
#include "cross-attention/rows.h"

#include <string.h>

#include "autograd/internal.h"

/* What a combiner calls while the model runs. */

PlaitTape *
plait_site_running (PlaitSite *site, const char *call)
{
  if (!site->parameters)
    return site->pass->tape;
  /* Nothing runs yet that could be left: the fault is told when build returns. */
  plait_site_fault (site, PLAIT_ERROR_PLUGIN, "calls %s in build: it computes, and belongs into combine", call);
  return NULL;
}

void
plait_site_check_query (const PlaitSite *site, const char *call, PlaitStream query)
{
  gint64 rows = plait_ragged_rows (site->pass->queries), width = site->declared->query_width;

  if (!query.query || query.query->value.rows != rows || query.query->value.width != width)
    plait_tape_fail (site->pass->tape, "%s: the query is not [%jd, %jd]", call, rows, width);
}

PlaitTape *
plait_site_tape (PlaitSite *site)
{
  return plait_site_running (site, G_STRFUNC);
}

/* Leaves the step unless the slot was declared. */
static void
check_slot (PlaitSite *site, const char *call, guint slot)
{
  if (slot >= site->declared->n_slots)
    plait_tape_fail (site->pass->tape, "%s: slot %u was not declared: declare it in build", call, slot);
}

PlaitStream
plait_site_normalise (PlaitSite *site, guint slot, PlaitStream x)
{
  PlaitTape *tape = plait_site_running (site, G_STRFUNC);

  if (!tape)
    return x;
  check_slot (site, G_STRFUNC, slot);
  plait_site_check_query (site, G_STRFUNC, x);
  if (site->declared->scaled && site->declared->decoder->settings->norm == PLAIT_DECODER_NORM_PRE)
    x.query = plait_norm_apply (tape, &site->declared->norms[slot], x.query);
  return x;
}

static const char *
kind_of (PlaitReads reads)
{
  return reads == PLAIT_READS_MEMORY ? "to this memory" : reads == PLAIT_READS_JOINTLY ? "jointly" : "over contexts";
}

const PlaitReader *
plait_site_reader (PlaitSite *site, const char *call, PlaitReads reads, const char *name, guint memory)
{
  PlaitTape *tape = plait_site_running (site, call);
  const PlaitReader *reader;

  if (!tape)
    return NULL;
  if (reads == PLAIT_READS_MEMORY)
    plait_site_memory (site, memory);
  reader = plait_site_find_reader (site, reads, name, memory);
  if (!reader)
    plait_tape_fail (tape, "%s: no attention %s%s%s was declared: declare it in build", call, kind_of (reads),
                     name ? " called " : " without a name", name ? name : "");
  return reader;
}

/* The reader of an attention that is called once a pass, over queries that fit; NULL while the site is being built. */
static const PlaitReader *
begin_attention (PlaitSite *site, const char *call, PlaitReads reads, const char *name, guint memory, PlaitStream query)
{
  const PlaitReader *reader = plait_site_reader (site, call, reads, name, memory);
  PlaitSiteQuery *of;

  if (!reader)
    return NULL;
  of = &site->queries[reader - site->declared->readers];
  if (of->called)
    plait_tape_fail (site->pass->tape, "%s: this attention is called twice in a pass: declare a second one with a name",
                     call);
  of->called = TRUE;
  plait_site_check_query (site, call, query);
  return reader;
}

PlaitNode *
plait_site_project_query (PlaitSite *site, const PlaitReader *reader, PlaitStream query)
{
  const PlaitLinear *linear = site->declared->scaled ? &reader->scaled.query : &reader->scored.query;
  PlaitSiteQuery *of = &site->queries[reader - site->declared->readers];

  if (of->query != query.query)
    *of = (PlaitSiteQuery){ of->called, query.query,
                            linear->weight
                                ? plait_linear_apply (site->pass->tape, linear, query.query, PLAIT_ACTIVATION_NONE)
                                : query.query };
  return of->projected;
}

PlaitNode *
plait_site_project_output (const PlaitSite *site, const PlaitReader *reader, PlaitNode *value, const guint8 *present)
{
  PlaitTape *tape = site->pass->tape;

  if (site->declared->scaled)
    {
      value = plait_linear_apply (tape, &reader->scaled.output, value, PLAIT_ACTIVATION_NONE);
      if (present && reader->scaled.output.bias)
        value = plait_select_rows (tape, present, value, NULL);
    }
  return plait_dropout (tape, value, reader->output_dropout);
}

const char *
plait_site_captured_name (const PlaitSite *site, const PlaitReader *reader)
{
  for (guint i = 0; reader->reads == PLAIT_READS_JOINTLY && i < site->declared->n_readers; i++)
    if (site->declared->readers[i].reads == PLAIT_READS_MEMORY && !site->declared->readers[i].name)
      return PLAIT_CAPTURED_JOINTLY;
  return reader->name;
}

/* One softmax a head over the rows of the memories that @reader reads, where nothing needs the weights. */
static PlaitNode *
attend_fused (const PlaitSite *site, const PlaitReader *reader, PlaitStream query)
{
  PlaitTape *tape = site->pass->tape;
  PlaitAttended *attended = plait_arena_new_array (plait_tape_arena (tape), PlaitAttended, reader->n);
  PlaitNode *value;

  memcpy (attended, site->keys->attended + plait_site_place (site->declared, reader, reader->first),
          reader->n * sizeof *attended);
  for (guint i = 0; site->pass->capture && i < reader->n; i++)
    attended[i].weights
        = plait_capture_weights (site->pass->capture, site->step->layer, plait_site_captured_name (site, reader),
                                 reader->first + i, reader->heads);
  value = plait_attention_apply (tape, &reader->scaled, query.query, site->pass->queries, attended, reader->n);
  return plait_dropout (tape, value, reader->output_dropout);
}

/* Every query weighs every row of its sentence. */
static void
count_touched (const PlaitSitePass *pass, const PlaitReader *reader)
{
  for (guint m = reader->first; pass->touched && m < reader->first + reader->n; m++)
    for (gint64 s = 0; s < pass->queries.n; s++)
      pass->touched->all
          += reader->heads * plait_ragged_length (pass->queries, s) * plait_ragged_length (pass->memories[m].rows, s);
}

/* What @reader, which is NULL while the site is being built, makes of the memories that it reads. */
static PlaitContext
attend (PlaitSite *site, const PlaitReader *reader, PlaitStream query)
{
  PlaitContext context = { .value = NULL };
  const guint8 *present;
  PlaitTape *tape;
  PlaitNode **weights;

  if (!reader)
    return context;
  tape = site->pass->tape;
  present = reader->reads == PLAIT_READS_MEMORY ? site->pass->present[reader->first] : site->pass->any_present;
  context.present = reader->scored.sentinel ? NULL : present;
  count_touched (site->pass, reader);
  if (site->declared->scaled && !reader->covered && !reader->weights)
    {
      context.value = attend_fused (site, reader, query);
      return context;
    }
  weights = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, reader->heads);
  context.value = plait_site_attend_apart (site, reader, query, present, weights);
  if (reader->weights)
    context.weights = reader->heads == 1 ? weights[0] : plait_concatenate_columns (tape, weights, reader->heads);
  return context;
}

PlaitContext
plait_site_attend_by (PlaitSite *site, const char *name, guint memory, PlaitStream query)
{
  return attend (site, begin_attention (site, G_STRFUNC, PLAIT_READS_MEMORY, name, memory, query), query);
}

PlaitContext
plait_site_attend (PlaitSite *site, guint memory, PlaitStream query)
{
  return plait_site_attend_by (site, NULL, memory, query);
}

PlaitContext
plait_site_attend_jointly (PlaitSite *site, PlaitStream query)
{
  return attend (site, begin_attention (site, G_STRFUNC, PLAIT_READS_JOINTLY, NULL, 0, query), query);
}

static PlaitNode *
attend_contexts_scaled (const PlaitSite *site, const PlaitReader *reader, PlaitStream query,
                        const PlaitContext *contexts, guint n)
{
  PlaitTape *tape = site->pass->tape;
  PlaitNode **values = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, n);
  const guint8 **present = plait_arena_new_array (plait_tape_arena (tape), const guint8 *, n);
  PlaitScalar *weights = NULL;
  PlaitNode *value;

  for (guint i = 0; i < n; i++)
    {
      values[i] = contexts[i].value;
      present[i] = contexts[i].present;
    }
  if (site->pass->capture)
    weights = plait_capture_contexts (site->pass->capture, site->step->layer, reader->heads);
  value = plait_attention_apply_items (tape, &reader->scaled, query.query, values, present, n, weights);
  return plait_dropout (tape, value, reader->output_dropout);
}

/* A context that came from the combiner must be [queries, width]. */
static void
check_contexts (PlaitSite *site, const char *call, const PlaitContext *contexts, guint n)
{
  gint64 rows = plait_ragged_rows (site->pass->queries), width = site->declared->width;

  for (guint i = 0; i < n; i++)
    if (!contexts || !contexts[i].value || contexts[i].value->value.rows != rows
        || contexts[i].value->value.width != width)
      plait_tape_fail (site->pass->tape, "%s: context %u is not [%jd, %jd]", call, i, rows, width);
}

PlaitContext
plait_site_attend_contexts (PlaitSite *site, PlaitStream query, const PlaitContext *contexts)
{
  guint n = plait_site_n_memories (site);
  const PlaitReader *reader = begin_attention (site, G_STRFUNC, PLAIT_READS_CONTEXTS, NULL, 0, query);

  if (!reader)
    return (PlaitContext){ NULL, NULL, NULL };
  check_contexts (site, G_STRFUNC, contexts, n);
  return (PlaitContext){
    .value = site->declared->scaled ? attend_contexts_scaled (site, reader, query, contexts, n)
                                    : plait_site_attend_contexts_apart (site, reader, query, contexts, n),
    .present = reader->scored.sentinel ? NULL : site->pass->any_present,
  };
}

/* Absent where all of them are. */
PlaitContext
plait_site_sum (PlaitSite *site, const PlaitContext *contexts, guint n)
{
  PlaitTape *tape = plait_site_running (site, G_STRFUNC);
  PlaitNode **values;
  guint8 *present;
  gboolean partial = TRUE;
  gint64 rows;

  if (!tape)
    return (PlaitContext){ NULL, NULL, NULL };
  if (n == 0)
    plait_tape_fail (tape, "%s: there is nothing to add up", G_STRFUNC);
  check_contexts (site, G_STRFUNC, contexts, n);
  rows = plait_ragged_rows (site->pass->queries);
  values = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, n);
  present = plait_arena_new_array0 (plait_tape_arena (tape), guint8, rows + 1);
  for (guint i = 0; i < n; i++)
    {
      values[i] = contexts[i].value;
      partial = partial && contexts[i].present;
      for (gint64 row = 0; partial && row < rows; row++)
        present[row] |= contexts[i].present[row];
    }
  return (PlaitContext){ .value = n == 1 ? values[0] : plait_sum (tape, values, n),
                         .present = partial ? present : NULL };
}

/* In a recurrent decoder an absent context is zero, so that it changes neither query nor context. */
PlaitStream
plait_site_residual (PlaitSite *site, guint slot, PlaitStream x, PlaitContext context)
{
  PlaitTape *tape = plait_site_running (site, G_STRFUNC);
  const PlaitLinear *refine;
  PlaitNode *y;

  if (!tape)
    return x;
  check_slot (site, G_STRFUNC, slot);
  if (site->added[slot])
    plait_tape_fail (tape, "%s: slot %u is used twice in a pass: declare another one", G_STRFUNC, slot);
  site->added[slot] = TRUE;
  plait_site_check_query (site, G_STRFUNC, x);
  check_contexts (site, G_STRFUNC, &context, 1);
  if (!site->declared->scaled)
    {
      refine = &site->declared->refine[slot];
      if (refine->weight)
        x.query = plait_residual (tape, x.query,
                                  plait_linear_apply (tape, refine, context.value, PLAIT_ACTIVATION_NONE), 0);
      x.context = x.context ? plait_add (tape, x.context, context.value) : context.value;
      return x;
    }
  y = plait_residual (tape, x.query, context.value, 0);
  if (site->declared->decoder->settings->norm != PLAIT_DECODER_NORM_PRE)
    {
      y = plait_norm_apply (tape, &site->declared->norms[slot], y);
      if (context.present)
        y = plait_select_rows (tape, context.present, y, x.query);
    }
  return (PlaitStream){ .query = y };
}

void
plait_site_check_rows (PlaitSite *site, const char *call, guint memory)
{
  plait_site_memory (site, memory);
  if (!site->declared->reads_rows[memory])
    plait_tape_fail (site->pass->tape, "%s: the rows of memory %u were not declared: declare them in build", call,
                     memory);
}

const PlaitMemory *
plait_site_rows (PlaitSite *site, guint memory)
{
  if (!plait_site_running (site, G_STRFUNC))
    return NULL;
  plait_site_check_rows (site, G_STRFUNC, memory);
  return &site->keys->memories[memory];
}

PlaitPairs
plait_site_pairs (PlaitSite *site, guint memory)
{
  if (!plait_site_running (site, G_STRFUNC))
    return (PlaitPairs){ .offsets = NULL };
  plait_site_memory (site, memory);
  return plait_pairs (site->pass->tape, site->pass->queries, site->pass->memories[memory].rows);
}

PlaitNode *
plait_site_prepared (PlaitSite *site, guint memory)
{
  if (!plait_site_running (site, G_STRFUNC))
    return NULL;
  plait_site_check_rows (site, G_STRFUNC, memory);
  return site->keys->prepared[memory];
}

void
plait_site_add_loss (PlaitSite *site, const char *name, PlaitNode *loss)
{
  const PlaitInstance *combiner = &site->declared->combiner;

  if (plait_site_running (site, G_STRFUNC))
    plait_loss_pass_add (site->pass->losses, site->pass->tape, &combiner->losses, combiner->columns, name, loss);
}

PlaitStream
plait_site_combine (const PlaitDeclaredSite *site, const PlaitSitePass *pass, const PlaitSiteStep *step,
                    PlaitNode *query)
{
  PlaitSite running_site = {
    .declared = (PlaitDeclaredSite *)site,
    .pass = pass,
    .keys = &step->keys,
    .step = step,
    .sentinel = step->gate ? plait_multiply (pass->tape, step->gate, query) : NULL,
    .queries = plait_arena_new_array0 (plait_tape_arena (pass->tape), PlaitSiteQuery, site->n_readers + 1),
    .added = plait_arena_new_array0 (plait_tape_arena (pass->tape), gboolean, site->n_slots + 1),
  };

  return plait_call_combine (&site->combiner, pass->tape, &running_site, (PlaitStream){ .query = query },
                             !site->scaled);
}
