/* SPDX-License-Identifier: MIT */
#include "runs.h"

#include "harness.h"
#include "hdf5/walk.h"

#include <glib/gstdio.h>
#include <string.h>

char *
test_write_experiment (const char *name, const char *more)
{
  g_autofree char *file = g_strconcat (name, ".ini", NULL);
  char *path = plait_test_path (file);
  g_autofree char *text = g_strdup_printf (
      "[experiment]\nname=%s\nseed=3\n"
      "[data]\ngenerate=agreement\ntarget=target\nvocabulary_type=words\n"
      "generate.train=60\ngenerate.validation=10\ngenerate.test=8\n"
      "[source a]\nencoder=transformer\nlayers=1\nheads=2\nfeed_forward=8\n"
      "[source b]\nencoder=transformer\nlayers=1\nheads=2\nfeed_forward=8\n"
      "[decoder]\ncombiner=hierarchical\nlayers=1\nwidth=8\nheads=2\nfeed_forward=8\n"
      "[train]\nbatch=6\nepochs=2\nwarm_up=10\nlearning_rate=1\nvalidate_every=7\naverage=2\nlog_every=5\n"
      "metric=bleu:tok=none\n%s\n"
      "[decode]\nbeam=2\nmaximum_length=12\n[evaluate]\nresamples=10\nattention=1\n",
      name, more ? more : "");

  CHECK (g_file_set_contents (path, text, -1, NULL));
  return path;
}

PlaitExperiment *
test_load (const char *path, const char *const *overrides, PlaitRegistry *registry, GError **error)
{
  g_autofree char *before = g_get_current_dir ();

  CHECK (g_chdir (plait_test_folder ()) == 0);
  PlaitExperiment *experiment = plait_experiment_load (path, overrides, PLAIT_RESOLVE_CHECK_FILES, registry, error);
  CHECK (g_chdir (before) == 0);
  return experiment;
}

gboolean
test_run (const char *path, const char *output, gboolean resume, guint threads, PlaitLog *log, const gint *stop,
          GError **error)
{
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autoptr (PlaitExperiment) experiment
      = plait_experiment_load (path, NULL, PLAIT_RESOLVE_CHECK_FILES, registry, error);
  PlaitRunOptions options
      = { .output = output, .command = "test", .threads = threads, .resume = resume, .log = log, .stop = stop };
  PlaitRunOutcome outcome;

  return experiment && plait_run (experiment, &options, &outcome, error);
}

gboolean
test_run_with (const char *path, const char *const *overrides, const char *output, gboolean resume, PlaitLog *log,
               GError **error)
{
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autoptr (PlaitExperiment) experiment = test_load (path, overrides, registry, error);
  PlaitRunOptions options = { .output = output, .command = "test", .threads = 1, .resume = resume, .log = log };
  PlaitRunOutcome outcome;

  return experiment && plait_run (experiment, &options, &outcome, error);
}

PlaitStore *
test_run_open (const char *path, const char *const *overrides, const char *name)
{
  g_autofree char *output = plait_test_path (name);
  g_autoptr (GError) error = NULL;
  PlaitStore *run = NULL;

  if (test_run_with (path, overrides, output, FALSE, NULL, &error))
    run = plait_store_open (output, &error);
  CHECK_NO_ERROR (error);
  return run;
}

/* Times and places stand apart, but for two columns. */
static gboolean
is_compared (const char *path)
{
  return !g_str_has_prefix (path, "/environment") && !g_str_equal (path, "/contents")
         && !g_str_equal (path, "/training/updates/seconds")
         && !g_str_equal (path, "/training/updates/target_tokens_per_second");
}

typedef struct
{
  PlaitStore *other;
  int compared;
} Comparison;

static void
compare_attributes (PlaitStore *store, PlaitStore *other, const char *path)
{
  g_auto (GStrv) names = plait_store_attributes (store, path, NULL);

  for (guint i = 0; names && names[i]; i++)
    {
      g_autofree char *a = NULL;
      g_autofree char *b = NULL;
      CONTEXT ("attribute %s", names[i]);

      a = plait_store_attribute_text (store, path, names[i], 1 << 20, NULL);
      b = plait_store_attribute_text (other, path, names[i], 1 << 20, NULL);
      CHECK_STRING (b, a);
    }
}

static void
compare_dataset (PlaitStore *store, PlaitStore *other, const PlaitStoreVisit *visit)
{
  enum
  {
    MOST = 1 << 22,
  };
  gint64 n = 0;
  gint64 m = 0;

  if (visit->object.type == PLAIT_STORE_STRING)
    {
      g_auto (GStrv) a = plait_store_read_strings (store, visit->path, MOST, &n, NULL);
      g_auto (GStrv) b = plait_store_read_strings (other, visit->path, MOST, &m, NULL);

      CHECK (a && b && g_strv_equal ((const char *const *)a, (const char *const *)b));
    }
  else if (visit->object.type != PLAIT_STORE_OTHER)
    {
      g_autofree double *a = plait_store_read_array (store, visit->path, PLAIT_STORE_DOUBLE, MOST, &n, NULL);
      g_autofree double *b = plait_store_read_array (other, visit->path, PLAIT_STORE_DOUBLE, MOST, &m, NULL);

      CHECK_INT (m, n);
      CHECK (a && b && n == m && memcmp (a, b, n * sizeof *a) == 0);
    }
}

static PlaitStoreStep
compare (PlaitStore *store, const PlaitStoreVisit *visit, gpointer data, GError **error)
{
  Comparison *comparison = data;
  CONTEXT ("%s", visit->path);

  if (!is_compared (visit->path))
    return PLAIT_STORE_WALK_SKIP;
  if (!plait_store_has (comparison->other, visit->path))
    {
      CHECK (!"is in both");
      return PLAIT_STORE_WALK_SKIP;
    }
  compare_attributes (store, comparison->other, visit->path);
  if (visit->object.kind == PLAIT_STORE_DATASET)
    {
      compare_dataset (store, comparison->other, visit);
      comparison->compared++;
    }
  return PLAIT_STORE_WALK_ON;
}

void
test_check_same_run (const char *a, const char *b)
{
  const char *paths[] = { a, b };

  for (guint i = 0; i < 2; i++)
    {
      GError *error = NULL;
      g_autoptr (PlaitStore) store = plait_store_open (paths[i], &error);
      g_autoptr (PlaitStore) other = plait_store_open (paths[1 - i], &error);
      Comparison comparison = { other, 0 };

      CHECK_NO_ERROR (error);
      if (!store || !other)
        return;
      CHECK (plait_store_walk (store, "/", 20, compare, &comparison, NULL));
      CHECK (comparison.compared > 50);
    }
}

typedef struct
{
  TestAtProgress at;
  gpointer data;
  int line;
} Clock;

static gint64
always_later (void)
{
  static gint64 now;

  return now += 60 * G_USEC_PER_SEC;
}

static ssize_t
take_line (void *cookie, const char *text, size_t length)
{
  Clock *clock = cookie;

  if (g_strstr_len (text, (gssize)length, "update "))
    clock->at (++clock->line, clock->data);
  return (ssize_t)length;
}

PlaitLog *
test_log_new (TestAtProgress at, gpointer data)
{
  /* A log does not close its stream, so both last as long as the process and serve each test anew. */
  static Clock clock;
  static FILE *stream;

  clock = (Clock){ .at = at, .data = data };
  if (!stream)
    {
      stream = fopencookie (&clock, "w", (cookie_io_functions_t){ .write = take_line });
      setvbuf (stream, NULL, _IOLBF, BUFSIZ);
    }
  return plait_log_new_with ((PlaitLogSettings){ .stream = stream, .now = always_later });
}

typedef struct
{
  int line;
  gint stop;
} Interruption;

static void
interrupt (int line, gpointer data)
{
  Interruption *interruption = data;

  if (line == interruption->line)
    g_atomic_int_set (&interruption->stop, 1);
}

void
test_check_interruption (const char *path, int line, guint threads)
{
  g_autofree char *whole = plait_test_path ("whole.h5");
  g_autofree char *parts = plait_test_path ("parts.h5");
  Interruption interruption = { line, 0 };
  g_autoptr (PlaitLog) log = test_log_new (interrupt, &interruption);
  GError *error = NULL;

  CHECK (test_run (path, whole, FALSE, 1, NULL, NULL, &error));
  CHECK_NO_ERROR (error);
  CHECK (!test_run (path, parts, FALSE, threads, log, &interruption.stop, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INTERRUPTED, "--resume goes on");
  g_clear_error (&error);
  CHECK (test_run (path, parts, TRUE, threads, NULL, NULL, &error));
  CHECK_NO_ERROR (error);
  test_check_same_run (whole, parts);
}

void
test_check_diverges (const char *path, const char *const *overrides)
{
  static const char *const high[]
      = { "train.schedule=constant", "train.warm_up=0", "train.learning_rate=3", "train.checkpoint_every=2" };
  g_autofree char *output = plait_test_path ("diverged.h5");
  g_autoptr (GPtrArray) all = g_ptr_array_new ();
  GError *error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (high); i++)
    g_ptr_array_add (all, (gpointer)high[i]);
  for (guint i = 0; overrides && overrides[i]; i++)
    g_ptr_array_add (all, (gpointer)overrides[i]);
  g_ptr_array_add (all, NULL);
  g_unlink (output);
  for (int resume = 0; resume <= 1; resume++)
    {
      CONTEXT ("%s", resume ? "from a checkpoint" : "at once");
      CHECK (!test_run_with (path, (const char *const *)all->pdata, output, resume, NULL, &error));
      CHECK_ERROR (error, PLAIT_ERROR_FAILED, " times that of guessing: training has diverged; lower ");
    }
}
