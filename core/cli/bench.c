/* SPDX-License-Identifier: MIT */
#include "cli/bench.h"

#include "base/number.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"

/* plait bench: whole training steps and searches, and parts of them, at the sizes of the comparison with other
 * programs. */

/* What the options are as texts. */
typedef struct
{
  char *size;
  char *part;
  char *data;
  char *parameters;
  char *combiner;
  char *coverage;
  char *reset;
  char *steps;
  char *warmup;
  char *beam;
  char *batch;
  char *positions;
  char *threads;
  char *shards;
  char *dropout;
} Texts;

static void
texts_clear (Texts *texts)
{
  g_free (texts->size);
  g_free (texts->part);
  g_free (texts->data);
  g_free (texts->parameters);
  g_free (texts->combiner);
  g_free (texts->coverage);
  g_free (texts->reset);
  g_free (texts->steps);
  g_free (texts->warmup);
  g_free (texts->beam);
  g_free (texts->batch);
  g_free (texts->positions);
  g_free (texts->threads);
  g_free (texts->shards);
  g_free (texts->dropout);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Texts, texts_clear)

/* What is measured: the mode, and of tree and recurrent the part. */
static gboolean
read_part (const Texts *texts, PlaitBenchOptions *options, GError **error)
{
  const char *mode = options->mode, *part = texts->part;
  gboolean recurrent = g_str_equal (mode, "recurrent"), tree = g_str_equal (mode, "tree");
  const struct
  {
    const char *name;
    PlaitBenchPart part;
    gboolean allowed;
  } parts[] = {
    { "step", PLAIT_BENCH_TRAIN, TRUE },
    { "encoder", PLAIT_BENCH_ENCODE, TRUE },
    { "attention", PLAIT_BENCH_ATTEND, recurrent },
    { "attention-forward", PLAIT_BENCH_ATTENDING, recurrent },
  };

  if (!tree && !recurrent)
    {
      options->part = g_str_equal (mode, "decode") ? PLAIT_BENCH_DECODE : PLAIT_BENCH_TRAIN;
      if (options->part == PLAIT_BENCH_TRAIN && !g_str_equal (mode, "train"))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "plait bench cannot measure \"%s\"; expected train, decode, tree or recurrent", mode);
      if (part || texts->coverage || texts->reset)
        return plait_fail (error, PLAIT_ERROR_INPUT, "%s goes with plait bench tree and plait bench recurrent alone",
                           part              ? "--part"
                           : texts->coverage ? "--coverage"
                                             : "--reset");
      return TRUE;
    }
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (g_str_equal (part ? part : "step", parts[i].name) && parts[i].allowed)
      {
        options->part = parts[i].part;
        return TRUE;
      }
  return plait_fail (error, PLAIT_ERROR_INPUT, "--part of plait bench %s cannot be \"%s\"; expected step%s", mode, part,
                     tree ? " or encoder" : ", encoder, attention or attention-forward");
}

static gboolean
read_options (const PlaitInvocation *invocation, const Texts *texts, PlaitBenchOptions *options, GError **error)
{
  const PlaitBenchSize *size;
  gboolean recurrent;

  options->mode = invocation->arguments[0];
  if (!read_part (texts, options, error))
    return FALSE;
  recurrent = g_str_equal (options->mode, "tree") || g_str_equal (options->mode, "recurrent");
  size = plait_bench_size (texts->size ? texts->size : recurrent ? "h128" : "small", recurrent, error);
  if (!size)
    return FALSE;
  options->size = *size;
  options->size.trees = g_str_equal (options->mode, "tree");
  options->dropout = recurrent ? 0 : .1;
  options->combiner = texts->combiner ? texts->combiner : "serial";
  options->coverage = texts->coverage ? texts->coverage : "none";
  options->reset = texts->reset ? texts->reset : "before";
  if (!g_str_equal (options->reset, "before") && !g_str_equal (options->reset, "after"))
    return plait_fail (error, PLAIT_ERROR_INPUT, "--reset cannot be \"%s\"; expected before or after", texts->reset);
  options->data = texts->data;
  options->parameters = texts->parameters;
  if (texts->dropout
      && (!plait_parse_double (texts->dropout, &options->dropout) || options->dropout < 0 || options->dropout > .95))
    return plait_fail (error, PLAIT_ERROR_INPUT, "--dropout cannot be \"%s\"; expected a number from 0 to 0.95",
                       texts->dropout);
  return plait_option_integer ("--steps", texts->steps, 1, 1000000, &options->steps, error)
         && plait_option_integer ("--warmup", texts->warmup, 0, 1000000, &options->warmup, error)
         && plait_option_integer ("--beam", texts->beam, 1, 1000, &options->beam, error)
         && plait_option_integer ("--batch", texts->batch, 1, 100000, &options->batch, error)
         && plait_option_integer ("--positions", texts->positions, 1, 10000000, &options->positions, error)
         && plait_option_integer ("--shards", texts->shards, 1, 64, &options->shards, error)
         && plait_option_threads (texts->threads, &options->threads, error);
}

static gboolean
check_output (const PlaitBenchOptions *options, GError **error)
{
  return plait_output_differs ("--parameters", options->parameters, options->data, error)
         && plait_file_check_new (options->parameters, options->force, "", "--parameters", error);
}

static gboolean
measure (const PlaitBenchOptions *options, GError **error)
{
  g_auto (PlaitBenchFigures) figures = { 0 };

  if (!plait_bench_run (options, &figures, error))
    return FALSE;
  plait_bench_print (options, &figures);
  return TRUE;
}

gboolean
plait_command_bench (PlaitInvocation *invocation, GError **error)
{
  g_auto (Texts) texts = { 0 };
  PlaitBenchOptions options = { .steps = 10, .warmup = 2, .beam = 10, .batch = 16, .positions = 10000, .shards = 1 };
  const GOptionEntry entries[] = {
    { "size", 's', 0, G_OPTION_ARG_FILENAME, &texts.size,
      "train, decode: small (the default), msmt or mmt; tree, recurrent: h128 (the default), h256 or h1024", "NAME" },
    { "part", 'p', 0, G_OPTION_ARG_FILENAME, &texts.part,
      "tree, recurrent: step (the default), encoder, attention or attention-forward", "NAME" },
    { "data", 'd', 0, G_OPTION_ARG_FILENAME, &texts.data, "Token data; else such data are drawn", "FILE" },
    { "combiner", 'c', 0, G_OPTION_ARG_FILENAME, &texts.combiner, "Combiner plugin, serial by default", "NAME" },
    { "coverage", 0, 0, G_OPTION_ARG_FILENAME, &texts.coverage, "tree, recurrent: coverage plugin, or none", "NAME" },
    { "reset", 0, 0, G_OPTION_ARG_FILENAME, &texts.reset,
      "tree, recurrent: where reset gates act, before (the default) or after the product", "PLACE" },
    { "steps", 'n', 0, G_OPTION_ARG_FILENAME, &texts.steps, "Timed steps: updates, or batches searched; 10", "N" },
    { "warmup", 'w', 0, G_OPTION_ARG_FILENAME, &texts.warmup, "Steps before the timed ones; 2", "N" },
    { "dropout", 0, 0, G_OPTION_ARG_FILENAME, &texts.dropout,
      "Of embeddings and sub-layer outputs, 0.1; tree, recurrent: of embeddings and readout, 0", "P" },
    { "beam", 'b', 0, G_OPTION_ARG_FILENAME, &texts.beam, "Hypotheses a sentence; 10", "N" },
    { "batch", 0, 0, G_OPTION_ARG_FILENAME, &texts.batch, "Sentences searched together; 16", "N" },
    { "positions", 0, 0, G_OPTION_ARG_FILENAME, &texts.positions, "That a step of attention reads; 10000", "N" },
    { "parameters", 0, 0, G_OPTION_ARG_FILENAME, &texts.parameters,
      "Write the initial values, for a peer to begin with", "FILE" },
    PLAIT_OUTPUT_FORCE (options.force),
    { "shards", 0, 0, G_OPTION_ARG_FILENAME, &texts.shards, "Of a batch of a training step, as train.shards; 1", "N" },
    { "threads", 't', 0, G_OPTION_ARG_FILENAME, &texts.threads, "Threads; else as many as there are processors", "N" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print JSON", NULL },
    { NULL },
  };

  return plait_invocation_parse (invocation, entries, 1, 1, error) && read_options (invocation, &texts, &options, error)
         && check_output (&options, error) && measure (&options, error);
}
