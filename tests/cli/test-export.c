/* SPDX-License-Identifier: MIT */
#include "call.h"
#include "experiments.h"
#include "files.h"
#include "harness.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "foreign/safetensors.h"
#include "hdf5/store.h"

/* Tests of plait export, and of experiments/to-ctranslate2.py, which reads its output. */

static const char experiment[]
    = SMALL_TRANSLATION (SMALL_SOURCE ("a") SMALL_SOURCE ("b"), "beam=1\nmaximum_length=6\n");

TEST_CASE (export_command, writes_all_parameters_bit_by_bit)
{
  plait_test_write ("small.ini", experiment);
  DONE (CALL ("run", "small.ini", "-q"));
  PlaitTestCall made = QUIET (CALL ("export", "small.h5", "-o", "small.safetensors", "-c", "last"));
  CHECK_STRING (made.output, "");

  g_autoptr (PlaitStore) store = plait_store_open (plait_test_path ("small.h5"), NO_ERROR);
  g_autoptr (PlaitSafetensors) file = plait_safetensors_open (plait_test_path ("small.safetensors"), NO_ERROR);
  REQUIRE (store && file);
  CHECK (plait_safetensors_n (file) > 20);
  for (guint i = 0; i < plait_safetensors_n (file); i++)
    {
      const PlaitSafetensor *tensor = plait_safetensors_get (file, i);
      g_autofree char *there = g_strconcat ("/checkpoint/last/parameters/", tensor->name, NULL);
      g_autofree PlaitScalar *ours = g_new (PlaitScalar, tensor->elements);
      g_autofree PlaitScalar *theirs = g_new (PlaitScalar, tensor->elements);

      CONTEXT ("%s", tensor->name);
      CHECK (plait_store_read (store, there, PLAIT_STORE_SCALAR, tensor->elements, ours, NO_ERROR));
      CHECK (plait_safetensors_read (file, tensor, 0, tensor->elements, theirs, NO_ERROR));
      CHECK (memcmp (ours, theirs, sizeof *ours * (gsize)tensor->elements) == 0);
    }
}

/* Runs to-ctranslate2.py with @arguments (NULL-terminated). */
static PlaitTestCall
convert (const char *const *arguments)
{
  const char *script = plait_test_source_path ("experiments/to-ctranslate2.py");
  g_autoptr (GPtrArray) words = g_ptr_array_new ();
  const char *const first[] = { "python3", "-B", script, "--plait", plait_test_build_path ("plait") };

  for (gsize i = 0; i < G_N_ELEMENTS (first); i++)
    g_ptr_array_add (words, (gpointer)first[i]);
  for (gsize i = 0; arguments[i]; i++)
    g_ptr_array_add (words, (gpointer)arguments[i]);
  g_ptr_array_add (words, NULL);
  return plait_test_call_command ((const char *const *)words->pdata);
}

#define CONVERT(...) convert ((const char *const[]){ __VA_ARGS__, NULL })

static guint
read_word (const guint8 **at, guint bytes)
{
  guint word = 0;

  for (guint i = 0; i < bytes; i++)
    word |= (guint)(*at)[i] << 8 * i;
  *at += bytes;
  return word;
}

static const char *
read_name (const guint8 **at)
{
  guint length = read_word (at, 2);
  const char *name = (const char *)*at;

  *at += length;
  return name;
}

/* Returns names, shapes and types of the variables of the CTranslate2 model whose bytes begin at @at, and its aliases.
 * (transfer full) */
static char *
describe_model (const guint8 *at)
{
  GString *text = g_string_new (NULL);
  guint version = read_word (&at, 4);
  const char *name = read_name (&at);
  guint n;

  g_string_append_printf (text, "%u %s %u\n", version, name, read_word (&at, 4));
  n = read_word (&at, 4);
  for (guint i = 0; i < n; i++)
    {
      guint rank;

      g_string_append_printf (text, "%s", read_name (&at));
      rank = read_word (&at, 1);
      for (guint k = 0; k < rank; k++)
        g_string_append_printf (text, " %u", read_word (&at, 4));
      g_string_append_printf (text, " %s\n", (const char *[]){ "float32", "int8", "int16" }[read_word (&at, 1)]);
      at += read_word (&at, 4);
    }
  n = read_word (&at, 4);
  for (guint i = 0; i < n; i++)
    {
      name = read_name (&at);
      g_string_append_printf (text, "%s = %s\n", name, read_name (&at));
    }
  return g_string_free (text, FALSE);
}

/* The variables are those that CTranslate2's TransformerSpec requires. experiments/peers/published.py checks that
 * CTranslate2 computes equal log-probabilities. */
TEST_CASE (export_command, writes_a_model_of_ctranslate2)
{
  static const char expected[] = "6 TransformerSpec 7\n"
                                 "encoder/num_heads int16\n"
                                 "encoder/activation int8\n"
                                 "encoder/pre_norm int8\n"
                                 "encoder/scale_embeddings float32\n"
                                 "encoder/embeddings_merge int8\n"
                                 "encoder/multi_query_attention int8\n"
                                 "encoder/position_encodings/encodings 50 8 float32\n"
                                 "encoder/layer_norm/gamma 8 float32\n"
                                 "encoder/layer_norm/beta 8 float32\n"
                                 "encoder/layer_0/self_attention/linear_0/weight 24 8 float32\n"
                                 "encoder/layer_0/self_attention/linear_1/weight 8 8 float32\n"
                                 "encoder/layer_0/ffn/linear_0/weight 12 8 float32\n"
                                 "encoder/layer_0/ffn/linear_0/bias 12 float32\n"
                                 "encoder/layer_0/ffn/linear_1/weight 8 12 float32\n"
                                 "encoder/layer_0/ffn/linear_1/bias 8 float32\n"
                                 "encoder/layer_0/self_attention/layer_norm/gamma 8 float32\n"
                                 "encoder/layer_0/self_attention/layer_norm/beta 8 float32\n"
                                 "encoder/layer_0/ffn/layer_norm/gamma 8 float32\n"
                                 "encoder/layer_0/ffn/layer_norm/beta 8 float32\n"
                                 "decoder/num_heads int16\n"
                                 "decoder/activation int8\n"
                                 "decoder/pre_norm int8\n"
                                 "decoder/scale_embeddings float32\n"
                                 "decoder/alignment_heads int16\n"
                                 "decoder/alignment_layer int16\n"
                                 "decoder/alibi int8\n"
                                 "decoder/alibi_use_positive_positions int8\n"
                                 "decoder/scale_alibi int8\n"
                                 "decoder/start_from_zero_embedding int8\n"
                                 "decoder/position_encodings/encodings 40 8 float32\n"
                                 "decoder/layer_norm/gamma 8 float32\n"
                                 "decoder/layer_norm/beta 8 float32\n"
                                 "decoder/layer_0/self_attention/linear_0/weight 24 8 float32\n"
                                 "decoder/layer_0/self_attention/linear_0/bias 24 float32\n"
                                 "decoder/layer_0/self_attention/linear_1/weight 8 8 float32\n"
                                 "decoder/layer_0/self_attention/linear_1/bias 8 float32\n"
                                 "decoder/layer_0/ffn/linear_0/weight 16 8 float32\n"
                                 "decoder/layer_0/ffn/linear_0/bias 16 float32\n"
                                 "decoder/layer_0/ffn/linear_1/weight 8 16 float32\n"
                                 "decoder/layer_0/ffn/linear_1/bias 8 float32\n"
                                 "decoder/layer_0/self_attention/layer_norm/gamma 8 float32\n"
                                 "decoder/layer_0/self_attention/layer_norm/beta 8 float32\n"
                                 "decoder/layer_0/ffn/layer_norm/gamma 8 float32\n"
                                 "decoder/layer_0/ffn/layer_norm/beta 8 float32\n"
                                 "decoder/layer_0/attention/linear_0/weight 8 8 float32\n"
                                 "decoder/layer_0/attention/linear_0/bias 8 float32\n"
                                 "decoder/layer_0/attention/linear_1/weight 16 8 float32\n"
                                 "decoder/layer_0/attention/linear_1/bias 16 float32\n"
                                 "decoder/layer_0/attention/linear_2/weight 8 8 float32\n"
                                 "decoder/layer_0/attention/linear_2/bias 8 float32\n"
                                 "decoder/layer_0/attention/layer_norm/gamma 8 float32\n"
                                 "decoder/layer_0/attention/layer_norm/beta 8 float32\n"
                                 "decoder/embeddings/weight 7 8 float32\n"
                                 "encoder/embeddings_0/weight = decoder/embeddings/weight\n"
                                 "decoder/projection/weight = decoder/embeddings/weight\n";
  const char *config = plait_test_path ("model/config.json");
  const char *source = plait_test_path ("model/source_vocabulary.json");
  g_autofree char *bytes = NULL, *settings = NULL, *words = NULL, *described = NULL;

  plait_test_write ("text", "b \"a\" b\nb é é\nb \"a\" é\n");
  plait_test_write ("small.ini",
                    "[data]\ntrain.a=text\ntrain.b=text\ntest.a=text\ntest.b=text\ntarget=b\n"
                    "vocabulary_type=words\n"
                    "[source a]\nencoder=transformer\nlayers=1\nheads=2\nfeed_forward=12\nposition_limit=50\n"
                    "[decoder]\ncombiner=parallel\nlayers=1\nwidth=8\nheads=4\nfeed_forward=16\n"
                    "position_limit=40\nattention_bias=true\nstart=eos\nnorm_epsilon=0.001\n"
                    "[train]\nupdates=1\n[evaluate]\nresamples=10\n");
  DONE (CALL ("run", "small.ini", "-q"));
  PlaitTestCall made = DONE (CONVERT ("small.h5", "-o", "model"));
  CHECK_REFUSED (CONVERT ("small.h5", "-o", "model"), "model/");
  CHECK_CONTAINS (made.errors, "has positions for 50 tokens of a source and 40 of a translation");
  REQUIRE (g_file_get_contents (plait_test_path ("model/model.bin"), &bytes, NULL, NULL)
           && g_file_get_contents (config, &settings, NULL, NULL)
           && g_file_get_contents (plait_test_path ("model/shared_vocabulary.json"), &words, NULL, NULL));
  described = describe_model ((const guint8 *)bytes);
  CHECK_STRING (described, expected);
  CHECK_STRING (words,
                "[\n  \" <pad>\",\n  \" <s>\",\n  \" </s>\",\n  \"<unk>\",\n  \"b\",\n  \"é\",\n  \"\\\"a\\\"\"\n]\n");
  CHECK_STRING (settings, "{\n  \"add_source_bos\": false,\n  \"add_source_eos\": true,\n  \"bos_token\": \" <s>\",\n"
                          "  \"decoder_start_token\": \" </s>\",\n  \"eos_token\": \" </s>\",\n"
                          "  \"layer_norm_epsilon\": 0.001,\n  \"multi_query_attention\": false,\n"
                          "  \"unk_token\": \"<unk>\"\n}\n");

  /* The script deletes an older file that CTranslate2 would read in place of the new vocabulary. */
  plait_test_write (source, "[]");
  DONE (CONVERT ("small.h5", "-o", "model", "--force"));
  CHECK (!plait_test_exists (source));
}

/* CTranslate2 finds special tokens by their names, which source and target share, so no text may contain these names.
 * With the names below, the scores of CTranslate2 4.8.5 equalled plait's. */
TEST_CASE (export_command, names_special_tokens_of_ctranslate2_as_no_text_is_spelt)
{
  static const struct
  {
    const char *set, *source, *target, *settings;
  } cases[] = {
    { "data.vocabulary_type=words", "[\n  \" <pad>\",\n  \" <s>\",\n  \" <</s>>\",\n  \"<<unk>>\",\n  \"b\"",
      "[\n  \" <pad>\",\n  \" <s>\",\n  \" <</s>>\",\n  \"<<unk>>\",\n  \"<unk>\"", "\"unk_token\": \"<<unk>>\"" },
    { "data.vocabulary_type=bpe", "[\n  \"<pad>\",\n  \"<s>\",\n  \"<</s>>\",\n  \"<<unk>>\",",
      "[\n  \"<pad>\",\n  \"<s>\",\n  \"<</s>>\",\n  \"<<unk>>\",", "\"eos_token\": \"<</s>>\"" },
  };
  const char *config = plait_test_path ("model/config.json");
  const char *source = plait_test_path ("model/source_vocabulary.json");
  const char *target = plait_test_path ("model/target_vocabulary.json");

  plait_test_write ("a", "b b <s> cd ef\nb <s> ef cd\n");
  plait_test_write ("b", "<unk> <unk> </s> <unk>\n<unk> </s> </s>\n");
  plait_test_write ("small.ini", "[data]\ntrain.a=a\ntrain.b=b\ntest.a=a\ntest.b=b\ntarget=b\nvocabulary=separate\n"
                                 "vocabulary_size=13\n" SMALL_SOURCE ("a") TINY_DECODER
                    "[train]\nupdates=1\n[evaluate]\nresamples=10\n");
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *settings = NULL, *of_source = NULL, *of_target = NULL;
      CONTEXT ("%s", cases[i].set);

      PlaitTestCall run = CALL ("run", "small.ini", "-q", "--force", "--set", cases[i].set);
      DONE (CONVERT ("small.h5", "-o", "model", "--force"));
      CHECK_STRING (run.errors, "");
      REQUIRE (g_file_get_contents (config, &settings, NULL, NULL)
               && g_file_get_contents (source, &of_source, NULL, NULL)
               && g_file_get_contents (target, &of_target, NULL, NULL));
      CHECK_CONTAINS (of_source, cases[i].source);
      CHECK_CONTAINS (of_target, cases[i].target);
      CHECK_CONTAINS (settings, cases[i].settings);
    }
}

/* Writes a vocab.json with a piece for each byte, spelled as GPT-2 does: unprintable bytes are characters from U+0100
 * on. */
static void
write_bytes (const char *name)
{
  g_autoptr (GString) text = g_string_new ("{\"<s>\":0,\"<pad>\":1,\"</s>\":2,\"<unk>\":3");
  guint others = 0;

  for (guint byte = 0; byte < 256; byte++)
    {
      gboolean prints = (byte > 32 && byte < 127) || (byte > 160 && byte != 173);

      g_string_append_printf (text, ",\"\\u%04x\":%u", prints ? byte : 256 + others++, 4 + byte);
    }
  plait_test_write (name, g_string_append_c (text, '}')->str);
}

/* The vocabulary of a published model says whether texts begin with a start token. */
TEST_CASE (export_command, begins_the_sources_of_ctranslate2_as_the_vocabulary_does)
{
  static const char *const kinds[] = { "bart", "gpt2" };
  const char *config = plait_test_path ("model/config.json");

  plait_test_make_folder ("published");
  write_bytes ("published/vocab.json");
  plait_test_write ("published/merges.txt", "#version: 0.2\n");
  plait_test_write ("text", "a b a\n");
  plait_test_write ("small.ini", "[data]\ntrain.a=text\ntrain.b=text\ntest.a=text\ntest.b=text\ntarget=b\n"
                                 "vocabulary.shared=words\n"
                                 "[source a]\nencoder=transformer\nlayers=1\nheads=2\nfeed_forward=12\n"
                                 "[decoder]\nlayers=1\nwidth=8\nheads=2\nfeed_forward=12\n"
                                 "[train]\nupdates=1\n[evaluate]\nresamples=10\n");
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *text
          = g_strdup_printf ("{\"model_type\": \"%s\", \"vocab_size\": 260, \"pad_token_id\": 1, \"bos_token_id\": 0, "
                             "\"eos_token_id\": 2}",
                             kinds[i]);
      CONTEXT ("%s", kinds[i]);

      plait_test_write ("published/config.json", text);
      PlaitTestCall words = CALL ("vocabulary", "--published", "published", "-o", "words", "--force", "-q");
      PlaitTestCall run = CALL ("run", "small.ini", "-q", "--force");
      DONE (CONVERT ("small.h5", "-o", "model", "--force"));
      CHECK_STRING (words.errors, "");
      CHECK_STRING (run.errors, "");
      const char *settings = plait_test_read_text (config);
      CHECK_CONTAINS (settings, i == 0 ? "\"add_source_bos\": true" : "\"add_source_bos\": false");
    }
}

/* Writes as many sinusoidal positions as --positions says, but not more learned positions than the run has. Warns that
 * CTranslate2 adds no start tokens to the sentences of documents. */
TEST_CASE (export_command, tells_the_limits_of_ctranslate2)
{
  const char *model = plait_test_path ("model/model.bin");
  g_autofree char *bytes = NULL, *described = NULL;

  plait_test_write ("text", "b a\nb\n\na\n\n");
  plait_test_write ("small.ini", "[data]\ntrain.a=text\ntrain.b=text\ntest.a=text\ntest.b=text\ntarget=b\n"
                                 "vocabulary_type=words\ndocuments=a;b\ndocument_length=90\ndocument_cut=truncate\n"
                                 "[source a]\nencoder=transformer\nlayers=1\nheads=2\nfeed_forward=12\n"
                                 "[decoder]\nlayers=1\nwidth=8\nheads=2\nfeed_forward=12\n"
                                 "positions=learned\nposition_limit=40\n"
                                 "[train]\nupdates=1\n[decode]\nbeam=1\nmaximum_length=4\n[evaluate]\nresamples=10\n");
  PlaitTestCall run = CALL ("run", "small.ini", "-q");
  CHECK_REFUSED (CONVERT ("small.h5", "-o", "model", "--positions=41"),
                 "it has 40 learned positions, so 41 cannot be written");
  CHECK_REFUSED (CONVERT ("small.h5", "-o", "model", "--positions=0"),
                 "--positions cannot be 0; expected an integer from 1 on");
  CHECK_STRING (run.errors, "");
  PlaitTestCall again = CALL ("run", "small.ini", "-q", "--force", "--set", "decoder.positions=interleaved");
  PlaitTestCall made = DONE (CONVERT ("small.h5", "-o", "model", "--positions=3000"));
  CHECK_STRING (again.errors, "");
  CHECK_CONTAINS (made.errors, "has positions for 3000 tokens of a source and 3000 of a translation");
  CHECK_CONTAINS (made.errors, "a holds documents: the model expects the bos_token of its config.json before each "
                               "sentence, including the first");
  CHECK_CONTAINS (made.errors, "b holds documents: the model expects the bos_token of its config.json before each "
                               "sentence except the first");
  CHECK_CONTAINS (made.errors,
                  "a holds documents: the converted model does not cut documents at data.document_length=90");
  REQUIRE (g_file_get_contents (model, &bytes, NULL, NULL));
  described = describe_model ((const guint8 *)bytes);
  CHECK_CONTAINS (described, "encoder/position_encodings/encodings 3000 8 float32\n");
  CHECK_CONTAINS (described, "decoder/position_encodings/encodings 3000 8 float32\n");

  /* A run that is also a file of the converted model is not replaced, even with --force. */
  CHECK (g_unlink (model) == 0 && link (plait_test_path ("small.h5"), model) == 0);
  CHECK_REFUSED (CONVERT ("model/model.bin", "-o", "model", "--force"),
                 "model.bin: is the same file as model/model.bin, which is read");
}

TEST_CASE (export_command, refuses_models_that_ctranslate2_has_not)
{
  static const struct
  {
    const char *set, *part, *encoder;
  } cases[] = {
    { "experiment.sources=a+b", "it reads several sources" },
    { "decoder.combiner=flat", "its combiner is neither serial nor parallel" },
    { "combiner.heads=1", "its combiner has other heads than its decoder" },
    { "source.a.layers=0", "its encoder has no layers" },
    { "decoder.coverage=word", "it has coverage" },
    { "decoder.self_attention=group", "its decoder has self_attention=group" },
    { "decoder.positions=rotary", "[decoder] has positions=rotary" },
    { "source.a.positions=alibi", "[source a] has positions=alibi" },
    { "decoder.window=2", "[decoder] has a window" },
    { "source.a.window=2", "[source a] has a window" },
    { "decoder.type=gru", "it has no decoder of type transformer" },
    { "decoder.layers=1", "its encoder is not transformer", "[source a]\nencoder=bigru\n" },
  };
  const char *folder = plait_test_path ("model");

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GString) text = g_string_new (experiment);
      CONTEXT ("%s", cases[i].set);

      if (cases[i].encoder)
        g_string_replace (text, SMALL_SOURCE ("a"), cases[i].encoder, 1);
      plait_test_write ("small.ini", text->str);
      PlaitTestCall run = CALL ("run", "small.ini", "-q", "--force", "--set", "experiment.sources=a", "--set",
                                cases[i].set, "--set", "train.updates=1", "--set", "data.generate.test=1");
      CHECK_REFUSED (CONVERT ("small.h5", "-o", "model"), cases[i].part);

      CHECK_STRING (run.errors, "");
      CHECK (!plait_test_exists (folder));
    }
}

TEST_CASE (export_command, refuses_what_it_cannot_do)
{
  plait_test_write ("small.ini", experiment);
  plait_test_write ("there.safetensors", "mine");
  DONE (CALL ("run", "small.ini", "-q"));
  CHECK_REFUSED (CALL ("export", "small.h5"), "--output is missing; name the file to write");
  CHECK_REFUSED (CALL ("export", "small.h5", "-o", "there.safetensors"), "there.safetensors");
  CHECK_REFUSED (CALL ("export", "small.h5", "-o", "small.h5", "--force"), "is the same file as small.h5");
  CHECK_REFUSED (CALL ("export", "small.ini", "-o", "new.safetensors"), "small.ini");
  CHECK_REFUSED (CALL ("export", "small.h5", "-o", "new.safetensors", "-c", "average"),
                 "there is no checkpoint \"average\"");
  CHECK_REFUSED (CALL ("export", "small.h5", "-o", "absent/new.safetensors"), "absent");

  CHECK (!plait_test_exists ("new.safetensors"));
}

/* Runs @code in Python with to-ctranslate2.py as module m, and with an empty m.Model as model. */
static PlaitTestCall
run_module (const char *code)
{
  g_autofree char *whole = g_strdup_printf ("import array, importlib.util\n"
                                            "spec = importlib.util.spec_from_file_location ('m', '%s')\n"
                                            "m = importlib.util.module_from_spec (spec)\n"
                                            "spec.loader.exec_module (m)\n"
                                            "model = m.Model ()\n%s",
                                            plait_test_source_path ("experiments/to-ctranslate2.py"), code);

  return plait_test_call_command ((const char *const[]){ "python3", "-B", "-c", whole, NULL });
}

/* The expected bytes are those that ctranslate2/specs/model_spec.py writes. */
TEST_CASE (export_command, writes_the_bytes_of_the_converters_of_ctranslate2)
{
  static const char expected[] = "\6\0\0\0"                /* binary version */
                                 "\x10\0TransformerSpec\0" /* name of the specification */
                                 "\7\0\0\0"                /* revision of the specification */
                                 "\5\0\0\0"                /* number of variables */
                                 "\2\0a\0\0\1\1\0\0\0\xfd"
                                 "\2\0b\0\0\2\2\0\0\0\xff\xff"
                                 "\2\0c\0\0\0\4\0\0\0\0\0\x80\x40"
                                 "\4\0d/e\0\2\2\0\0\0\2\0\0\0\0\x10\0\0\0" /* values [[1, 3], [2, 4]] */
                                 "\0\0\x80\x3f\0\0\x40\x40\0\0\0\x40\0\0\x80\x40"
                                 "\2\0f\0\1\2\0\0\0\0\x08\0\0\0\0\0\x80\x3f\0\0\0\x40"
                                 "\1\0\0\0" /* number of aliases */
                                 "\2\0g\0\4\0d/e";
  PlaitTestCall made = run_module ("model.add_number ('a', 'int8', -3)\n"
                                   "model.add_number ('b', 'int16', -1)\n"
                                   "model.add_number ('c', 'float32', 4)\n"
                                   "values = array.array ('f', [1, 2, 3, 4])\n"
                                   "model.add_tensor ('d/e', ((2, 2), values), transposed=True)\n"
                                   "model.add_tensor ('f', ((1, 2), values[:2]), 1)\n"
                                   "model.names.append (('g', 'd/e'))\n"
                                   "with open ('model.bin', 'wb') as stream:\n"
                                   "    model.write (stream)\n");
  g_autofree char *data = NULL;
  gsize size;

  CHECK_STRING (made.errors, "");
  REQUIRE (g_file_get_contents (plait_test_path ("model.bin"), &data, &size, NULL));
  CHECK_INT (size, sizeof expected);
  CHECK (size == sizeof expected && memcmp (data, expected, size) == 0);
}

TEST_CASE (export_command, refuses_what_the_sizes_of_ctranslate2_cannot_tell)
{
  CHECK_REFUSED (run_module ("model.add_tensor ('d/e', ((1 << 15, 1 << 15), None))\n"), "d/e has 4 GiB or more");
}
