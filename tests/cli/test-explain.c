/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "call.h"
#include "files.h"
#include "harness.h"

/* Tests of plait explain. */

static const char text[] = "[data]\n"
                           "vocabulary_size=20\n"
                           "target=c\n"
                           "[source a]\n"
                           "encoder=bigru\n"
                           "[source b]\n"
                           "encoder=transformer\n"
                           "layers=2\n"
                           "heads=2\n"
                           "feed_forward=24\n"
                           "[decoder]\n"
                           "combiner=hierarchical\n"
                           "layers=3\n"
                           "width=16\n"
                           "heads=2\n"
                           "feed_forward=24\n";

/* Returns the JSON from the name of @component to the next "token_of"; NULL if one is missing. (transfer full) */
static char *
part_of (const char *json, const char *component)
{
  g_autofree char *head = g_strdup_printf ("\"component\": \"%s\"", component);
  const char *start = json ? strstr (json, head) : NULL, *end = start ? strstr (start, "\"token_of\"") : NULL;

  return end ? g_strndup (start, (gsize)(end - start)) : NULL;
}

/* Counts made by hand. A GRU with 8 units in each direction reads rows of width 16. It has no attention, whose cost
 * would depend on the length. */
TEST_CASE (explain_command, counts_parameters_and_operations)
{
  static const char key[] = "\"parameters\": ";
  gint64 total = -1, sum = 0;

  plait_test_write ("explained.ini", text);
  PlaitTestCall call = DONE (CALL ("explain", "explained.ini", "--json"));
  g_autofree char *a = part_of (call.output, "source a"), *prediction = part_of (call.output, "prediction");
  CHECK_CONTAINS (call.output, "\"training_precision\": \"float\",");
  CHECK_CONTAINS (a, "\"plugin\": \"bigru\"");
  CHECK_CONTAINS (a, "\"parameters\": 1200,");           /* 2 * (16 * 24 + 24 + 8 * 16 + 8 * 8) */
  CHECK_CONTAINS (a, "\"multiply_adds_a_token\": 1152"); /* 2 * (16 * 24 + 8 * 16 + 8 * 8) */
  CHECK_CONTAINS (prediction, "\"multiply_adds_a_token\": 320");
  /* The first number of parameters in the output is that of the model; the others must add up to it. */
  for (const char *place = strstr (call.output, key); place; place = strstr (place + 1, key))
    {
      gint64 n = g_ascii_strtoll (place + strlen (key), NULL, 10);

      if (total < 0)
        total = n;
      else
        sum += n;
    }
  CHECK_INT (sum, total);
  CHECK (total > 1200);
}

TEST_CASE (explain_command, prints_equations_and_shapes)
{
  plait_test_write ("explained.ini", text);
  PlaitTestCall call = DONE (CALL ("explain", "explained.ini"));
  PlaitTestCall other
      = DONE (CALL ("explain", "explained.ini", "--set", "decoder.type=gru", "--set", "decoder.coverage=word", "--set",
                    "decoder.combiner=flat", "--set", "train.precision=bfloat16_emulated"));

  CHECK_CONTAINS (call.output, "Source a: bigru\n  Equations ");
  CHECK_CONTAINS (call.output, "c_i = attend_i (q), over each memory i");
  CHECK_CONTAINS (call.output, "in each layer: x <- residual (x, self_attention (normalise (x)))");
  CHECK_CONTAINS (call.output, "layer/*/feed_forward/inner/weight [16, 24], 3 times");
  CHECK_CONTAINS (call.output, "Memory        b [rows, 16]");
  CHECK_CONTAINS (other.output, "Coverage: word");
  CHECK_CONTAINS (other.output, "Training multiplies by weights in bfloat16_emulated.");
  CHECK_CONTAINS (other.output, "s = cell (s', [y, c])");
}

/* The embedding table is tied. For p_gen the pointer output multiplies three rows of width 16 by a column, and for the
 * shares of two sources by two columns more. */
TEST_CASE (explain_command, explains_outputs)
{
  plait_test_write ("explained.ini", text);
  PlaitTestCall softmax = DONE (CALL ("explain", "explained.ini"));
  PlaitTestCall pointer
      = DONE (CALL ("explain", "explained.ini", "--set", "decoder.output=pointer", "--set", "decoder.combiner=serial"));
  PlaitTestCall json = DONE (CALL ("explain", "explained.ini", "--json", "--set", "decoder.output=pointer", "--set",
                                   "decoder.combiner=serial"));
  g_autofree char *prediction = part_of (json.output, "prediction"), *decoder = part_of (json.output, "decoder");

  CHECK_CONTAINS (softmax.output, "Prediction: softmax\n  Equations     p (v) = softmax (T s + b)_v\n");
  CHECK_CONTAINS (pointer.output, "Prediction: pointer\n  Equations     p_gen = sigmoid (");
  CHECK_CONTAINS (pointer.output, "gate/context/weight [16, 1]\n");
  CHECK_CONTAINS (prediction, "\"plugin\": \"pointer\"");
  CHECK_CONTAINS (prediction, "\"parameters\": 147,");           /* 3 * 16 * 3 + 3 */
  CHECK_CONTAINS (prediction, "\"multiply_adds_a_token\": 464"); /* 20 * 16 + 3 * 16 * 3 */
  CHECK (!strstr (decoder, "gate"));
}

/* Models without a decoder draw no target. Each equation has a line of its own. */
TEST_CASE (explain_command, explains_models_without_decoder)
{
  static const struct
  {
    const char *kind, *equations;
  } cases[] = {
    { "class", "state = tanh ([row (memory_1), .., row (memory_n)] W + b)\n" },
    { "number", "number = state v + b\n" },
    { "tags", "state = tanh ([h, row (memory_2), .., row (memory_n)] W + b) of each token of the" },
  };

  plait_test_write ("explained.ini", "[data]\nvocabulary_size=20\ntarget=c\n[source a]\nencoder=bigru\n"
                                     "[source b]\nencoder=bigru\n[decoder]\nwidth=16\n");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *kind = g_strdup_printf ("predict.kind=%s", cases[i].kind);
      PlaitTestCall call = DONE (CALL ("explain", "explained.ini", "--set", kind));

      CONTEXT ("%s", kind);
      CHECK_CONTAINS (call.output, "multiply-adds per token of b\n");
      CHECK_CONTAINS (call.output, cases[i].equations);
    }
}

TEST_CASE (explain_command, refuses)
{
  plait_test_write ("explained.ini", text);
  CHECK_REFUSED (
      CALL ("explain", "explained.ini", "--set", "data.vocabulary_size=0", "--set", "data.vocabulary_type=words"),
      "data.vocabulary_size=0 keeps all words of the text, but this command reads no text");
}
