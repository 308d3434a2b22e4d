/* SPDX-License-Identifier: MIT */
#include "weights/published.h"

#include "files.h"
#include "harness.h"
#include "loading/registry.h"
#include "setup/trained.h"
#include "runs.h"
#include "layers/parameter-set.h"

#include <string.h>

/* Tests of parameters that name maps make of published tensors. */

#define HEAD "[weights]\npad=last\nbos=none\neos=0\nunknown=1\nwords=2\n"

/* Writes tensors whose names begin with a, b, c, ... Element i of the k-th tensor is 100 k + i, with k from 1 on. */
static void
write_weights (const char *path)
{
  static const struct
  {
    const char *name, *shape;
    guint n;
  } tensors[] = { { "a.0.q", "3,2", 6 },    { "b.0.v", "3,2", 6 },    { "c.bias", "3", 3 },
                  { "d.words", "5,2", 10 }, { "e.logits", "1,5", 5 }, { "f.places", "5,2", 10 },
                  { "g.type", "1,2", 2 },   { "h.left", "", 1 },      { "i.deep", "1,1,3", 3 } };
  g_autoptr (GString) header = g_string_new ("{");
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (GByteArray) values = g_byte_array_new ();
  guint64 length;

  for (gsize i = 0; i < G_N_ELEMENTS (tensors); i++)
    {
      guint begin = values->len;

      for (guint k = 0; k < tensors[i].n; k++)
        {
          float value = (float)(100 * (tensors[i].name[0] - 'a' + 1) + (int)k);

          g_byte_array_append (values, (const guint8 *)&value, sizeof value);
        }
      g_string_append_printf (header, "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%u,%u]}",
                              i > 0 ? "," : "", tensors[i].name, tensors[i].shape, begin, values->len);
    }
  g_string_append_c (header, '}');
  length = GUINT64_TO_LE ((guint64)header->len);
  g_byte_array_append (bytes, (const guint8 *)&length, sizeof length);
  g_byte_array_append (bytes, (const guint8 *)header->str, (guint)header->len);
  g_byte_array_append (bytes, values->data, values->len);
  plait_test_write_bytes (path, (const char *)bytes->data, bytes->len);
}

typedef struct
{
  PlaitParameters *parameters;
  PlaitPublished *published;
} World;

static void
world_clear (World *world)
{
  plait_published_free (world->published);
  plait_parameters_free (world->parameters);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (World, world_clear)

/* Returns a parameter @name [@rows, @width], and the weights that write_weights() wrote, opened with the map @text
 * (NULL: without a map). */
static World
world_new (const char *text, const char *name, gint64 rows, gint64 width, GError **error)
{
  const char *weights = plait_test_path ("w.safetensors");
  World world = { plait_parameters_new (), NULL };

  write_weights (weights);
  const char *map = plait_test_write ("map.ini", text ? text : "");
  plait_parameters_declare (world.parameters, name, rows, width, PLAIT_ONES)->is_positional
      = strstr (name, "places") != NULL;
  CHECK (plait_parameters_allocate (world.parameters, NULL));
  plait_parameters_write_values (world.parameters);
  world.published = plait_published_open (weights, text ? map : NULL, error);
  return world;
}

TEST_CASE (published, makes_parameters_as_the_map_says)
{
  const struct
  {
    const char *map, *name;
    gint64 rows, width;
    double values[12];
    gint64 there; /* rows of the tensor that could be read; 0: not checked */
  } cases[] = {
    /* Two transposed tensors become neighbouring columns of one parameter. */
    { HEAD "[x/{i}/both]\nfrom=a.{i}.q;b.{i}.v\ntransposed=true\n",
      "x/0/both",
      2,
      6,
      { 100, 102, 104, 200, 202, 204, 101, 103, 105, 201, 203, 205 } },
    { HEAD "[x/{i}/both]\nfrom=a.{i}.q;b.{i}.v\n",
      "x/0/both",
      3,
      4,
      { 100, 101, 200, 201, 102, 103, 202, 203, 104, 105, 204, 205 } },
    /* A vector is never transposed. */
    { HEAD "[x/{i}/{k}]\nfrom=c.{k}\ntransposed=true\n", "x/0/bias", 1, 3, { 300, 301, 302 } },
    /* If a key has several names, the first tensor that exists is taken. If several groups fit a parameter, the first
     * group is used. */
    { HEAD "[x/0/one]\nfrom=absent | c.bias\n[x/{i}/one]\nfrom=absent\n", "x/0/one", 1, 3, { 300, 301, 302 } },
    /* Words: padding is the last row of the tensor, and no row is BOS; then come EOS, the unknown token and all other
     * words. */
    { HEAD "[x/{i}/words]\nfrom=d.words\nwords=rows\n",
      "x/0/words",
      6,
      2,
      { 408, 409, 0, 0, 400, 401, 402, 403, 404, 405, 406, 407 } },
    { HEAD "[x/{i}/logits]\nfrom=e.logits\nwords=columns\nfill=-9\n",
      "x/0/logits",
      1,
      6,
      { 504, -9, 500, 501, 502, 503 } },
    /* Positions: the first two rows of the tensor are skipped. The parameter has fewer rows than the
     * remaining three, then more. */
    { HEAD "[x/{i}/places]\nfrom=f.places\nfirst=2\nplus=g.type\n", "x/0/places", 2, 2, { 1304, 1306, 1306, 1308 }, 3 },
    { HEAD "[x/{i}/places]\nfrom=f.places\nfirst=2\nplus=g.type\n",
      "x/0/places",
      4,
      2,
      { 1304, 1306, 1306, 1308, 1308, 1310, 0, 0 },
      3 },
    { HEAD "[x/{i}/places]\nfrom=a.0.q\ntransposed=true\n", "x/0/places", 1, 3, { 100, 102, 104 }, 2 },
    { HEAD "[x/{i}/places]\nfrom=a.0.q\ntransposed=true\nfirst=1\n", "x/0/places", 1, 3, { 101, 103, 105 }, 1 },
    /* If there is no map, names and layout must be those of plait. */
    { NULL, "d.words", 5, 2, { 400, 401, 402, 403, 404, 405, 406, 407, 408, 409 } },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      gint64 there[2] = { 0 };
      g_auto (World) world = world_new (cases[i].map, cases[i].name, cases[i].rows, cases[i].width, NO_ERROR);
      const PlaitParameter *parameter = plait_parameters_get (world.parameters, 0);
      CONTEXT ("case %d", (int)i);

      REQUIRE (world.published != NULL);
      CHECK_INT (plait_published_read (world.published, parameter, there, NO_ERROR), PLAIT_PUBLISHED_TAKEN);
      for (gint64 k = 0; k < cases[i].rows * cases[i].width; k++)
        CHECK_NEAR (parameter->value.data[k], cases[i].values[k], 0);
      if (cases[i].there > 0)
        CHECK_INT (there[0], cases[i].there);
    }
}

TEST_CASE (published, refuses_what_does_not_fit)
{
  const struct
  {
    const char *map, *name;
    gint64 rows, width;
    const char *part;
  } cases[] = {
    { HEAD "[x/{i}/a]\nfrom=z.{i}\n", "x/0/a", 1, 3, "has no tensor z.0, from which the parameter x/0/a is made" },
    { HEAD "[x/{i}/a]\nfrom=c.bias;z\noptional=true\n", "x/0/a", 1, 6, "has no tensor z, from which" },
    { HEAD "[x/{i}/a]\nfrom=c.bias\nplus=z\n", "x/0/a", 1, 3, "has no tensor z, from which" },
    { HEAD "[x/{i}/a]\nfrom=a.0.q\n", "x/0/a", 2, 3,
      "has the shape [3, 2], which does not fit the parameter x/0/a [2, 3]; expected an equal number of rows" },
    { HEAD "[x/{i}/a]\nfrom=a.0.q\ntransposed=true\n", "x/0/a", 3, 2,
      "expected an equal number of rows (for positions: at least one)" },
    { HEAD "[x/{i}/a]\nfrom=i.deep\n", "x/0/a", 1, 3,
      "has the shape [1, 1, 3], which does not fit the parameter x/0/a [1, 3]; expected at most two" },
    { HEAD "[x/{i}/a]\nfrom=a.0.q\n", "x/0/a", 3, 3, "expected more columns" },
    { HEAD "[x/{i}/a]\nfrom=a.0.q\n", "x/0/a", 3, 1, "expected at most as many columns" },
    { HEAD "[x/{i}/a]\nfrom=a.0.q\nfirst=1\n", "x/0/a", 3, 2,
      "(for positions: at least one) after the rows that first= skips" },
    { HEAD "[x/{i}/places]\nfrom=f.places\nfirst=5\n", "x/0/places", 3, 2,
      "at least one) after the rows that first= skips" },
    { HEAD "[x/{i}/a]\nfrom=c.bias\nplus=g.type\n", "x/0/a", 1, 3, "expected one row, to add to each row" },
    { HEAD "[x/{i}/a]\nfrom=d.words\nwords=rows\n", "x/0/a", 5, 2, "expected an equal width and number of words" },
    { HEAD "[x/{i}/a]\nfrom=d.words\nwords=rows\n", "x/0/a", 7, 2, "expected an equal width and number of words" },
    { HEAD "[x/{i}/a]\nfrom=d.words\nwords=rows\n", "x/0/a", 6, 3, "expected an equal width and number of words" },
    { HEAD "[x/{i}/a]\nfrom=d.words\nwords=columns\n", "x/0/a", 1, 6, "expected an equal width and number of words" },
    { "[weights]\npad=7\n[x/{i}/a]\nfrom=d.words\nwords=rows\n", "x/0/a", 5, 2,
      "expected an equal width and number of words" },
    { "[weights]\n[x/{i}/a]\nfrom=d.words\nwords=rows\n", "x/0/a", 3, 2,
      "expected an equal width and number of words" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      GError *error = NULL;
      gint64 there[2] = { 0 };
      g_auto (World) world = world_new (cases[i].map, cases[i].name, cases[i].rows, cases[i].width, NO_ERROR);
      CONTEXT ("case %d", (int)i);

      REQUIRE (world.published != NULL);
      CHECK_INT (plait_published_read (world.published, plait_parameters_get (world.parameters, 0), there, &error),
                 PLAIT_PUBLISHED_FAILED);
      REQUIRE (error != NULL);
      CHECK_CONTAINS (error->message, "map.ini:");
      CHECK_CONTAINS (error->message, "w.safetensors");
      CHECK (!strchr (error->message, '\n'));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].part);
    }
}

TEST_CASE (published, leaves_what_nothing_is_said_of)
{
  gint64 there[2] = { 0 };
  guint n = 0;
  g_auto (World) other = world_new (HEAD "[x/{i}/a]\nfrom=c.bias\n[x/{i}/a/b]\nfrom=c.bias\n[y/{i}]\nfrom=c.bias\n",
                                    "x/0/b", 1, 3, NO_ERROR);
  g_auto (World) optional = world_new (HEAD "[x/{i}/b]\nfrom=z\noptional=true\n", "x/0/b", 1, 3, NO_ERROR);
  g_auto (World) named = world_new (NULL, "d.words", 4, 2, NO_ERROR);

  CHECK_INT (plait_published_read (other.published, plait_parameters_get (other.parameters, 0), there, NO_ERROR),
             PLAIT_PUBLISHED_ABSENT);
  CHECK_INT (plait_published_read (optional.published, plait_parameters_get (optional.parameters, 0), there, NO_ERROR),
             PLAIT_PUBLISHED_ABSENT);
  CHECK_INT (plait_published_read (named.published, plait_parameters_get (named.parameters, 0), there, NO_ERROR),
             PLAIT_PUBLISHED_OTHER_SHAPE);
  g_autofree char *left = plait_published_unused (named.published, 2, &n);
  CHECK_STRING (left, "a.0.q, b.0.v");
  CHECK_INT (n, 9);
}

TEST_CASE (published, refuses_maps_that_are_none)
{
  const struct
  {
    const char *map, *part;
  } cases[] = {
    { "[x]\nfrom=a\n", "has no group [weights]" },
    { HEAD "[x]\n", "map.ini:7: [x] has no from=" },
    { HEAD "[x]\nfrom=a\nform=b\n", "map.ini:9: [x] form" },
    { HEAD "[x/{i}]\nfrom=a.{j}\n", "map.ini:8: [x/{i}] from has unpaired braces, or a {NAME} that is not in the" },
    { HEAD "[x/{i}]\nfrom=a.{i\n", "map.ini:8: [x/{i}] from has unpaired braces, or a {NAME} that is not in the" },
    { HEAD "[x/{i}]\nfrom=a\nplus={j}\n", "map.ini:9: [x/{i}] plus has unpaired braces, or a {NAME} that is not in" },
    { HEAD "[x/{i]\nfrom=a\n", "map.ini:7: [x/{i] has unpaired braces, or a {NAME} that is not in the" },
    { HEAD "[x]\nfrom=a\nwords=both\n", "map.ini:9: [x] words" },
    { HEAD "[x]\nfrom=a\nwords=rows\ntransposed=true\n", "map.ini:9: [x] words needs one tensor" },
    { HEAD "[x]\nfrom=a;b\nwords=columns\n", "map.ini:9: [x] words needs one tensor" },
    { HEAD "[x]\nfrom=a\nfirst=-1\n", "map.ini:9: [x] first" },
    { HEAD "[x]\nfrom=a\nfill=nan\n", "map.ini:9: [x] fill" },
    { "[weights]\npad=-1\n", "map.ini:2: [weights] pad is not a row" },
    { "[weights]\neos=end\n", "map.ini:2: [weights] eos is not a row" },
    { "[weights]\nmask=4\n", "map.ini:2: [weights] mask" },
    { HEAD "[x]\nfrom=a\n[x]\nfrom=a\n", "map.ini:9: " },
    { HEAD "[settings]\nheads=h\n", "map.ini:8: [settings] heads is not a setting" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      GError *error = NULL;
      g_auto (World) world = world_new (cases[i].map, "x", 1, 1, &error);
      CONTEXT ("%s", cases[i].map);

      CHECK (!world.published);
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].part);
    }
}

/* The maps that come with plait have a group for every parameter of their architectures. */
TEST_CASE (published, shipped_maps_are_for_every_parameter)
{
#define BOTH(key, value) "source.a." key "=" value, "decoder." key "=" value
  static const char *const bart[]
      = { BOTH ("positions", "learned"), BOTH ("attention_bias", "true"), BOTH ("embedding_norm", "true"),
          BOTH ("norm", "post"),         "decoder.output_bias=true",      "decoder.combiner=serial",
          "experiment.sources=a",        "decoder.tie_output=false",      NULL };
  static const char *const marian[]
      = { BOTH ("positions", "halves"), BOTH ("attention_bias", "true"),  BOTH ("norm", "post"),
          "decoder.output_bias=true",   "decoder.combiner=serial",        "experiment.sources=a",
          "data.vocabulary=separate",   "decoder.share_embeddings=false", NULL };
  static const char *const masked[] = { BOTH ("positions", "learned"),
                                        BOTH ("attention_bias", "true"),
                                        "source.a.embedding_norm=true",
                                        "decoder.norm=post",
                                        "decoder.tie_output=false",
                                        "predict.kind=masked",
                                        "data.target=a",
                                        "experiment.sources=a",
                                        "train.metric=",
                                        NULL };
  const struct
  {
    const char *name;
    const char *const *overrides;
    const char *prefix; /* prefix of parameters that the map must make */
  } maps[]
      = { { "bart", bart, "" }, { "marian", marian, "" }, { "roberta", bart, "source/" }, { "roberta", masked, "" } };
  const char *experiment = test_write_experiment ("tiny", NULL);
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();

  for (gsize i = 0; i < G_N_ELEMENTS (maps); i++)
    {
      g_autoptr (PlaitExperiment) loaded = test_load (experiment, maps[i].overrides, registry, NO_ERROR);
      g_autoptr (PlaitExperimentModel) experiment_model = NULL;
      g_autofree char *path = plait_registry_find_text (registry, PLAIT_NAME_MAP_FOLDER, maps[i].name, NO_ERROR);
      g_autoptr (PlaitNameMap) map = path ? plait_name_map_read (path, NO_ERROR) : NULL;
      PlaitParameters *parameters;
      CONTEXT ("%s", maps[i].name);

      REQUIRE (loaded && map);
      g_autoptr (PlaitRunInputs) run_inputs = plait_run_inputs_new (loaded, NULL, NULL, NULL, NULL, NO_ERROR);
      REQUIRE (run_inputs != NULL);
      experiment_model = plait_experiment_model_new (loaded, run_inputs, (gint64[]){ 0 }, NO_ERROR);
      REQUIRE (experiment_model != NULL);
      parameters = plait_model_parameters (experiment_model->model);
      CHECK (plait_parameters_n (parameters) > 20);
      for (guint k = 0; k < plait_parameters_n (parameters); k++)
        {
          const char *name = plait_parameters_get (parameters, k)->name;
          g_auto (PlaitParameterMapping) mapping = { 0 };

          CONTEXT ("%s", name);
          if (g_str_has_prefix (name, maps[i].prefix))
            CHECK (plait_name_map_find (map, name, &mapping));
        }
    }
}
