/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "forge.h"
#include "hdf5/store.h"

/* Tests of translation and of --resume with runs whose digests are correct but whose contents are wrong. */

#define RESUME "run text.ini -q -r -o forged.h5 --set train.epochs=1000000"
#define TRANSLATE "translate forged.h5 -q -s a=test.a -s b=test.b -o new"

#define STATE "/checkpoint/last/state"
#define TIMES "/environment/training"
#define TABLE "/embedding/shared/table"

static void
forge_and_refuse (const char *from, const char *const *places, guint n, const char *command)
{
  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < forge_n_ways; k++)
      {
        CONTEXT ("%s is %s", places[i], forge_ways[k].name);

        forge (from, "forged.h5", places[i], forge_ways[k].write);
        REFUSED (command, "forged.h5");
      }
}

/* Replaces each object that a command reads by each kind of unexpected object. */
HOSTILE_CASE (hostile_forged, places_of_a_run)
{
  static const char *const places[]
      = { "/vocabulary", "/vocabulary/shared/model", "/checkpoint", ("/checkpoint/best/parameters" TABLE), "/plugins" };

  forge_and_refuse ("text.h5", places, G_N_ELEMENTS (places), TRANSLATE);
}

HOSTILE_CASE (hostile_forged, places_of_a_checkpoint)
{
  static const char *const places[] = {
    ("/checkpoint/last/parameters" TABLE),
    "/checkpoint/last/optimizer",
    STATE,
    "/training/updates",
    "/training/updates/step",
  };

  forge_and_refuse ("begun.h5", places, G_N_ELEMENTS (places), RESUME);
}

HOSTILE_CASE (hostile_forged, integers_of_a_checkpoint)
{
  static const struct
  {
    const char *name;
    gint64 value;
  } integers[] = {
    { "step", -1 },
    { "step", 0 },
    { "step", G_MININT64 },
    { "step", G_MAXINT64 },
    { "step", 1000000 },
    { "epoch", -1 },
    { "epoch", 100000 },
    { "epoch", G_MAXINT64 },
    { "position", -1 },
    { "position", 100000 },
    { "position", G_MAXINT64 },
    { "recent", -1 },
    { "recent", G_MAXINT64 },
    { "stale", -1 },
    { "target_tokens", -1 },
    { "target_tokens", G_MAXINT64 },
    { "sums.tokens", -1 },
    { "sums.sentences", G_MININT64 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (integers); i++)
    {
      CONTEXT ("%s=%jd", integers[i].name, integers[i].value);

      forge_integer ("begun.h5", "forged.h5", STATE, integers[i].name, integers[i].value);
      REFUSED (RESUME, plait_test_format ("forged.h5:" STATE ": |%s ", integers[i].name));
    }
  /* The state says update 0, but the log has rows of updates. */
  forge_integer ("begun.h5", "forged.h5", STATE, "step", 0);
  forge_integer ("forged.h5", "forged.h5", STATE, "epoch", 0);
  forge_integer ("forged.h5", "forged.h5", STATE, "position", 0);
  REFUSED (RESUME, "forged.h5:/training/updates: has |rows; expected at most 0");
}

#define METRIC "/training/validation/metric"

/* Writes two scores as old versions did: negated if smaller is better, without the attribute that says which is
 * better. */
static void
write_negative_metric (hid_t file, const char *path)
{
  static const double scores[] = { -80, -70 };
  const hsize_t n = G_N_ELEMENTS (scores);
  hid_t space = H5Screate_simple (1, &n, NULL);
  hid_t data = H5Dcreate2 (file, path, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);

  CHECK (data >= 0 && H5Dwrite (data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, scores) >= 0);
  H5Dclose (data);
  H5Sclose (space);
}

/* A run of an old version resumes, and its scores keep their meaning. */
HOSTILE_CASE (hostile_forged, a_run_of_before_has_its_metric_turned_round)
{
  const char *run = "run text.ini -q -o old.h5 --set train.metric=ter --set train.best_by=metric "
                    "--set train.validate_every=0 --set train.epochs=2";
  DONE (ATTEMPT (run));
  gint64 larger = 1, n = 0;

  forge ("old.h5", "old.h5", METRIC, write_negative_metric);
  QUIET (ATTEMPT (plait_test_format ("%.*s3 --resume", (int)strlen (run) - 1, run)));
  g_autoptr (PlaitStore) store = plait_store_open (plait_test_path ("old.h5"), NULL);
  REQUIRE (store != NULL);
  g_autofree double *metric = plait_store_read_array (store, METRIC, PLAIT_STORE_DOUBLE, 10, &n, NULL);
  REQUIRE (metric && n == 3);
  CHECK_NEAR (metric[0], 80, 0);
  CHECK_NEAR (metric[1], 70, 0);
  CHECK (metric[2] >= 0);
  CHECK (plait_store_get_int (store, METRIC, "larger_is_better", &larger, NULL));
  CHECK_INT (larger, 0);
}

HOSTILE_CASE (hostile_forged, reals_of_a_checkpoint)
{
  static const struct
  {
    const char *place;
    const char *name;
    double value;
  } reals[] = {
    { STATE, "sums.loss", INFINITY }, { STATE, "learning_rate", -0.1 }, { STATE, "gradient_norm", -INFINITY },
    { TIMES, "seconds", NAN },        { TIMES, "seconds", -1 },         { TIMES, "sums.seconds", NAN },
  };

  for (guint i = 0; i < G_N_ELEMENTS (reals); i++)
    {
      CONTEXT ("%s=%g", reals[i].name, reals[i].value);

      forge_real ("begun.h5", "forged.h5", reals[i].place, reals[i].name, reals[i].value);
      REFUSED (RESUME, plait_test_format ("forged.h5:%s: %s is ", reals[i].place, reals[i].name));
    }
}

HOSTILE_CASE (hostile_forged, parameters)
{
  static const struct
  {
    const char *file;
    const char *place;
    const char *command;
    double value;
  } values[] = {
    { "text.h5", "/checkpoint/best/parameters", TRANSLATE, NAN },
    { "text.h5", "/checkpoint/best/parameters", TRANSLATE, INFINITY },
    { "begun.h5", "/checkpoint/last/parameters", RESUME, NAN },
    { "begun.h5", "/checkpoint/last/optimizer/first", RESUME, NAN },
    { "begun.h5", "/checkpoint/last/optimizer/first", RESUME, -INFINITY },
    { "begun.h5", "/checkpoint/last/optimizer/second", RESUME, NAN },
    { "begun.h5", "/checkpoint/last/optimizer/second", RESUME, -1e-30 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    {
      g_autofree char *place = g_strconcat (values[i].place, TABLE, NULL);
      CONTEXT ("%s is %g", place, values[i].value);

      forge_values (values[i].file, "forged.h5", place, values[i].value);
      REFUSED (values[i].command, plait_test_format ("forged.h5: %s|undefined or out of range", place));
    }
  /* Parameters this large may give any result, but the command must end without a crash. */
  forge_values ("text.h5", "forged.h5", "/checkpoint/best/parameters" TABLE, 3e38);
  attempt_refused_or_done (TRANSLATE, NULL, "");
}

HOSTILE_CASE (hostile_forged, header)
{
  forge_integer ("begun.h5", "forged.h5", "/", "training_key", 3);
  REFUSED (RESUME, "forged.h5: the attribute 'training_key' of /");
  forge_integer ("begun.h5", "forged.h5", "/", "status", 3);
  REFUSED (RESUME, "forged.h5: the attribute 'status' of /");
}

HOSTILE_CASE (hostile_forged, experiment)
{
  g_autofree char *long_name = g_strnfill (60000, 'x');
  const char *const texts[] = {
    "",
    "nothing of a key file",
    "[experiment]\n",
    "[experiment]\nname=\xff\xfe\n",
    "[experiment]\nname=\x1b[2J\n\x1b=1\n",
    plait_test_format ("[experiment]\n%s=", long_name),
    "[experiment]\nname=x\n[data]\ntarget=t\n[source a]\nencoder=nowhere\n[decoder]\n",
    "[experiment]\nname=x\n[data]\ntarget=t\ntrain.a=/etc/passwd\n[source ../a]\nencoder=transformer\n[decoder]\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      CONTEXT ("text %u", i);

      forge_string ("text.h5", "forged.h5", "/", "experiment", texts[i]);
      REFUSED (TRANSLATE, "forged.h5");
      REFUSED ("score forged.h5 -q -s a=test.a -s b=test.b --target test.target", "forged.h5");
      REFUSED ("adversarial forged.h5 -q", "forged.h5");
    }
}

/* Returns the experiment text that text.h5 stores. (transfer full) */
static char *
stored_experiment (void)
{
  g_autoptr (PlaitStore) run = plait_store_open (plait_test_path ("text.h5"), NULL);

  return run ? plait_store_get_string (run, "/", "experiment", NULL) : g_strdup ("");
}

/* Returns @text with each @old replaced by @new_text. (transfer full) */
static char *
replaced (const char *text, const char *old, const char *new_text)
{
  g_auto (GStrv) parts = g_strsplit (text, old, -1);

  CHECK (g_strv_length (parts) > 1);
  return g_strjoinv (new_text, parts);
}

/* The settings that the run stores do not fit the parameters that it stores. */
HOSTILE_CASE (hostile_forged, settings)
{
  static const char *const changes[][2] = {
    { "width=8", "width=16" },
    { "feed_forward=8", "feed_forward=16" },
    { "layers=1", "layers=2" },
    { "combiner=hierarchical", "combiner=serial" },
  };

  g_autofree char *text = stored_experiment ();
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      CONTEXT ("%s", changes[i][1]);
      g_autofree char *changed = replaced (text, changes[i][0], changes[i][1]);

      forge_string ("text.h5", "forged.h5", "/", "experiment", changed);
      REFUSED (TRANSLATE, "forged.h5");
    }
  /* a model that would take terabytes of memory */
  g_autofree char *wide = replaced (text, "width=8", "width=16384");
  g_autofree char *wider = replaced (wide, "feed_forward=8", "feed_forward=131072");
  g_autofree char *deep = replaced (wider, "layers=1", "layers=64");
  forge_string ("text.h5", "forged.h5", "/", "experiment", deep);
  attempt_refused_with (TRANSLATE, NULL, 1, "forged.h5: there is no memory for");
}

static void
write_bytes (hid_t file, const char *path, gconstpointer bytes, gsize length)
{
  const hsize_t shape[] = { length };
  hid_t space = H5Screate_simple (1, shape, NULL);
  hid_t data = H5Dcreate2 (file, path, H5T_STD_U8LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);

  CHECK (data >= 0 && (length == 0 || H5Dwrite (data, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0));
  H5Dclose (data);
  H5Sclose (space);
}

static void
write_small_vocabulary (hid_t file, const char *path)
{
  static const char text[] = "plait words 1\na 3\nb 1\n";

  write_bytes (file, path, text, strlen (text));
}

static void
write_no_vocabulary (hid_t file, const char *path)
{
  write_bytes (file, path, NULL, 0);
}

static void
write_random_vocabulary (hid_t file, const char *path)
{
  guint8 bytes[3000];

  for (guint i = 0; i < sizeof bytes; i++)
    bytes[i] = (guint8)(i * 2654435761u >> 13);
  write_bytes (file, path, bytes, sizeof bytes);
}

static void
write_other_vocabulary (hid_t file, const char *path)
{
  g_autoptr (GBytes) bytes = plait_test_read ("pieces.model");

  write_bytes (file, path, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
}

HOSTILE_CASE (hostile_forged, vocabulary)
{
  static const ForgeWrite others[]
      = { write_small_vocabulary, write_no_vocabulary, write_random_vocabulary, write_other_vocabulary };
  static const char *const formats[] = { "words", "sentencepiece", "../words", "" };

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    for (guint k = 0; k < G_N_ELEMENTS (formats); k++)
      {
        CONTEXT ("way %u, format '%s'", i, formats[k]);

        forge ("text.h5", "forged.h5", "/vocabulary/shared/model", others[i]);
        forge_string ("forged.h5", "forged.h5", "/vocabulary/shared", "format", formats[k]);
        REFUSED (TRANSLATE, "forged.h5");
      }
}

/* Tests of the head rules that a run stores for its trees. */

#define HEAD_RULES "/trees/head_rules"
#define TRANSLATE_TREES "translate forged.h5 -q -s a=reorder/test.a -s a.trees=reorder/test.a.trees -o new"

HOSTILE_CASE (hostile_forged, place_of_head_rules)
{
  static const char *const places[] = { "/trees", HEAD_RULES };

  forge_and_refuse ("trees.h5", places, G_N_ELEMENTS (places), TRANSLATE_TREES);
}

static const char *rules_text; /* text that write_rules writes */

static void
write_rules (hid_t file, const char *path)
{
  write_bytes (file, path, rules_text, strlen (rules_text));
}

HOSTILE_CASE (hostile_forged, head_rules)
{
  g_autofree char *long_name = g_strnfill (100000, 'x');
  const char *const texts[] = {
    "nothing of a key file",
    "[rules]\nNP=left\n",
    "[head-rules]\nsummary=x\nother=up\n[rules]\n",
    "[head-rules]\nsummary=x\nother=left\n[rules]\nNP=\n",
    "[head-rules]\nsummary=x\nother=left\n[rules]\nNP=right NN; down\n",
    "[head-rules]\nsummary=x\nother=left\n[rules]\nNP=left\nNP=left\n",
    "[head-rules]\nsummary=\x1b[2J\n[\x1b]\n",
    "[head-rules]\nsummary=\xff\xfe\n",
    plait_test_format ("[head-rules]\nsummary=x\nother=left\n[rules]\nNP=up %s", long_name),
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      CONTEXT ("%.100s", texts[i]);

      rules_text = texts[i];
      forge ("trees.h5", "forged.h5", HEAD_RULES, write_rules);
      REFUSED (TRANSLATE_TREES, "forged.h5:" HEAD_RULES);
      REFUSED ("adversarial forged.h5 -q", "forged.h5:" HEAD_RULES);
    }
}

HOSTILE_CASE (hostile_forged, newer_format)
{
  static const char *const commands[]
      = { TRANSLATE, "show forged.h5", "run text.ini -q -r -o forged.h5", "report forged.h5 -q -o new" };

  plait_test_copy ("text.h5", "forged.h5");
  forge_seal ("forged.h5", PLAIT_STORE_FORMAT + 1);
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    REFUSED (commands[i],
             "forged.h5: has format 3, but this plait reads format 2; use the plait that wrote it or a newer one");
  forge_seal ("forged.h5", G_MAXINT32);
  REFUSED (TRANSLATE, "forged.h5: has format 2147483647");
}
