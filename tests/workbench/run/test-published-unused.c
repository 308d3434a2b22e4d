/* SPDX-License-Identifier: MIT */
#include "weights/published.h"

#include <string.h>

#include "files.h"
#include "harness.h"
#include "initial.h"
#include "loading/registry.h"
#include "weights/export.h"
#include "setup/trained.h"
#include "runs.h"
#include "layers/parameter-set.h"

/* Tests of published tensors that may have several names, and of published tensors that no parameter uses. */

enum
{
  WORDS = 6,
  MAX_NAMES = 8,
};

/* Writes a tensor [WORDS, 2] for each of @names. All values of a tensor are equal: the tensor's number, from 1 on; N if
 * its name ends in "=N"; or 0 if its name is @zero. Returns the path. (transfer none) */
static const char *
write_tables (const char *const *names, const char *zero)
{
  const char *path = plait_test_path ("tables.safetensors");
  PlaitScalar values[MAX_NAMES][WORDS * 2];
  PlaitNamedTensor tensors[MAX_NAMES];
  guint n = g_strv_length ((char **)names);

  g_assert (n <= MAX_NAMES);
  for (guint i = 0; i < n; i++)
    {
      const char *equal = strchr (names[i], '=');

      for (guint k = 0; k < WORDS * 2; k++)
        values[i][k] = g_strcmp0 (names[i], zero) == 0 ? 0 : (PlaitScalar)(equal ? equal[1] - '0' : (int)i + 1);
      tensors[i] = (PlaitNamedTensor){ equal ? g_strndup (names[i], (gsize)(equal - names[i])) : g_strdup (names[i]),
                                       { values[i], WORDS, 2 } };
    }
  CHECK (plait_safetensors_write (path, tensors, n, (const char *[]){ NULL }, NO_ERROR));
  for (guint i = 0; i < n; i++)
    g_free ((gpointer)tensors[i].name);
  return path;
}

/* Reads the parameter @name [@rows, 2]. (transfer full) */
static PlaitParameters *
read_table (PlaitPublished *published, const char *name, gint64 rows)
{
  PlaitParameters *parameters = plait_parameters_new ();
  gint64 there[2];

  plait_parameters_declare (parameters, name, rows, 2, PLAIT_ONES);
  CHECK (plait_parameters_allocate (parameters, NULL));
  plait_parameters_write_values (parameters);
  CHECK_INT (plait_published_read (published, plait_parameters_get (parameters, 0), there, NO_ERROR),
             PLAIT_PUBLISHED_TAKEN);
  return parameters;
}

/* If tables are not tied, each parameter takes the tensor with which the published model computes. */
TEST_CASE (published_unused, shipped_maps_take_what_untied_models_compute_with)
{
#define SHARED "model.shared.weight"
#define ENCODER "model.encoder.embed_tokens.weight"
#define DECODER "model.decoder.embed_tokens.weight"
  const struct
  {
    const char *map;
    const char *names[5];
    const char *parameter;
    int value;
  } cases[] = {
    { "bart", { SHARED, ENCODER, DECODER, "lm_head.weight" }, "source/a/embedding/table", 2 },
    { "bart", { SHARED, ENCODER, DECODER, "lm_head.weight" }, "decoder/embedding/table", 3 },
    { "bart", { SHARED, ENCODER, DECODER, "lm_head.weight" }, "decoder/output/weight", 4 },
    { "bart", { SHARED, ENCODER, DECODER }, "decoder/output/weight", 3 },
    { "bart", { SHARED }, "decoder/embedding/table", 1 },
    { "marian", { SHARED, ENCODER, DECODER, "lm_head.weight" }, "source/a/embedding/table", 2 },
    { "marian", { SHARED, ENCODER, DECODER, "lm_head.weight" }, "decoder/embedding/table", 3 },
    { "marian", { SHARED, ENCODER, DECODER, "lm_head.weight" }, "decoder/output/weight", 4 },
    { "marian", { ENCODER, DECODER }, "decoder/output/weight", 2 },
    { "roberta", { "roberta.embeddings.word_embeddings.weight", "lm_head.decoder.weight" }, "masked/output/weight", 2 },
    { "roberta", { "embeddings.word_embeddings.weight" }, "masked/output/weight", 1 },
  };
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *weights = write_tables (cases[i].names, NULL);
      g_autofree char *map = plait_registry_find_text (registry, PLAIT_NAME_MAP_FOLDER, cases[i].map, NO_ERROR);
      g_autoptr (PlaitPublished) published = map ? plait_published_open (weights, map, NO_ERROR) : NULL;
      g_autoptr (PlaitParameters) parameters = NULL;
      CONTEXT ("%s: %s", cases[i].map, cases[i].parameter);

      REQUIRE (published != NULL);
      parameters = read_table (published, cases[i].parameter, WORDS + g_str_equal (cases[i].map, "marian"));
      CHECK_NEAR (plait_parameters_get (parameters, 0)->value.data[10], cases[i].value, 0);
    }
}

static gboolean
wants_all (gconstpointer refused, const char *tensor, const char *parameter)
{
  return !parameter || !refused || !g_pattern_match_simple (refused, parameter);
}

/* Every unused tensor with which the published model computes is reported. */
TEST_CASE (published_unused, refuses_tensors_that_no_parameter_takes)
{
#define MAP                                                                                                            \
  "[weights]\nunused=*.ids;old.*\n[x/{i}/table]\nfrom=a.{i} | b.{i}\n[y/{i}/{k}]\nfrom=b.{i}|c.{i}.{k}\nneeds=y=1\n"   \
  "[z/{k}]\nfrom=d\nplus=e\noptional=true\n[tied/{i}]\nfrom=h.{i}|a.{i}\n"
  const struct
  {
    const char *names[5]; /* names of the tensors; x/0/table reads a.0, or else b.0 */
    const char *zero, *refused, *part;
  } cases[] = {
    { { "a.0" }, NULL, NULL, NULL },
    { { "a.0", "x.ids", "old.f" }, NULL, NULL, NULL },
    { { "a.0", "f" }, NULL, NULL, "uses: f, which the map does not name; give this model" },
    { { "a.0", "a.1" }, NULL, NULL, "uses: a.1, which makes x/1/table; give this model" },
    { { "a.0", "a.1" }, NULL, "*", NULL },
    /* x reads a.0, which comes before b.0; but y needs b.0 or, if that is missing, c.0. */
    { { "a.0", "b.0" }, NULL, NULL, "uses: b.0, which makes y/0/* (y=1); give this model" },
    { { "a.0", "b.0" }, NULL, "y/*", NULL },
    { { "a.0", "c.0.k=1" }, NULL, NULL, "c.0.k, which makes y/0/k (y=1)" },
    { { "a.0", "h.0" }, NULL, NULL, "h.0, which makes tied/0;" },
    { { "a.0=3", "h.0=3" }, NULL, NULL, NULL },
    { { "a.0", "b.0", "c.0.k" }, NULL, NULL, "from 1 of the tensors that" },
    { { "b.0", "c.0.k" }, NULL, NULL, NULL },
    { { "a.0", "d" }, NULL, NULL, "d, which makes z/*" },
    { { "a.0", "e" }, NULL, NULL, "e, which makes z/*" },
    { { "a.0", "d" }, "d", NULL, NULL },
    { { "a.0", "a.1", "f", "d" }, NULL, NULL, "from 3 of the tensors that" },
  };

  const char *map = plait_test_write ("left.ini", MAP);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      GError *error = NULL;
      const char *weights = write_tables (cases[i].names, cases[i].zero);
      g_autoptr (PlaitPublished) published = plait_published_open (weights, map, NO_ERROR);
      g_autoptr (PlaitParameters) parameters = published ? read_table (published, "x/0/table", WORDS) : NULL;
      CONTEXT ("case %d", (int)i);

      REQUIRE (published && parameters);
      CHECK_INT (plait_published_check_unused (published, wants_all, cases[i].refused, &error), !cases[i].part);
      if (cases[i].part)
        CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].part);
    }
}

/* A model without a parameter for a published tensor is refused, unless train.initialise_leave names the parameter.
 * Tensors of parameters that train.initialise_take does not name are not reported. */
TEST_CASE (published_unused, is_refused_by_runs)
{
  const struct
  {
    const char *settings[4];
    const char *part; /* part of the error; NULL: no error */
    const char *said;
  } cases[] = {
    { { NULL }, NULL, "taken from" },
    { { "decoder.tie_output=true" },
      "from 1 of the tensors that the published model uses: "
      "decoder/output/weight, which makes decoder/output/weight; give this model",
      NULL },
    { { "decoder.tie_output=true", "train.initialise_leave=decoder/output/*" }, NULL, "1: decoder/output/weight\n" },
    { { "decoder.tie_output=true", "train.initialise_leave=decoder/*;source/*/norm/bias" },
      NULL,
      "unused tensors of that file" },
    { { "source.a.final_norm=false" }, "source/a/norm/gain; source/a/norm/bias, which", NULL },
    { { "source.a.final_norm=false", "train.initialise_take=decoder/*" }, NULL, "unused tensors of that file" },
  };
  const char *experiment = test_write_experiment ("tiny", NULL);
  const char *weights = plait_test_path ("untied.safetensors");
  const char *folder = plait_test_path ("weights");
  g_autofree char *map = g_build_filename (folder, "own.ini", NULL);
  GError *error = NULL;

  plait_test_make_folder (folder);
  CHECK (g_file_set_contents (map,
                              "[weights]\n[{a}/{b}/{c}]\nfrom={a}/{b}/{c}\n[{a}/{b}/{c}/{d}]\nfrom={a}/{b}/{c}/{d}\n"
                              "[{a}/{b}/{c}/{d}/{e}]\nfrom={a}/{b}/{c}/{d}/{e}\n"
                              "[{a}/{b}/{c}/{d}/{e}/{f}]\nfrom={a}/{b}/{c}/{d}/{e}/{f}\n"
                              "[{a}/{b}/{c}/{d}/{e}/{f}/{g}]\nfrom={a}/{b}/{c}/{d}/{e}/{f}/{g}\n"
                              "[{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}]\nfrom={a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}\n",
                              -1, NULL));
  g_autoptr (PlaitStore) run
      = test_run_still (experiment, "untied.h5", (const char *[]){ "decoder.tie_output=false", NULL }, NULL, NO_ERROR);
  g_clear_pointer (&run, plait_store_free);
  g_autoptr (PlaitTrained) trained
      = plait_trained_open (plait_test_path ("untied.h5"), "last", NULL, FALSE, NULL, NO_ERROR);
  REQUIRE (trained != NULL);
  CHECK (plait_export_safetensors (trained, weights, &error));
  g_setenv ("PLAIT_PLUGIN_PATH", plait_test_folder (), TRUE);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *settings[8]
          = { "train.initialise=untied.safetensors", "train.initialise_map=own", "decoder.tie_output=false" };
      g_autofree char *name = g_strdup_printf ("second-%zu.h5", i);
      g_autofree char *said = NULL;
      CONTEXT ("case %d", (int)i);

      for (guint k = 0; k < 4; k++)
        settings[3 + k] = cases[i].settings[k];
      g_autoptr (PlaitStore) second = test_run_still (experiment, name, settings, &said, &error);
      if (cases[i].part)
        {
          CHECK (!second);
          CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].part);
          continue;
        }
      CHECK_NO_ERROR (error);
      if (cases[i].said)
        CHECK_CONTAINS (said, cases[i].said);
    }
}
