/* SPDX-License-Identifier: MIT */
#include "bench.h"
#include "command/exit-codes.h"
#include "command/options.h"
#include "command/output.h"
#include "command/program.h"
#include "command/ranks.h"
#include "search/search.h"

/* plait-bench: times training steps, searches and encoders of an experiment's model, and attention steps of several
 * experiments. */

PlaitExperiment *
bench_load (const char *path, const BenchOptions *options, PlaitRegistry *registry, GError **error)
{
  g_autoptr (PlaitExperiment) experiment
      = plait_experiment_load (path, options->overrides, PLAIT_RESOLVE_WITHOUT_DATA, registry, error);

  if (!experiment || plait_experiment_has_decoder (experiment))
    return g_steal_pointer (&experiment);
  return plait_fail_null (error, PLAIT_ERROR_INPUT,
                          "%s: its [predict] kind has no decoder, but plait-bench measures decoders; take an "
                          "experiment that predicts a sequence",
                          path);
}

static gboolean
check_parameters (const BenchOptions *options, GError **error)
{
  return plait_output_differs ("--parameters", options->parameters, options->data, error)
         && plait_file_check_new (options->parameters, options->force, "", "--parameters", error);
}

/* Runs a command that times the model of one file. Processes started by a launcher agree on every error. */
static gboolean
time_model (PlaitInvocation *invocation, const BenchWork *work, GError **error)
{
  BenchOptions options = *(const BenchOptions *)invocation->options;
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autoptr (PlaitExperiment) experiment = NULL;
  g_autoptr (PlaitRanks) ranks = NULL;
  g_autoptr (GError) fault = NULL;

  if (check_parameters (&options, &fault))
    options.experiment = experiment = bench_load (invocation->arguments[0], &options, registry, &fault);
  if (!plait_ranks_join (&ranks, invocation, error)
      || (work != &bench_train && !plait_ranks_refuse ("this mode", error)))
    return FALSE;
  if (fault)
    g_propagate_error (error, g_steal_pointer (&fault));
  options.ranks = ranks;
  if (!plait_ranks_agree (ranks, experiment != NULL, error))
    return FALSE;
  gboolean good = bench_time (work, &options, error);
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

typedef struct
{
  BenchOptions all;
  BenchSteps steps;
} StepsOptions;

static gboolean
run_steps (PlaitInvocation *invocation, GError **error)
{
  const StepsOptions *options = invocation->options;

  return check_parameters (&options->all, error) && plait_ranks_refuse ("this mode", error)
         && bench_steps (&options->steps, (const char *const *)invocation->arguments, &options->all, error);
}

#define OPTIONS_OF_ALL                                                                                                 \
  { "set", 's', PLAIT_OPTION_SETS, offsetof (BenchOptions, overrides), "Set a key, such as train.batch=32", "G.K=V" }, \
      { "parameters",                                                                                                  \
        0,                                                                                                             \
        PLAIT_OPTION_TEXT,                                                                                             \
        offsetof (BenchOptions, parameters),                                                                           \
        "Write the initial values, so that another program can begin with them",                                       \
        "FILE" },                                                                                                      \
      PLAIT_OPTION_FORCE (BenchOptions), PLAIT_OPTION_THREADS (BenchOptions), PLAIT_OPTION_JSON (BenchOptions)
#define OPTIONS_OF_MODELS                                                                                              \
  OPTIONS_OF_ALL,                                                                                                      \
      { "data", 'd', PLAIT_OPTION_TEXT, offsetof (BenchOptions, data), "File of token data; default: random tokens",   \
        "FILE" },                                                                                                      \
      { "steps",                                                                                                       \
        'n',                                                                                                           \
        PLAIT_OPTION_INTEGER,                                                                                          \
        offsetof (BenchOptions, steps),                                                                                \
        "Number of timed steps: updates, or batches searched; default: 10",                                            \
        "N",                                                                                                           \
        1,                                                                                                             \
        1000000 },                                                                                                     \
      { "warmup",                                                                                                      \
        'w',                                                                                                           \
        PLAIT_OPTION_INTEGER,                                                                                          \
        offsetof (BenchOptions, warmup),                                                                               \
        "Number of steps before the timed ones; default: 2",                                                           \
        "N",                                                                                                           \
        0,                                                                                                             \
        1000000 },                                                                                                     \
  {                                                                                                                    \
    "profile", 0, PLAIT_OPTION_FLAG, offsetof (BenchOptions, profile), "Also measure how threads spend their time"     \
  }

static const PlaitOption model_options[] = { OPTIONS_OF_MODELS, { NULL } };
static const PlaitOption decode_options[] = {
  OPTIONS_OF_MODELS,
  { "members", 0, PLAIT_OPTION_INTEGER, offsetof (BenchOptions, members),
    "Search with an ensemble of N models, which differ in seed; default: 1", "N", 1, PLAIT_SEARCH_MAX_MEMBERS },
  { NULL },
};
static const PlaitOption encode_options[] = {
  OPTIONS_OF_MODELS,
  { "forward", 0, PLAIT_OPTION_FLAG, offsetof (BenchOptions, forward), "Skip the backward pass" },
  { NULL },
};
static const PlaitOption steps_options[] = {
  OPTIONS_OF_ALL,
  { "steps", 'n', PLAIT_OPTION_INTEGER, offsetof (StepsOptions, all.steps),
    "Number of samples, whose medians are printed; default: 10", "N", 1, 1000000 },
  { "lengths", 0, PLAIT_OPTION_TEXT, offsetof (StepsOptions, steps.lengths),
    "Rows of a sentence; default: 100, 1000, ... below bench.positions, and bench.positions", "N,..." },
  { "batch", 0, PLAIT_OPTION_TEXT, offsetof (StepsOptions, steps.batches), "Sentences in a batch; default: 1",
    "N,..." },
  { "words", 0, PLAIT_OPTION_INTEGER, offsetof (StepsOptions, steps.words),
    "Forward and backward over targets of N words, instead of a step of search", "N", 1, 100000 },
  { NULL },
};
static const BenchOptions defaults = { .steps = 10, .warmup = 2, .members = 1 };

#define SYNOPSIS "FILE.ini [--set G.K=V]... [--data FILE] [--profile] [--json]"

static const PlaitCommand train = {
  .name = "train",
  .synopsis = SYNOPSIS,
  .summary = "Time updates of an experiment's model",
  .details
  = "Started by mpirun, it times the updates that the processes make together, and the exchange between them.\n"
    "\n"
    "Examples:\n"
    "  plait-bench train experiments/bench/msmt.ini\n"
    "  plait-bench train my-experiment.ini --set train.shards=2",
  .options = model_options,
  .size = sizeof (BenchOptions),
  .defaults = &defaults,
  .min = 1,
  .max = 1,
  .several = TRUE,
  .run = run_train,
};
static const PlaitCommand decode = {
  .name = "decode",
  .synopsis = SYNOPSIS " [--members N]",
  .summary = "Time whole searches of an experiment's model",
  .details = "Each sentence takes as many steps as the mean length of sentences, bench.mean_length.\n"
             "\n"
             "Examples:\n"
             "  plait-bench decode my-experiment.ini --set decode.batch=1 --json\n"
             "  plait-bench decode my-experiment.ini --profile",
  .options = decode_options,
  .size = sizeof (BenchOptions),
  .defaults = &defaults,
  .min = 1,
  .max = 1,
  .several = TRUE,
  .run = run_decode,
};
static const PlaitCommand encode = {
  .name = "encode",
  .synopsis = SYNOPSIS " [--forward]",
  .summary = "Time the encoders of an experiment alone, forward and backward",
  .details = "Backward begins at the sum of the memories' numbers.\n"
             "\n"
             "Examples:\n"
             "  plait-bench encode my-experiment.ini --forward --threads 1",
  .options = encode_options,
  .size = sizeof (BenchOptions),
  .defaults = &defaults,
  .min = 1,
  .max = 1,
  .several = TRUE,
  .run = run_encode,
};
static const PlaitCommand steps = {
  .name = "steps",
  .synopsis = "FILE.ini... [--set G.K=V]... [--lengths N,...] [--batch N,...] [--words N] [--json]",
  .summary = "Time a step of attention over memories that grow, and compare experiments",
  .details = "A step is a step of search, or with --words a forward and backward pass over whole targets. The other "
             "experiments are compared with the first. If the encoder has an inner encoder, the leaves are drawn and "
             "the encoder makes the memory; else the memory itself is drawn.\n\nExamples:\n  plait-bench steps "
             "experiments/bench/full.ini experiments/bench/descent-top1.ini --threads 1\n  plait-bench steps one.ini "
             "other.ini --lengths 100,1000 --words 25",
  .options = steps_options,
  .size = sizeof (StepsOptions),
  .defaults = &(const StepsOptions){ .all.steps = 10 },
  .min = 1,
  .max = -1,
  .run = run_steps,
};

static const PlaitCommand *const modes[] = { &train, &decode, &encode, &steps, NULL };

static const PlaitProgram program = {
  PLAIT_NAME "-bench",
  "Times steps of an experiment's model on random text. Prints medians of seconds, tokens and sentences per second, "
  "the peak memory of the process, and the reached share of the machine's rate of matrix products.",
  "The model is that of the experiment file, which must predict a sequence. Its text is not read: vocabularies have "
  "data.vocabulary_size entries, and sentences are drawn as the group [bench] says (plait inspect bench), with "
  "batches of the size in [train] or [decode]. See plait-bench COMMAND --help for the options of a command.",
  modes,
  NULL,
};

int
main (int argc, char **argv)
{
  return plait_program_run (&program, argc, argv);
}
