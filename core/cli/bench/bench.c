/* SPDX-License-Identifier: MIT */
#include "bench/bench.h"

#include "command/command.h"
#include "command/exit-codes.h"
#include "command/options.h"
#include "command/output.h"
#include "command/ranks.h"

/* plait bench: whole training steps and searches of an experiment's model, and parts of them; steps of attention of
 * several experiments. */

typedef struct
{
  const char *name;
  const PlaitBenchWork *work;
  gboolean goes_back; /* so that backward can be left out */
  gboolean reads_data;
} Mode;

static const Mode modes[] = {
  { "train", &plait_bench_train, FALSE, TRUE },
  { "decode", &plait_bench_decode, FALSE, TRUE },
  { "encode", &plait_bench_encode, TRUE, TRUE },
  { "attend", &plait_bench_attend, TRUE, FALSE },
};

/* The mode of that name, which suits the options. */
static const Mode *
find_mode (const PlaitBenchOptions *options, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      const Mode *mode = &modes[i];

      if (!g_str_equal (options->mode, mode->name))
        continue;
      if (options->forward && !mode->goes_back)
        plait_fail (error, PLAIT_ERROR_INPUT, "--forward goes with plait bench encode and plait bench attend alone");
      else if (options->data && !mode->reads_data)
        plait_fail (error, PLAIT_ERROR_INPUT, "plait bench %s reads no token data; drop --data", mode->name);
      else
        return mode;
      return NULL;
    }
  return plait_fail_null (error, PLAIT_ERROR_INPUT,
                          "plait bench cannot measure \"%s\"; expected train, decode, encode, attend or steps",
                          options->mode);
}

gboolean
plait_bench_has_decoder (const PlaitExperiment *experiment, const char *mode, GError **error)
{
  return plait_experiment_has_decoder (experiment)
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: [predict] has no decoder, but plait bench %s draws text for one; take an experiment that "
                        "predicts a sequence",
                        experiment->path, mode);
}

/* Whether nothing was given that goes with plait bench steps alone. */
static gboolean
suits_one_file (const PlaitInvocation *invocation, const PlaitBenchSteps *steps, GError **error)
{
  if (steps->lengths || steps->batches || steps->words)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s goes with plait bench steps alone",
                       steps->lengths   ? "--lengths"
                       : steps->batches ? "--batch"
                                        : "--words");
  return !invocation->arguments[2]
         || plait_fail (error, PLAIT_ERROR_INPUT, "plait bench %s takes one file; plait bench steps takes several",
                        invocation->arguments[0]);
}

gboolean
plait_command_bench (PlaitInvocation *invocation, GError **error)
{
  char *steps = NULL, *warmup = NULL, *threads = NULL;
  PlaitBenchSteps of_steps = { NULL };
  PlaitBenchOptions options = { .steps = 10, .warmup = 2 };
  const GOptionEntry entries[] = {
    { "set", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &options.overrides, "Set a key, such as train.batch=32", "G.K=V" },
    { "data", 'd', 0, G_OPTION_ARG_FILENAME, &options.data, "Token data; else such data are drawn", "FILE" },
    { "steps", 'n', 0, G_OPTION_ARG_FILENAME, &steps, "Timed steps: updates, or batches searched; 10", "N" },
    { "warmup", 'w', 0, G_OPTION_ARG_FILENAME, &warmup, "Steps before the timed ones; 2", "N" },
    { "forward", 0, 0, G_OPTION_ARG_NONE, &options.forward, "encode, attend: leave backward out", NULL },
    { "parameters", 0, 0, G_OPTION_ARG_FILENAME, &options.parameters,
      "Write the initial values, for a peer to begin with", "FILE" },
    PLAIT_OUTPUT_FORCE (options.force),
    { "lengths", 0, 0, G_OPTION_ARG_FILENAME, &of_steps.lengths, "steps: rows of a sentence; 100,1000,10000", "N,..." },
    { "batch", 0, 0, G_OPTION_ARG_FILENAME, &of_steps.batches, "steps: sentences side by side; 1", "N,..." },
    { "words", 0, 0, G_OPTION_ARG_FILENAME, &of_steps.words,
      "steps: forward and backward over targets of N words, instead of a step of search", "N" },
    { "threads", 't', 0, G_OPTION_ARG_FILENAME, &threads, "Threads; else as many as there are processors", "N" },
    { "profile", 0, 0, G_OPTION_ARG_NONE, &options.profile, "Also where the threads' time goes", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print JSON", NULL },
    { NULL },
  };
  g_autoptr (PlaitRegistry) registry = NULL;
  g_autoptr (PlaitExperiment) experiment = NULL;
  g_autoptr (PlaitRanks) ranks = NULL;
  g_autoptr (GError) fault = NULL;
  const Mode *mode;
  gboolean several, good = plait_invocation_parse (invocation, entries, 2, -1, &fault);

  if (!good && !fault) /* --help */
    return FALSE;
  options.mode = good ? invocation->arguments[0] : "";
  several = g_str_equal (options.mode, "steps");
  mode = several || !good ? NULL : find_mode (&options, &fault);
  good = (several || mode) && plait_option_integer ("--steps", steps, 1, 1000000, &options.steps, &fault)
         && plait_option_integer ("--warmup", warmup, 0, 1000000, &options.warmup, &fault)
         && plait_option_threads (threads, &options.threads, &fault)
         && plait_output_differs ("--parameters", options.parameters, options.data, &fault)
         && plait_file_check_new (options.parameters, options.force, "", "--parameters", &fault)
         && (several || suits_one_file (invocation, &of_steps, &fault));
  registry = plait_registry_new ();
  if (good && !several)
    options.experiment = experiment = plait_experiment_load (invocation->arguments[1], options.overrides,
                                                             PLAIT_RESOLVE_WITHOUT_DATA, registry, &fault);
  if (!plait_ranks_join (&ranks, invocation, error)
      || (good && (several || mode->work != &plait_bench_train) && !plait_ranks_refuse ("this mode", error)))
    return FALSE;
  if (good && several)
    return plait_bench_steps (&of_steps, (const char *const *)invocation->arguments + 1, &options, error);
  if (fault)
    g_propagate_error (error, g_steal_pointer (&fault));
  options.ranks = ranks;
  if (!plait_ranks_agree (ranks, experiment && plait_bench_has_decoder (experiment, options.mode, error), error))
    return FALSE;
  good = plait_bench_time (mode->work, &options, error);
  if (!good)
    plait_ranks_fail (ranks, *error, plait_exit_code (*error));
  return good;
}
