/* SPDX-License-Identifier: MIT */
#include "setup/trained.h"
#include "run/training-log.h"
#include "files.h"
#include "harness.h"
#include "runs.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* Tests of the log of training for other programs: its JSON lines, and what experiments/to-tensorboard.py makes of
 * them. */

/* Returns the CRC-32C of the @n bytes at @bytes. It works without a table and in another order of bits than the
 * program that wrote the file, so the check is independent. */
static guint32
checksum (const guint8 *bytes, gsize n)
{
  guint32 sum = 0xffffffffu, turned = 0;

  for (gsize i = 0; i < n; i++)
    for (guint bit = 0; bit < 8; bit++)
      {
        guint32 top = (sum >> 31) ^ ((bytes[i] >> bit) & 1u);

        sum = (sum << 1) ^ (top ? 0x1edc6f41u : 0);
      }
  sum = ~sum;
  for (guint bit = 0; bit < 32; bit++)
    turned |= (sum >> bit & 1u) << (31 - bit);
  return turned;
}

static guint32
read32 (const guint8 *bytes)
{
  return bytes[0] | (guint32)bytes[1] << 8 | (guint32)bytes[2] << 16 | (guint32)bytes[3] << 24;
}

/* TRUE if the four bytes at @bytes are the masked checksum of the @n bytes at @data. */
static gboolean
is_sum_of (const guint8 *bytes, const guint8 *data, gsize n)
{
  guint32 masked = read32 (bytes) - 0xa282ead8u;

  return (masked >> 17 | masked << 15) == checksum (data, n);
}

/* Returns the data of the record at offset *@at in @bytes [@n]; NULL at the end. Sets *@length to the length of the
 * data, and *@at to the offset of the next record. */
static const guint8 *
next_record (const guint8 *bytes, gsize n, gsize *at, gsize *length)
{
  const guint8 *record = bytes + *at;

  if (*at == n)
    return NULL;
  CHECK (*at + 16 <= n);
  *length = read32 (record);
  CHECK_INT (read32 (record + 4), 0);
  CHECK (is_sum_of (record + 8, record, 8));
  *at += 16 + *length;
  CHECK (*at <= n);
  CHECK (is_sum_of (record + 12 + *length, record + 12, *length));
  return record + 12;
}

/* Returns an event as text: its step and "TAG=VALUE" of each scalar, or its version. (transfer full) */
static char *
event_text (const guint8 *event, gsize length)
{
  g_autoptr (GString) text = g_string_new (NULL);
  gsize at = 9;

  CHECK_INT (event[0], 1 << 3 | 1);
  while (at < length)
    {
      guint8 key = event[at++];
      guint64 number = 0;

      for (guint shift = 0;; shift += 7)
        {
          number |= (guint64)(event[at] & 0x7f) << shift;
          if (!(event[at++] & 0x80))
            break;
        }
      if (key == (2 << 3 | 0))
        g_string_append_printf (text, "%ju", number);
      else if (key == (3 << 3 | 2))
        {
          g_string_append_len (text, (const char *)event + at, (gssize)number);
          at += number;
        }
      else
        {
          gsize end = at + number;

          CHECK_INT (key, 5 << 3 | 2);
          while (at < end)
            {
              guint32 bits;
              float value;

              CHECK_INT (event[at], 1 << 3 | 2);
              CHECK_INT (event[at + 2], 1 << 3 | 2);
              CHECK_INT (event[at + 1], event[at + 3] + 7);
              g_string_append_printf (text, " %.*s=", event[at + 3], (const char *)event + at + 4);
              at += 4 + event[at + 3];
              CHECK_INT (event[at], 2 << 3 | 5);
              bits = read32 (event + at + 1);
              memcpy (&value, &bits, sizeof value);
              g_string_append_printf (text, "%g", (double)value);
              at += 5;
            }
        }
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* Returns the events that experiments/to-tensorboard.py makes of the log with the lines @lines. (transfer full) */
static GBytes *
events_of (const char *lines)
{
  const char *folder = plait_test_path ("events"), *script = plait_test_source_path ("experiments/to-tensorboard.py");
  const char *words[] = { "/usr/bin/python3", "-B", script, lines, folder, NULL };
  g_autofree char *path = g_build_filename (folder, "events.out.tfevents.plait", NULL);
  char *bytes = NULL;
  gsize n = 0;
  int status;

  CHECK (g_spawn_sync (NULL, (char **)words, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status, NULL));
  CHECK (g_spawn_check_wait_status (status, NULL));
  CHECK (g_file_get_contents (path, &bytes, &n, NULL));
  return g_bytes_new_take (bytes, n);
}

TEST_CASE (training_log, becomes_records_of_tensorboard)
{
  static const guint8 nine[] = "123456789";
  const char *lines = plait_test_path ("log.jsonl");
  gsize at = 0, length, n;

  CHECK_INT (checksum (nine, 9), 0xe3069283u); /* the check value in RFC 3720 */
  plait_test_write (lines,
                    "{\"table\": \"updates\", \"step\": 300, \"loss\": 1.5, \"rate\": null, \"seconds\": -0.25}\n"
                    "{\"table\": \"updates\", \"step\": 1099511627776, \"loss\": 1.5}\n{\"table\": \"upd");
  g_autoptr (GBytes) events = events_of (lines);
  const guint8 *bytes = g_bytes_get_data (events, &n);
  const guint8 *first = next_record (bytes, n, &at, &length);
  g_autofree char *version = event_text (first, length);
  const guint8 *second = next_record (bytes, n, &at, &length);
  g_autofree char *both = event_text (second, length);
  const guint8 *third = next_record (bytes, n, &at, &length);
  g_autofree char *large = event_text (third, length);

  CHECK_STRING (version, "brain.Event:2");
  CHECK_STRING (both, "300 updates/loss=1.5 updates/seconds=-0.25");
  CHECK_STRING (large, "1099511627776 updates/loss=1.5");
  CHECK (!next_record (bytes, n, &at, &length));
}

/* Each log needs a folder of its own, since two logs in one file of events would overwrite each other. */
TEST_CASE (training_log, of_one_name_twice_is_refused_for_tensorboard)
{
  const char *script = plait_test_source_path ("experiments/to-tensorboard.py");
  const char *one = plait_test_write ("one.jsonl", ""), *folder = plait_test_path ("events");
  const char *words[] = { "/usr/bin/python3", "-B", script, one, one, folder, NULL };
  g_autofree char *errors = NULL;
  int status;

  CHECK (g_spawn_sync (NULL, (char **)words, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, &errors, &status, NULL));
  CHECK (!g_spawn_check_wait_status (status, NULL));
  CHECK_CONTAINS (errors, "another log has this name too");
}

static void
raise_stop (int line, gpointer data)
{
  if (line == 7)
    g_atomic_int_set ((gint *)data, 1);
}

static gboolean
run_with_log (const char *path, const char *output, const char *lines, PlaitLog *log, const gint *stop, GError **error)
{
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autoptr (PlaitExperiment) experiment = test_load (path, NULL, registry, error);
  PlaitRunOptions options = {
    .output = output,
    .command = "test",
    .threads = 1,
    .resume = TRUE,
    .lines = lines,
    .log = log,
    .stop = stop,
  };
  PlaitRunOutcome outcome;

  return experiment && plait_run (experiment, &options, &outcome, error);
}

/* Returns the lines of @path, without their times. (transfer full) */
static char *
lines_without_times (const char *path)
{
  g_autoptr (GRegex) times = g_regex_new (", \"(seconds|target_tokens_per_second)\": [^,}]*", 0, 0, NULL);

  const char *text = plait_test_read_text (path);
  return g_regex_replace_literal (times, text ? text : "", -1, 0, "", 0, NULL);
}

/* The log of an interrupted and continued run equals that of an uninterrupted run, line by line, except times. The
 * logs have the rows of the tables. */
TEST_CASE (training_log, tells_the_rows_of_both_tables)
{
  const char *path = test_write_experiment ("tiny", NULL);
  const char *whole = plait_test_path ("whole.h5"), *stopped = plait_test_path ("stopped.h5");
  const char *whole_lines = plait_test_path ("whole.jsonl"), *lines = plait_test_path ("stopped.jsonl");
  g_autoptr (GError) error = NULL;
  gint stop = 0;
  g_autoptr (PlaitLog) log = test_log_new (raise_stop, &stop);
  gint64 n_updates, n_validations, records = 0;
  gsize n = 0, at = 0, length;

  CHECK (run_with_log (path, whole, whole_lines, NULL, NULL, NO_ERROR));
  CHECK (!run_with_log (path, stopped, lines, log, &stop, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INTERRUPTED, "interrupted after update");
  g_clear_error (&error);
  CHECK (run_with_log (path, stopped, lines, NULL, NULL, NO_ERROR));
  g_autofree char *expected = lines_without_times (whole_lines);
  g_autofree char *found = lines_without_times (lines);
  CHECK_STRING (found, expected);

  g_autoptr (PlaitStore) store = plait_store_open (whole, NULL);
  REQUIRE (store);
  g_autofree double *losses
      = plait_store_read_array (store, "/training/updates/loss", PLAIT_STORE_DOUBLE, 1 << 20, &n_updates, NULL);
  g_autofree double *perplexities = plait_store_read_array (store, "/training/validation/perplexity",
                                                            PLAIT_STORE_DOUBLE, 1 << 20, &n_validations, NULL);
  REQUIRE (losses && perplexities);
  g_auto (GStrv) rows = g_strsplit (expected, "\n", -1);
  gint64 update = 0, validation = 0;

  CHECK_INT (g_strv_length (rows), n_updates + n_validations + 1);
  for (guint i = 0; rows[i] && *rows[i]; i++)
    {
      gboolean is_update = g_str_has_prefix (rows[i], "{\"table\": \"updates\", \"step\": ");
      const char *value = strstr (rows[i], is_update ? "\"loss\": " : "\"perplexity\": ");

      CHECK (is_update || g_str_has_prefix (rows[i], "{\"table\": \"validation\", \"step\": "));
      CHECK (is_update || strstr (rows[i], "\"best\": "));
      REQUIRE (value && (is_update ? update < n_updates : validation < n_validations));
      CHECK_NEAR (g_ascii_strtod (strchr (value, ' '), NULL), is_update ? losses[update] : perplexities[validation], 0);
      update += is_update;
      validation += !is_update;
    }
  g_autoptr (GBytes) events = events_of (lines);
  const guint8 *bytes = g_bytes_get_data (events, &n);
  while (next_record (bytes, n, &at, &length))
    records++;
  CHECK_INT (records, 1 + n_updates + n_validations);
}

#define METRIC "/training/validation/metric"

/* A metric that is better if smaller is stored as it is, and its smallest value counts as the best. */
TEST_CASE (training_log, tells_a_metric_as_it_is)
{
  const char *lower = test_write_experiment ("lower", "best_by=metric");
  const char *run = plait_test_path ("lower.h5"), *lines = plait_test_path ("lower.jsonl");
  g_autoptr (GString) experiment = NULL;
  gint64 larger = 1, n = 0, n_best = 0, n_directions;
  double best = INFINITY;

  const char *text = plait_test_read_text (lower);
  experiment = g_string_new (text);
  g_string_replace (experiment, "metric=bleu:tok=none", "metric=ter", 1);
  plait_test_write (lower, experiment->str);
  CHECK (run_with_log (lower, run, lines, NULL, NULL, NO_ERROR));
  g_autoptr (PlaitStore) store = plait_store_open (run, NULL);
  REQUIRE (store);
  g_autofree double *metric = plait_store_read_array (store, METRIC, PLAIT_STORE_DOUBLE, 1000, &n, NULL);
  g_autofree gint32 *is_best
      = plait_store_read_array (store, "/training/validation/best", PLAIT_STORE_INT32, 1000, &n_best, NULL);
  REQUIRE (metric && is_best && n > 1 && n == n_best);
  for (gint64 i = 0; i < n; i++)
    {
      CHECK (metric[i] > 0);
      CHECK_INT (is_best[i], metric[i] < best);
      best = MIN (best, metric[i]);
    }
  CHECK (plait_store_get_int (store, METRIC, "larger_is_better", &larger, NULL));
  CHECK_INT (larger, 0);
  g_autofree gint64 *directions = plait_store_get_list (store, "/evaluation/test/metrics/score", "larger_is_better",
                                                        PLAIT_STORE_INT64, &n_directions, NULL);
  REQUIRE (directions && n_directions > 1);
  CHECK_INT (directions[0], 1);                /* BLEU: larger is better */
  CHECK_INT (directions[n_directions - 1], 0); /* perplexity: smaller is better */
  g_autofree char *log = lines_without_times (lines);
  CHECK (strstr (log, "\"metric\": ") && !strstr (log, "\"metric\": -"));
}

TEST_CASE (training_log, leaves_the_environment_in_the_run)
{
  const char *path = test_write_experiment ("tiny", NULL);
  g_autoptr (PlaitStore) store = test_run_open (path, NULL, "run.h5");
  gint64 threads = 0, peak = 0;

  REQUIRE (store);
  g_autofree char *host = plait_store_get_string (store, "/environment", "host", NULL);
  g_autofree char *revision = plait_store_get_string (store, "/environment", "revision", NULL);
  CHECK_STRING (host, g_get_host_name ());
  CHECK (revision && (*revision == '\0' || strlen (revision) >= 40));
  CHECK (plait_store_get_int (store, "/environment", "threads", &threads, NULL));
  CHECK_INT (threads, 1);
  CHECK (plait_store_get_int (store, "/environment", "peak_memory", &peak, NULL));
  CHECK (peak > 1 << 20);
}

/* The run stores the paths of its modules, so that a message can name the module of a plugin that is not found. */
TEST_CASE (training_log, leaves_the_places_of_plugins_in_the_run)
{
  const char *path = test_write_experiment_of_two ("tiny", NULL);
  g_autoptr (PlaitStore) store
      = test_run_open (path, (const char *[]){ "train.updates=1", "train.validate_every=0", NULL }, "places.h5");
  g_autoptr (PlaitRegistry) registry = plait_registry_new_for_folders ((const char *[]){ plait_test_folder (), NULL });
  const char *module = plait_test_build_path ("plugins/combiner/hierarchical.so");
  g_autofree char *part = g_strdup_printf (
      "there is no combiner called \"hierarchical\"; the run was trained with the module %s (plait looked in ", module);
  g_autoptr (GError) error = NULL;

  REQUIRE (store != NULL);
  CHECK (!plait_trained_experiment (store, NULL, registry, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, part);
}
