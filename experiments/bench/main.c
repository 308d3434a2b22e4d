/* SPDX-License-Identifier: MIT */
#include "bench.h"
#include "command/exit-codes.h"
#include "command/options.h"
#include "command/output.h"
#include "command/program.h"
#include "command/ranks.h"

/* plait-bench: whole training steps and searches of an experiment's model, its encoders alone; steps of attention of
 * several experiments. */

/* What is given as text to the options of all modes. */
typedef struct
{
  char *steps;
  char *warmup;
  char *threads;
} Texts;

PlaitExperiment *
bench_load (const char *path, const BenchOptions *options, PlaitRegistry *registry, GError **error)
{
  g_autoptr (PlaitExperiment) experiment
      = plait_experiment_load (path, options->overrides, PLAIT_RESOLVE_WITHOUT_DATA, registry, error);

  if (!experiment || plait_experiment_has_decoder (experiment))
    return g_steal_pointer (&experiment);
  return plait_fail_null (error, PLAIT_ERROR_INPUT,
                          "%s: [predict] has no decoder, but plait-bench draws text for one; take an experiment that "
                          "predicts a sequence",
                          path);
}

#define OPTIONS_OF_ALL(options, texts)                                                                                 \
  { "set", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &(options).overrides, "Set a key, such as train.batch=32", "G.K=V" },  \
      { "parameters",                                                                                                  \
        0,                                                                                                             \
        0,                                                                                                             \
        G_OPTION_ARG_FILENAME,                                                                                         \
        &(options).parameters,                                                                                         \
        "Write the initial values, for a peer to begin with",                                                          \
        "FILE" },                                                                                                      \
      PLAIT_OUTPUT_FORCE ((options).force), { "threads",                                                               \
                                              't',                                                                     \
                                              0,                                                                       \
                                              G_OPTION_ARG_FILENAME,                                                   \
                                              &(texts).threads,                                                        \
                                              "Threads; else as many as there are processors",                         \
                                              "N" },                                                                   \
  {                                                                                                                    \
    "json", 0, 0, G_OPTION_ARG_NONE, &(options).json, "Print JSON", NULL                                               \
  }

static gboolean
read_texts (const Texts *texts, BenchOptions *options, GError **error)
{
  return plait_option_integer ("--steps", texts->steps, 1, 1000000, &options->steps, error)
         && plait_option_integer ("--warmup", texts->warmup, 0, 1000000, &options->warmup, error)
         && plait_option_threads (texts->threads, &options->threads, error)
         && plait_output_differs ("--parameters", options->parameters, options->data, error)
         && plait_file_check_new (options->parameters, options->force, "", "--parameters", error);
}

/* Runs a mode that times the model of one file. With @ranks, processes that a launcher started agree on every error. */
static gboolean
time_model (PlaitInvocation *invocation, const BenchWork *work, GError **error)
{
  Texts texts = { NULL };
  BenchOptions options = { .steps = 10, .warmup = 2 };
  const GOptionEntry end = { NULL };
  const GOptionEntry forward = { "forward", 0, 0, G_OPTION_ARG_NONE, &options.forward, "Leave backward out", NULL };
  const GOptionEntry entries[] = {
    OPTIONS_OF_ALL (options, texts),
    { "data", 'd', 0, G_OPTION_ARG_FILENAME, &options.data, "Token data; else such data are drawn", "FILE" },
    { "steps", 'n', 0, G_OPTION_ARG_FILENAME, &texts.steps, "Timed steps: updates, or batches searched; 10", "N" },
    { "warmup", 'w', 0, G_OPTION_ARG_FILENAME, &texts.warmup, "Steps before the timed ones; 2", "N" },
    { "profile", 0, 0, G_OPTION_ARG_NONE, &options.profile, "Also where the threads' time goes", NULL },
    work == &bench_encode ? forward : end,
    end,
  };
  g_autoptr (PlaitRegistry) registry = NULL;
  g_autoptr (PlaitExperiment) experiment = NULL;
  g_autoptr (PlaitRanks) ranks = NULL;
  g_autoptr (GError) fault = NULL;
  gboolean good = plait_invocation_parse (invocation, entries, 1, 1, &fault);

  if (!good && !fault) /* --help */
    return FALSE;
  registry = plait_registry_new ();
  if (good && read_texts (&texts, &options, &fault))
    options.experiment = experiment = bench_load (invocation->arguments[0], &options, registry, &fault);
  if (!plait_ranks_join (&ranks, invocation, error)
      || (work != &bench_train && !plait_ranks_refuse ("this mode", error)))
    return FALSE;
  if (fault)
    g_propagate_error (error, g_steal_pointer (&fault));
  options.ranks = ranks;
  if (!plait_ranks_agree (ranks, experiment != NULL, error))
    return FALSE;
  good = bench_time (work, &options, error);
  if (!good)
    plait_ranks_fail (ranks, *error, plait_exit_code (*error));
  return good;
}

static gboolean
run_train (PlaitInvocation *invocation, GError **error)
{
  return time_model (invocation, &bench_train, error);
}

static gboolean
run_decode (PlaitInvocation *invocation, GError **error)
{
  return time_model (invocation, &bench_decode, error);
}

static gboolean
run_encode (PlaitInvocation *invocation, GError **error)
{
  return time_model (invocation, &bench_encode, error);
}

static gboolean
run_steps (PlaitInvocation *invocation, GError **error)
{
  Texts texts = { NULL };
  BenchSteps steps = { NULL };
  BenchOptions options = { .steps = 10 };
  const GOptionEntry entries[] = {
    OPTIONS_OF_ALL (options, texts),
    { "steps", 'n', 0, G_OPTION_ARG_FILENAME, &texts.steps, "Samples, whose medians are printed; 10", "N" },
    { "lengths", 0, 0, G_OPTION_ARG_FILENAME, &steps.lengths,
      "Rows of a sentence; else the powers of ten from 100 to bench.positions", "N,..." },
    { "batch", 0, 0, G_OPTION_ARG_FILENAME, &steps.batches, "Sentences side by side; 1", "N,..." },
    { "words", 0, 0, G_OPTION_ARG_FILENAME, &steps.words,
      "Forward and backward over targets of N words, instead of a step of search", "N" },
    { NULL },
  };

  return plait_invocation_parse (invocation, entries, 1, -1, error) && read_texts (&texts, &options, error)
         && plait_ranks_refuse ("this mode", error)
         && bench_steps (&steps, (const char *const *)invocation->arguments, &options, error);
}

#define SYNOPSIS "FILE.ini [--set G.K=V]... [--data FILE] [--profile] [--json]"

static const PlaitCommand modes[] = {
  { "train", SYNOPSIS, "Time updates of an experiment's model",
    "Started by mpirun, it times the updates that the processes make together, and the exchange between them.\n"
    "\n"
    "Examples:\n"
    "  plait-bench train experiments/bench/msmt.ini\n"
    "  plait-bench train my-experiment.ini --set train.shards=2",
    run_train },
  { "decode", SYNOPSIS, "Time whole searches of an experiment's model",
    "Each sentence takes as many steps as the mean length of sentences, bench.mean_length.\n"
    "\n"
    "Examples:\n"
    "  plait-bench decode my-experiment.ini --set decode.batch=1 --json\n"
    "  plait-bench decode my-experiment.ini --profile",
    run_decode },
  { "encode", SYNOPSIS " [--forward]", "Time the encoders of an experiment alone, forward and backward",
    "Backward begins at the sum of the memories' numbers.\n"
    "\n"
    "Examples:\n"
    "  plait-bench encode my-experiment.ini --forward --threads 1",
    run_encode },
  { "steps", "FILE.ini... [--set G.K=V]... [--lengths N,...] [--batch N,...] [--words N] [--json]",
    "Time a step of attention over memories that grow, and compare experiments",
    "A step is one of search, or with --words forward and backward over whole targets. The other experiments are "
    "compared with the first. An encoder that has an inner encoder makes the memory of drawn leaves; else the memory "
    "itself is drawn.\n"
    "\n"
    "Examples:\n"
    "  plait-bench steps experiments/bench/full.ini experiments/bench/descent-top1.ini --threads 1\n"
    "  plait-bench steps one.ini other.ini --lengths 100,1000 --words 25",
    run_steps },
  { NULL },
};

static const PlaitProgram program = {
  PLAIT_NAME "-bench",
  "Times steps of an experiment's model, over drawn text: prints medians of seconds, tokens and sentences a second, "
  "the "
  "most memory that the process has had, and the share of the machine's own rate of matrix products that is reached, "
  "counting no padding.",
  "The model is that of the experiment file, which may be any that plait run takes. Its text is not read: vocabularies "
  "have data.vocabulary_size entries, and sentences are drawn as its group [bench] says (plait inspect bench), as many "
  "in a batch as [train] or [decode] says. plait-bench COMMAND --help tells more of one.",
  modes,
  NULL,
};

int
main (int argc, char **argv)
{
  return plait_program_run (&program, argc, argv);
}
