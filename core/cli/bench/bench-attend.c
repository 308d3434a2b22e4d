/* SPDX-License-Identifier: MIT */
#include "bench/bench.h"

#include "autograd/internal.h"
#include "cross-attention/site.h"

/* One step of the decoder's attention: its combiner reads a long memory, whose keys are there already, by one query. */

typedef struct
{
  PlaitBench bench;
  PlaitMemorySpecification memory;
  PlaitDecoderBuild build;
  PlaitLossColumns losses;
  PlaitDeclaredSite site;
  PlaitParameters *parameters;
  /* "query", "rows" and "keys", which have gradients too. */
  const PlaitParameter *query;
  const PlaitParameter *rows;
  const PlaitParameter *keys;
} Attention;

static void
attention_free (gpointer data)
{
  Attention *attention = data;

  plait_parameters_free (attention->parameters);
  plait_loss_columns_clear (&attention->losses);
  g_free (attention);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Attention, attention_free)

/* Builds the site as a decoder does, below no prefix, @width wide throughout. */
static gboolean
build_site (Attention *attention, gint64 width, GError **error)
{
  const PlaitExperiment *experiment = attention->bench.options->experiment;

  attention->memory = (PlaitMemorySpecification){ experiment->sources[0].name, width, PLAIT_STRUCTURE_NONE };
  attention->build = (PlaitDecoderBuild){
    .settings = &experiment->decoder,
    .combiner = experiment->combiner,
    .losses = &attention->losses,
    .memories = &attention->memory,
    .n_memories = 1,
    .parameters = attention->parameters,
  };
  if (!plait_part_open (experiment->combiner, error)
      || !plait_declared_site_build (&attention->site, &attention->build, width, width, "", error))
    return FALSE;
  if (attention->site.n_readers == 1 && attention->site.readers[0].reads == PLAIT_READS_MEMORY)
    return TRUE;
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "the combiner %s does not attend to one memory alone, which plait bench attend measures; set "
                     "decoder.combiner to one that does",
                     experiment->decoder.combiner);
}

/* How wide keys are: as what makes them gives them, or as the rows. */
static gint64
key_width (const PlaitDeclaredSite *site)
{
  const PlaitParameter *weight = site->scaled ? NULL : plait_scored_item (&site->readers[0].scored, 0)->key.weight;

  return weight ? weight->value.width : site->width;
}

static gpointer
make (const PlaitBench *bench, GError **error)
{
  const PlaitExperiment *experiment = bench->options->experiment;
  const PlaitDecoderSettings *decoder = &experiment->decoder;
  gint64 width
      = decoder->type != PLAIT_DECODER_TRANSFORMER && decoder->state_width > 0 ? decoder->state_width : decoder->width;
  gint64 positions = experiment->bench.positions;
  g_autoptr (Attention) attention = g_new0 (Attention, 1);
  PlaitInitial normal = PLAIT_NORMAL (1);

  attention->bench = *bench;
  attention->parameters = plait_parameters_new ();
  if (!build_site (attention, width, error))
    return NULL;
  attention->query = plait_parameters_declare (attention->parameters, "query", 1, width, normal);
  attention->rows = plait_parameters_declare (attention->parameters, "rows", positions, width, normal);
  attention->keys
      = plait_parameters_declare (attention->parameters, "keys", positions, key_width (&attention->site), normal);
  if (!plait_parameters_allocate (attention->parameters, error))
    return NULL;
  plait_parameters_initialise (attention->parameters, bench->pool, (guint64)experiment->experiment.seed);
  return plait_bench_write_parameters (bench, attention->parameters, error) ? g_steal_pointer (&attention) : NULL;
}

typedef struct
{
  const Attention *attention;
  gint64 step;
  PlaitBenchStep *done;
} Pass;

static void
attend_pass (gpointer data)
{
  Pass *pass = data;
  const Attention *attention = pass->attention;
  PlaitTape *tape = attention->bench.tape;
  gint64 one[] = { 0, 1 }, all[] = { 0, attention->rows->value.rows };
  PlaitMemory memory;
  PlaitAttended attended;
  PlaitNode *nothing = NULL;
  PlaitSiteStep step = {
    .keys = { .attended = &attended, .coverage = &nothing, .prepared = &nothing, .memories = &memory },
  };
  PlaitSitePass sites;
  PlaitStream stream;

  plait_bench_begin (&attention->bench, pass->step);
  memory = (PlaitMemory){ .states = plait_parameter_node (tape, attention->rows), .rows = { 1, all } };
  attended = (PlaitAttended){ .keys = plait_parameter_node (tape, attention->keys),
                              .values = memory.states,
                              .rows = memory.rows };
  sites = plait_site_pass (tape, &memory, 1, (PlaitRagged){ 1, one }, NULL);
  stream = plait_site_combine (&attention->site, &sites, &step, plait_parameter_node (tape, attention->query));
  plait_bench_end (&attention->bench, attention->site.scaled ? &stream.query : &stream.context, 1, pass->done);
}

static gboolean
attend (gpointer made, gint64 step, PlaitBenchStep *done, GError **error)
{
  Attention *attention = made;
  Pass pass = { attention, step, done };

  done->sentences = 1;
  return plait_arena_protect (attention->bench.arena, attend_pass, &pass, error);
}

static char *
describe (const PlaitBenchOptions *options)
{
  return g_strdup_printf ("a step of attention over %jd positions, forward%s", options->experiment->bench.positions,
                          options->forward ? "" : " and backward");
}

const PlaitBenchWork plait_bench_attend = { make, attend, attention_free, describe };
