/* SPDX-License-Identifier: MIT */
#include "sample-run.h"

#include <math.h>

#include "scoring/length-table.h"
#include "harness.h"
#include "tables/ragged.h"
#include "tables/table.h"

#define N 3

const char *const plait_test_right[]
    = { "a man rides a bike today", "two dogs run over green grass", "the child plays with a ball", NULL };
const char *const plait_test_wrong[]
    = { "a man rides bikes yesterday", "two dogs run under green grass", "the child play with the ball", NULL };

/* Weights of all heads of all layers. */
static void
write_weights (PlaitStore *store, const char *sentence, const gint64 *shape, const PlaitScalar *values,
               const char *const *const *labels)
{
  static const char *const axes[] = { "layer", "head", "target", "row" };
  GError *error = NULL;

  plait_store_append_heatmap (store, sentence, "en",
                              &(PlaitStoreHeatmap){ .signal = "weights",
                                                    .rank = 4,
                                                    .shape = shape,
                                                    .values = values,
                                                    .axes = axes,
                                                    .labels = labels,
                                                    .title = "attention to en" },
                              &error);
  CHECK_NO_ERROR (error);
}

static void
write_attention (PlaitStore *store, gboolean turned)
{
  static const char *const target[] = { "\u2581ein", "\u6f22\u5b57", "e\u0301\033[2J" };
  static const char *const row[] = { "\u2581<b>a</b>", "\u6f22" };
  static const char *const *const labels[] = { NULL, NULL, target, row };
  static const gint64 shape[] = { 2, 2, 3, 2 };
  /* The means over heads of the last layer: 1 0, .5 .5, 0 1. */
  PlaitScalar values[] = { .25, .75, .5, .5, 1, 0, .125, .875, 0, 1, .75, .25, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1 };

  if (turned)
    {
      values[12] = 0;
      values[13] = 1;
    }
  write_weights (store, "/attention/test/0", shape, values, labels);
}

/* A heatmap of three target tokens whose rows go on from column to column. */
static void
write_small_map (PlaitStore *store, const char *name, gboolean heads, gint64 columns, const char *const *rows)
{
  static const char *const with_heads[] = { "layer", "head", "target", "row" };
  static const char *const without[] = { "layer", "target", "row" };
  static const char *const target[] = { "\u2581ein", "\u6f22\u5b57", "e\u0301\033[2J" };
  const char *const *const all[] = { NULL, NULL, target, rows };
  const gint64 shape[] = { 2, 2, 3, columns };
  g_autofree PlaitScalar *values = g_new0 (PlaitScalar, 12 * columns);
  GError *error = NULL;

  for (gint64 i = 0; i < 12; i++)
    {
      values[i * columns + i % columns] = .75;
      values[i * columns + (i + 1) % columns] += .25;
    }
  plait_store_append_heatmap (store, "/attention/test/0", name,
                              &(PlaitStoreHeatmap){ .signal = "weights",
                                                    .rank = heads ? 4 : 3,
                                                    .shape = heads ? shape : shape + 1,
                                                    .values = values,
                                                    .axes = heads ? with_heads : without,
                                                    .labels = heads ? all : all + 1,
                                                    .title = name },
                              &error);
  CHECK_NO_ERROR (error);
}

static void
write_contexts (PlaitStore *store)
{
  static const char *const rows[] = { "\u2581le", "</script>", "\u202e\"'", "\U0001f600" };
  static const char *const memories[] = { "en", "fr" };
  static const char *const english[] = { "\u2581<b>a</b>", "\u6f22" };

  write_small_map (store, "fr", TRUE, 4, rows);
  write_small_map (store, "contexts", TRUE, 2, memories);
  write_small_map (store, "en.effective", FALSE, 2, english);
  write_small_map (store, "fr.effective", FALSE, 4, rows);
}

#define LENGTH 60
#define STEPS 8

/* Sentence @number of many: each row looks at few others, no two alike. */
static void
write_long_attention (PlaitStore *store, gint64 number)
{
  static const gint64 shape[] = { 2, STEPS / 2, LENGTH, LENGTH };
  static PlaitScalar values[STEPS * LENGTH * LENGTH];
  g_autofree char *path = g_strdup_printf ("/attention/test/%jd", number);
  g_auto (GStrv) tokens = g_new0 (char *, LENGTH + 1);
  const char *const *const labels[] = { NULL, NULL, (const char *const *)tokens, (const char *const *)tokens };
  guint32 state = (guint32)number * 2654435761u + 1;

  for (guint i = 0; i < LENGTH; i++)
    {
      state = state * 1664525u + 1013904223u;
      tokens[i] = g_strdup_printf ("\u2581w%u", state >> 22);
    }
  for (guint row = 0; row < STEPS * LENGTH; row++)
    {
      double sum = 0;

      for (guint i = row * LENGTH; i < (row + 1) * LENGTH; i++)
        {
          state = state * 1664525u + 1013904223u;
          values[i] = (PlaitScalar)pow ((state >> 8) / 16777216., 12);
          sum += (double)values[i];
        }
      for (guint i = row * LENGTH; i < (row + 1) * LENGTH; i++)
        values[i] = (PlaitScalar)((double)values[i] / sum);
    }
  write_weights (store, path, shape, values, labels);
}

static void
write_training (PlaitStore *store, gint64 seed, gint64 validations)
{
  typedef struct
  {
    gint64 step;
    double negative_log_likelihood, target_tokens_per_second, metric;
  } Row;
  static const PlaitStoreField updates[] = {
    PLAIT_STORE_FIELD (Row, step, INT64, NULL),
    PLAIT_STORE_FIELD (Row, negative_log_likelihood, DOUBLE, "nats a target token"),
    PLAIT_STORE_FIELD (Row, target_tokens_per_second, DOUBLE, "1/s"),
  };
  static const PlaitStoreField validation[] = {
    PLAIT_STORE_FIELD (Row, step, INT64, NULL),
    PLAIT_STORE_FIELD (Row, negative_log_likelihood, DOUBLE, "nats a target token"),
    PLAIT_STORE_FIELD (Row, metric, DOUBLE, NULL),
  };
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (Row));
  GError *error = NULL;

  for (gint64 i = 0; i < 30; i++)
    {
      Row row = { (i + 1) * 100, 8. / (double)(i + 1), 1000 + (double)i, (double)i / 2 + 2 * (double)(seed - 1) };

      g_array_append_val (rows, row);
    }
  plait_store_write_rows (store, "/training/updates", rows, updates, G_N_ELEMENTS (updates), "step",
                          "negative_log_likelihood", &error);
  g_array_set_size (rows, (guint)validations);
  plait_store_write_rows (store, "/training/validation", rows, validation, G_N_ELEMENTS (validation), "step",
                          "negative_log_likelihood", &error);
  CHECK_NO_ERROR (error);
}

static void
write_evaluation (PlaitStore *store, const char *const *hypotheses, const char *const *lines)
{
  const char *const *references[] = { lines };
  PlaitTextPairs pairs = { N, hypotheses, 1, references };
  g_autoptr (PlaitMetric) metric = plait_metric_new ("chrf", NULL);
  GError *error = NULL;
  g_autoptr (PlaitResult) result = plait_evaluate (metric, &pairs, 100, 1, &error);

  CHECK_NO_ERROR (error);
  REQUIRE (result != NULL);
  typedef struct
  {
    const char *metric, *name;
    double score, low, high;
    const char *signature;
  } Row;
  static const PlaitStoreField fields[] = {
    PLAIT_STORE_FIELD (Row, metric, STRING, NULL), PLAIT_STORE_FIELD (Row, name, STRING, NULL),
    PLAIT_STORE_FIELD (Row, score, DOUBLE, NULL),  PLAIT_STORE_FIELD (Row, low, DOUBLE, NULL),
    PLAIT_STORE_FIELD (Row, high, DOUBLE, NULL),   PLAIT_STORE_FIELD (Row, signature, STRING, NULL),
  };
  const Row written[] = {
    { result->metric, result->name, result->score, result->interval.low, result->interval.high, result->signature },
    { "perplexity", "perplexity per token", 7.5, 7.5, 7.5, "unit:token" },
  };
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (Row));
  g_array_append_vals (rows, written, G_N_ELEMENTS (written));
  plait_store_write_rows (store, "/evaluation/test/metrics", rows, fields, G_N_ELEMENTS (fields), NULL, NULL, &error);
  plait_store_write_strings (store, "/evaluation/test/hypotheses", hypotheses, N, &error);
  plait_store_write_strings (store, "/evaluation/test/references", lines, N, &error);
  CHECK_NO_ERROR (error);
}

static void
write_work (PlaitStore *store, const PlaitTestRun *run)
{
  CHECK (plait_store_set_double (store, "/evaluation/test", "states_touched", run->touched, NULL));
  CHECK (
      plait_store_set_double (store, "/evaluation/test", "states_chosen", run->descends ? run->touched / 2 : 0, NULL));
  CHECK (plait_store_make_group (store, "/environment/evaluation/test", NULL));
  CHECK (
      plait_store_set_double (store, "/environment/evaluation/test", "milliseconds_a_word", run->touched / 100, NULL));
}

static void
write_lengths (PlaitStore *store, const char *const *hypotheses, const char *const *sources)
{
  const char *const *references[] = { plait_test_right };
  PlaitTextPairs pairs = { N, hypotheses, 1, references };
  g_autoptr (PlaitMetric) metric = plait_metric_new ("chrf", NULL);
  g_autoptr (PlaitStatistics) statistics = plait_metric_statistics (metric, &pairs, NULL);
  g_autoptr (PlaitLengthBins) bins = plait_length_bins_new ("2;4", NULL);
  g_autofree gint64 *words = plait_length_bins_count (N, sources);
  g_autoptr (GArray) rows = plait_length_rows_new ();

  REQUIRE (plait_length_rows_add (rows, bins, metric, statistics, words, 0, 0, NULL));
  CHECK (plait_length_table_write (rows, store, "/evaluation/test/length_bins", NULL));
}

/* An array of the descent to en of @sentence. */
static void
write_part (PlaitStore *store, const char *sentence, const char *name, PlaitStoreType type, gint64 n,
            gconstpointer values)
{
  CHECK (plait_store_append (store, sentence, "en", name, type, 1, &n, values, NULL, NULL));
}

/* Five leaves below 5 (two), 6 (two) and 7, these below 8 (5 and 6) and 9. The first head takes 8, 5 and 8, 6 for the
 * two words, the second 9, 7 and 8, 6. */
static void
write_descent (PlaitStore *store)
{
  static const char *const rows[] = { "a", "b", "<i>c</i>", "d", "e", "a … b", "<i>c</i> … d", "e", "a … d", "e" };
  static const char *const targets[] = { "▁ein", "Mann" };
  static const gint64 level[] = { 0, 0, 0, 0, 0, 1, 1, 1, 2, 2 };
  static const gint64 first_child[] = { -1, -1, -1, -1, -1, 0, 2, 4, 5, 7 };
  static const gint64 children[] = { 0, 0, 0, 0, 0, 2, 2, 1, 2, 1 };
  static const gint64 entries[] = { 0, 3, 6, 9, 12 };
  static const gint64 parents[] = { -1, 8, 5, -1, 8, 6, -1, 9, 7, -1, 8, 6 };
  static const gint64 sets[] = { 0, 2, 4, 6, 8, 10, 12, 14, 15, 16, 18, 20, 22 };
  static const gint64 row[] = { 8, 9, 5, 6, 0, 1, 8, 9, 5, 6, 2, 3, 8, 9, 7, 4, 8, 9, 5, 6, 2, 3 };
  static const double weight[]
      = { .75, .25, .5, .5, .9, .1, .75, .25, .2, .8, .3, .7, .25, .75, 1, 1, .75, .25, .2, .8, .3, .7 };
  static const double path[] = { .75, .25, .375, .375, .3375, .0375, .75, .25, .15, .6,  .18,
                                 .42, .25, .75,  .75,  .75,   .75,   .25, .15, .6,  .18, .42 };
  static const guint8 taken[] = { 1, 0, 1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1 };

  static const gint64 extents[] = { 1, 2, 2 };
  static const char below[] = "/descent/test/0";

  CHECK (plait_store_append_attribute (store, below, "en", "title", "descent to en", NULL));
  write_part (store, below, "extents", PLAIT_STORE_INT64, 3, extents);
  write_part (store, below, "row_labels", PLAIT_STORE_STRING, G_N_ELEMENTS (rows), rows);
  write_part (store, below, "target_labels", PLAIT_STORE_STRING, 2, targets);
  write_part (store, below, "row_level", PLAIT_STORE_INT64, G_N_ELEMENTS (level), level);
  write_part (store, below, "row_first_child", PLAIT_STORE_INT64, G_N_ELEMENTS (first_child), first_child);
  write_part (store, below, "row_children", PLAIT_STORE_INT64, G_N_ELEMENTS (children), children);
  write_part (store, below, "entry_offsets", PLAIT_STORE_INT64, G_N_ELEMENTS (entries), entries);
  write_part (store, below, "set_parent", PLAIT_STORE_INT64, G_N_ELEMENTS (parents), parents);
  write_part (store, below, "set_offsets", PLAIT_STORE_INT64, G_N_ELEMENTS (sets), sets);
  write_part (store, below, "row", PLAIT_STORE_INT64, G_N_ELEMENTS (row), row);
  write_part (store, below, "weight", PLAIT_STORE_DOUBLE, G_N_ELEMENTS (weight), weight);
  write_part (store, below, "path", PLAIT_STORE_DOUBLE, G_N_ELEMENTS (path), path);
  write_part (store, below, "taken", PLAIT_STORE_UINT8, G_N_ELEMENTS (taken), taken);
}

/* 100 leaves below 34 rows below 12, three below each; each of @words goes down to three leaves. */
static void
write_long_descent (PlaitStore *store, gint64 sentence, gint64 words)
{
  enum
  {
    MOST_WORDS = 12000,
    MIDDLE = 100,
    TOPS = MIDDLE + 34,
    ROWS = TOPS + 12,
    A_WORD = 18, /* rows that are weighed for each */
  };
  static const char *const axes[] = { "layer", "head", "target", "row" };
  static const gint64 shape[] = { 1, 1, 1, 1 };
  const PlaitScalar one = 1;
  const char *rows[ROWS];
  static const char *targets[MOST_WORDS];
  gint64 level[ROWS], first_child[ROWS], children[ROWS], n = 0;
  static gint64 entries[MOST_WORDS + 1], sets[3 * MOST_WORDS + 1], parents[3 * MOST_WORDS], row[A_WORD * MOST_WORDS];
  static double weight[A_WORD * MOST_WORDS], path[A_WORD * MOST_WORDS];
  static guint8 taken[A_WORD * MOST_WORDS];
  const gint64 extents[] = { 1, 1, words };
  g_autofree char *below = g_strdup_printf ("/descent/test/%jd", sentence);
  g_autofree char *map = g_strdup_printf ("/attention/test/%jd", sentence);

  for (gint64 r = 0; r < ROWS; r++)
    {
      rows[r] = r < MIDDLE ? "word" : "first … last";
      level[r] = (r >= MIDDLE) + (r >= TOPS);
      first_child[r] = r < MIDDLE ? -1 : r < TOPS ? 3 * (r - MIDDLE) : MIDDLE + 3 * (r - TOPS);
      children[r] = r < MIDDLE ? 0 : MIN (3, (r < TOPS ? MIDDLE : TOPS) - first_child[r]);
    }
  for (gint64 t = 0; t < words; t++)
    {
      gint64 top = TOPS + t % 11, middle = first_child[top];

      targets[t] = "wort";
      entries[t] = 3 * t;
      for (gint64 s = 0; s < 3; s++)
        {
          gint64 first = s == 0 ? TOPS : s == 1 ? middle : first_child[middle];

          sets[3 * t + s] = n;
          parents[3 * t + s] = s == 0 ? -1 : s == 1 ? top : middle;
          for (gint64 k = 0; k < (s == 0 ? 12 : 3); k++, n++)
            {
              row[n] = first + k;
              weight[n] = s == 0 ? 1 / 12. : 1 / 3.;
              path[n] = s == 0 ? 1 / 12. : s == 1 ? 1 / 36. : 1 / 108.;
              taken[n] = s == 2 || row[n] == (s == 0 ? top : middle);
            }
        }
    }
  entries[words] = 3 * words;
  sets[3 * words] = n;
  write_part (store, below, "extents", PLAIT_STORE_INT64, 3, extents);
  write_part (store, below, "row_labels", PLAIT_STORE_STRING, ROWS, rows);
  write_part (store, below, "target_labels", PLAIT_STORE_STRING, words, targets);
  write_part (store, below, "row_level", PLAIT_STORE_INT64, ROWS, level);
  write_part (store, below, "row_first_child", PLAIT_STORE_INT64, ROWS, first_child);
  write_part (store, below, "row_children", PLAIT_STORE_INT64, ROWS, children);
  write_part (store, below, "entry_offsets", PLAIT_STORE_INT64, words + 1, entries);
  write_part (store, below, "set_parent", PLAIT_STORE_INT64, 3 * words, parents);
  write_part (store, below, "set_offsets", PLAIT_STORE_INT64, 3 * words + 1, sets);
  write_part (store, below, "row", PLAIT_STORE_INT64, n, row);
  write_part (store, below, "weight", PLAIT_STORE_DOUBLE, n, weight);
  write_part (store, below, "path", PLAIT_STORE_DOUBLE, n, path);
  write_part (store, below, "taken", PLAIT_STORE_UINT8, n, taken);
  CHECK (plait_store_append_heatmap (store, map, "en",
                                     &(PlaitStoreHeatmap){ "weights", 4, shape, &one, axes, NULL, NULL }, NULL));
}

/* Attention of 200 target rows to @n rows, of which each @part stand for a sentence or are its tokens. */
static void
write_document_map (PlaitStore *store, const char *name, gint64 n, gint64 part)
{
  static const char *const axes[] = { "layer", "head", "target", "row" };
  const gint64 shape[] = { 1, 2, 200, n };
  g_autofree PlaitScalar *weights = g_new (PlaitScalar, 400 * n);
  g_auto (GStrv) targets = g_new0 (char *, 201), rows = g_new0 (char *, n + 1);
  const char *const *const labels[] = { NULL, NULL, (const char *const *)targets, (const char *const *)rows };
  g_autofree gint64 *sentences = g_new (gint64, n);
  static const char sentence[] = "/attention/test/1";

  for (gint64 t = 0; t < 200; t++)
    targets[t] = g_strdup ("wort");
  for (gint64 c = 0; c < n; c++)
    {
      sentences[c] = c / part;
      rows[c] = part > 1 ? g_strdup ("word") : g_strdup_printf ("%d: the first words", (int)c);
    }
  for (gint64 r = 0; r < 400; r++)
    {
      PlaitScalar sum = 0;

      for (gint64 c = 0; c < n; c++)
        sum += weights[r * n + c] = (PlaitScalar)((1 + (r * 7 + c * 13) % 17) * (sentences[c] % 40 == 0 ? 3 : 1));
      for (gint64 c = 0; c < n; c++)
        weights[r * n + c] /= sum;
    }
  CHECK (plait_store_append_heatmap (store, sentence, name,
                                     &(PlaitStoreHeatmap){ "weights", 4, shape, weights, axes, labels, NULL }, NULL));
  if (part > 1)
    CHECK (plait_store_append (store, sentence, name, "row_sentence", PLAIT_STORE_INT64, 1, &n, sentences, NULL, NULL));
  else
    CHECK (plait_store_append_attribute (store, sentence, name, "rows", "sentences", NULL));
}

static void
write_wide_map (PlaitStore *store)
{
  static const char *const axes[] = { "target", "row" };
  static const gint64 shape[] = { 1, 70000 };
  g_autofree PlaitScalar *weights = g_new0 (PlaitScalar, 70000);

  CHECK (plait_store_append_heatmap (store, "/attention/test/1", "<wide>",
                                     &(PlaitStoreHeatmap){ "weights", 2, shape, weights, axes, NULL, NULL }, NULL));
}

void
plait_test_write_run (const char *name, const PlaitTestRun *run)
{
  g_autofree char *path = plait_test_path (name);
  gint64 seed = MAX (run->seed, 1);
  g_autofree char *experiment
      = g_strdup_printf ("[experiment]\nname=sample\nseed=%jd\n\n[decoder]\ncombiner=%s\nlayers=2\n%s", seed,
                         run->combiner, run->more ? run->more : "");
  PlaitScalar weights[6] = { 1, 2, 3, 4, 5, 6 };
  GError *error = NULL;
  g_autoptr (PlaitStore) store = plait_store_create (path, &error);

  CHECK_NO_ERROR (error);
  REQUIRE (store != NULL);
  CHECK (plait_store_set_string (store, "/", "experiment", experiment, &error));
  CHECK (plait_store_set_int (store, "/", "seed", 1, &error));
  CHECK (plait_store_make_group (store, "/environment", &error));
  CHECK (plait_store_set_string (store, "/environment", "command", "plait run <sample>.ini", &error));
  CHECK (plait_store_write_tensor (store, "/checkpoint/last/parameters/decoder/weight", plait_tensor (weights, 2, 3),
                                   &error));
  write_training (store, seed, run->validated_once ? 1 : 3);
  write_evaluation (store, run->hypotheses, run->references ? run->references : plait_test_right);
  if (run->sources)
    {
      write_lengths (store, run->hypotheses, run->sources);
      CHECK (plait_store_write_strings (store, "/evaluation/test/sources/en", run->sources, N, &error));
    }
  if (!run->inattentive && run->many == 0)
    write_attention (store, run->turned);
  if (run->hierarchical)
    write_contexts (store);
  for (gint64 i = 0; i < run->many; i++)
    write_long_attention (store, i);
  if (run->descends)
    write_descent (store);
  for (gint64 i = 1; i <= run->long_descents; i++)
    write_long_descent (store, i, run->descent_words > 0 ? run->descent_words : 100);
  if (run->document > 0)
    {
      write_document_map (store, "a.tokens", 25 * run->document, 25);
      write_document_map (store, "a.sentences", run->document, 1);
    }
  if (run->wide)
    write_wide_map (store);
  if (run->touched > 0)
    write_work (store, run);
  CHECK (plait_store_link (store, "/checkpoint/chosen", "/checkpoint/last", &error));
  CHECK (plait_store_commit (store, &error));
  CHECK_NO_ERROR (error);
}
