/* SPDX-License-Identifier: MIT */
#include "examples.h"

#include "files.h"
#include "harness.h"
#include "runs.h"

const char example_text[] = "[experiment]\n"           /* 1 */
                            "seed=7\n"                 /* 2 */
                            "[data]\n"                 /* 3 */
                            "folder=text\n"            /* 4 */
                            "target=cs\n"              /* 5 */
                            "vocabulary_size=500\n"    /* 6 */
                            "train.en=train.en\n"      /* 7 */
                            "train.de=train.de\n"      /* 8 */
                            "train.image=train.h5\n"   /* 9 */
                            "train.cs=train.cs\n"      /* 10 */
                            "test2016.en=test.en\n"    /* 11 */
                            "test2016.de=test.de\n"    /* 12 */
                            "test2016.image=test.h5\n" /* 13 */
                            "test2016.cs=test.cs\n"    /* 14 */
                            "[source en]\n"            /* 15 */
                            "encoder=transformer\n"    /* 16 */
                            "layers=4\n"               /* 17 */
                            "[source de]\n"            /* 18 */
                            "encoder=transformer\n"    /* 19 */
                            "[source image]\n"         /* 20 */
                            "encoder=features\n"       /* 21 */
                            "dataset=/conv\n"          /* 22 */
                            "[decoder]\n"              /* 23 */
                            "combiner=hierarchical\n"  /* 24 */
                            "width=256\n"              /* 25 */
                            "[combiner]\n"             /* 26 */
                            "context_heads=4\n"        /* 27 */
                            "[train]\n"                /* 28 */
                            "epochs=3\n"               /* 29 */
                            "[decode]\n"               /* 30 */
                            "beam=4\n"                 /* 31 */
                            "[evaluate]\n"             /* 32 */
                            "metrics=bleu;chrf\n";     /* 33 */

PlaitRegistry *
example_registry (void)
{
  g_autofree char *built = plait_test_build_path ("plugins");
  g_autofree char *odd = plait_test_path ("plugins");

  plait_test_write ("plugins/combiner/recurrent.ini",
                    "[plugin]\nname=recurrent\nkind=combiner\ninterface=2\nsummary=S\n"
                    "[requires]\ndecoder=gru;lstm\n");
  plait_test_write ("plugins/combiner/downwards.ini",
                    "[plugin]\nname=downwards\nkind=combiner\ninterface=2\nsummary=S\n"
                    "[requires]\nstructure=levels\n");
  plait_test_write ("plugins/encoder/treeful.ini", "[plugin]\nname=treeful\nkind=encoder\ninterface=2\nsummary=S\n"
                                                   "input=tokens\n[requires]\nstructure=tree\n");
  plait_test_write ("plugins/encoder/recurrent.ini", "[plugin]\nname=recurrent\nkind=encoder\ninterface=2\nsummary=S\n"
                                                     "input=tokens\n[requires]\ndecoder=gru\n");
  plait_test_write ("plugins/encoder/needy.ini",
                    "[plugin]\nname=needy\nkind=encoder\ninterface=2\nsummary=S\ninput=tokens\n"
                    "[parameter.size]\ntype=integer\nsummary=Size\n");
  plait_test_write ("plugins/encoder/greedy.ini",
                    "[plugin]\nname=greedy\nkind=encoder\ninterface=2\nsummary=S\ninput=tokens\n"
                    "[parameter.stream]\ntype=text\ndefault=\nsummary=Stream\n");
  plait_test_write ("plugins/encoder/forest.ini", "[plugin]\nname=forest\nkind=encoder\ninterface=2\nsummary=S\n"
                                                  "input=tokens\nstreams=trees\n");
  plait_test_write ("plugins/encoder/reader.ini", "[plugin]\nname=reader\nkind=encoder\ninterface=2\nsummary=S\n"
                                                  "input=documents\n");
  return plait_registry_new_for_folders ((const char *[]){ odd, built, NULL });
}

static void
write_data (void)
{
  static const char *const names[]
      = { "train.en", "train.de", "train.cs", "train.h5", "test.en", "test.de", "test.cs", "test.h5" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *name = g_strconcat ("text/", names[i], NULL);
      plait_test_write (name, "a\n");
    }
}

PlaitExperiment *
example_load (PlaitRegistry *registry, const char *text, const char *const *overrides, GError **error)
{
  g_autofree char *path = plait_test_path ("example.ini");

  write_data ();
  plait_test_write ("example.ini", text);
  return test_load (path, overrides, registry, error);
}
