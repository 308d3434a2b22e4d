/* SPDX-License-Identifier: MIT */
#include "sample.h"

#include "harness.h"
#include "tables/heatmap.h"
#include "tables/table.h"

static void
write_attention (PlaitStore *store)
{
  static const char *const axes[] = { "layer", "head", "target", "row" };
  static const char *const target[] = { "\u2581ein", "\u2581Mann", "</s>" };
  static const char *const row[] = { "\u2581a", "\u2581man" };
  static const char *const *const labels[] = { NULL, NULL, target, row };
  static const gint64 shape[] = { 1, 2, 3, 2 };
  static const PlaitScalar values[] = { .25, .75, .5, .5, 1, 0, .125, .875, 0, 1, .75, .25 };
  plait_store_write_heatmap (store, "/attention/test/0/en",
                             &(PlaitStoreHeatmap){ .signal = "weights",
                                                   .rank = 4,
                                                   .shape = shape,
                                                   .values = values,
                                                   .axes = axes,
                                                   .labels = labels,
                                                   .title = "a man \u2192 ein Mann" },
                             NO_ERROR);
}

static void
write_training (PlaitStore *store)
{
  typedef struct
  {
    gint64 step;
    double loss;
    const char *note;
  } Row;
  static const PlaitStoreField fields[] = {
    PLAIT_STORE_FIELD (Row, step, INT64, NULL),
    PLAIT_STORE_FIELD (Row, loss, DOUBLE, "nats"),
    PLAIT_STORE_FIELD (Row, note, STRING, NULL),
  };
  static const Row written[] = { { 100, 4.5, "" }, { 200, 3.25, "best" }, { 300, 2.125, "\u00e4ndert" } };
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (Row));
  g_array_append_vals (rows, written, G_N_ELEMENTS (written));
  plait_store_write_rows (store, "/training", rows, fields, G_N_ELEMENTS (fields), "step", "loss", NO_ERROR);
}

void
plait_test_write_sample (const char *path)
{
  static const char *const hypotheses[] = { "Ein Mann l\u00e4uft.", "", "\u6f22\u5b57" };
  static const double scores[] = { 1.5, -2 };
  g_autoptr (PlaitStore) store = plait_store_create (path, NO_ERROR);
  REQUIRE (store != NULL);

  PlaitScalar weights[6] = { 1, 2, 3, 4, 5, 6 };
  g_autofree gint32 *large = g_new (gint32, 40000);
  for (gint32 i = 0; i < 40000; i++)
    large[i] = i * 7919;
  gint64 n_large = 40000, n_scores = 2;

  CHECK (plait_store_set_string (store, "/", "version", "0.1.0", NO_ERROR));
  CHECK (plait_store_set_int (store, "/", "seed", -7, NO_ERROR));
  CHECK (plait_store_write_tensor (store, "/checkpoint/best/parameters/source/en/weight", plait_tensor (weights, 2, 3),
                                   NO_ERROR));
  CHECK (plait_store_write (store, "/large", PLAIT_STORE_INT32, 1, &n_large, large, PLAIT_STORE_PLAIN, NO_ERROR));
  CHECK (plait_store_write (store, "/scores", PLAIT_STORE_DOUBLE, 1, &n_scores, scores, PLAIT_STORE_PLAIN, NO_ERROR));
  CHECK (plait_store_write_strings (store, "/evaluation/test/hypotheses", hypotheses, 3, NO_ERROR));
  CHECK (plait_store_write_bytes (store, "/vocabulary/shared/model", "\0\1\2\377", 4, NO_ERROR));
  CHECK (plait_store_link (store, "/checkpoint/chosen", "/checkpoint/best", NO_ERROR));
  CHECK (plait_store_link_external (store, "/cells/serial", "cells/serial.h5", "/", NO_ERROR));
  write_training (store);
  write_attention (store);
  CHECK (plait_store_commit (store, NO_ERROR));
}

GBytes *
plait_test_load (const char *path)
{
  char *bytes = NULL;
  gsize size = 0;
  CHECK (g_file_get_contents (path, &bytes, &size, NULL));
  return g_bytes_new_take (bytes, size);
}
