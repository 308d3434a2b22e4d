/* SPDX-License-Identifier: MIT */
#include "weights/published-settings.h"

#include <string.h>

#include "files.h"
#include "harness.h"
#include "loading/registry.h"
#include "runs.h"

/* Tests of settings that differ from those of published weights although the shapes fit. */

static gboolean
takes (gconstpointer refused, const char *prefix)
{
  return g_strcmp0 (refused, prefix) != 0;
}

/* The tiny experiment has two heads, ReLU, pre-norm, sinusoidal positions and scaled embeddings. The published settings
 * that differ are reported. */
TEST_CASE (published_settings, are_told_where_they_differ)
{
  static const char equal[] = "[settings]\nsource.heads=h:2\nsource.activation=:relu\ndecoder.norm=:pre\n"
                              "source.norm=:pre\ndecoder.scale_embeddings=s:true\ndecoder.norm_epsilon=:0.000001\n"
                              "source.nothing=:1\ndecoder.start=:bos\n[config]\nafter=false\n";
  const struct
  {
    const char *map, *config, *refused;
    guint n;
    const char *part;
  } cases[] = {
    { equal, NULL, NULL, 0, NULL },
    { equal, "{\"h\": 2, \"s\": true, \"after\": false}", NULL, 0, NULL },
    { equal, "{\"h\": null}", NULL, 0, NULL },
    { equal, "{\"h\": 4}", NULL, 2, "has source.a.heads=4 and this model 2" },
    { equal, "{\"h\": 4}", "source/a/", 1, "has source.b.heads=4 and this model 2" },
    { equal, "{\"s\": false}", "decoder/", 1, "has decoder.scale_embeddings=false and this model true" },
    { equal, "{\"after\": true}", NULL, 1, "config.json beside it has after=true, but the map is for false" },
    { "pad=last\neos=0\n", "{\"pad_token_id\": 9, \"eos_token_id\": 0, \"vocab_size\": 10}", NULL, 0, NULL },
    { "pad=last\nbos=none\n", "{\"pad_token_id\": 9, \"bos_token_id\": 0, \"vocab_size\": 10}", NULL, 0, NULL },
    { "pad=last\n", "{\"pad_token_id\": 9, \"vocab_size\": 10, \"decoder_vocab_size\": 12}", NULL, 1,
      "has pad_token_id=9, but the map takes row 11 of decoder_vocab_size=12" },
    { "eos=2\n", "{\"eos_token_id\": 1, \"vocab_size\": 10}", NULL, 1, "has eos_token_id=1, but the map takes row 2" },
    { "[settings]\ndecoder.activation=a\n", NULL, NULL, 0, NULL },
    { "[settings]\ndecoder.activation=a\n", "{\"a\": \"relu\"}", NULL, 0, NULL },
    { "[settings]\ndecoder.activation=a\n", "{\"a\": \"gelu_new\"}", NULL, 1, "decoder.activation=gelu_tanh and this" },
    { "[settings]\ndecoder.activation=a\n", "{\"a\": \"silu\"}", "decoder/", 0, NULL },
    { "[settings]\nsource.norm=:post\n", NULL, "source/b/", 1, "has source.a.norm=post and this model pre" },
    { "[settings]\ndecoder.norm_epsilon=e:1e-5\n", "{\"e\": 1e-6}", NULL, 0, NULL },
    { "[settings]\ndecoder.norm_epsilon=e:1e-5\n", NULL, NULL, 1, "has decoder.norm_epsilon=1e-5 and" },
  };
  const char *experiment = test_write_experiment_of_two ("tiny", NULL);
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autoptr (PlaitExperiment) loaded = test_load (experiment, NULL, registry, NO_ERROR);
  const char *weights = plait_test_path ("w.safetensors");
  const char *config = plait_test_path ("config.json");
  const char *path = plait_test_path ("settings.ini");

  REQUIRE (loaded != NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (PlaitNameMap) map = NULL;
      g_auto (GStrv) told = NULL;
      CONTEXT ("case %d", (int)i);

      plait_test_write (path, plait_test_format ("[weights]\n%s", cases[i].map));
      plait_test_write (config, cases[i].config ? cases[i].config : "no JSON");
      map = plait_name_map_read (path, NO_ERROR);
      REQUIRE (map != NULL);
      told = plait_published_other_settings (weights, map, loaded, takes, cases[i].refused);
      CHECK_INT (g_strv_length (told), cases[i].n);
      if (cases[i].part && told[0])
        CHECK_CONTAINS (told[0], cases[i].part);
    }
}
