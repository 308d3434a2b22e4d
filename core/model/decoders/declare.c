/* SPDX-License-Identifier: MIT */
#include "decoders/decoding.h"

#include "layers/internal.h"
#include "layers/parameter-set.h"

/* Functions that a decoder plugin calls in build to declare its primitives. The first fault is stored; later calls
 * continue. */

static void fault (PlaitDecoding *decoding, PlaitErrorCode code, const char *format, ...) G_GNUC_PRINTF (3, 4);

static void
fault (PlaitDecoding *decoding, PlaitErrorCode code, const char *format, ...)
{
  va_list arguments;

  if (decoding->fault)
    return;
  va_start (arguments, format);
  decoding->fault = g_error_new_valist (PLAIT_ERROR, (gint)code, format, arguments);
  va_end (arguments);
  g_prefix_error (&decoding->fault, "%s: ", decoding->decoder->components.decoder->label);
}

static const char *const kind_names[] = {
  [PLAIT_PRIMITIVE_ATTEND] = "self-attention", [PLAIT_PRIMITIVE_CROSS] = "cross-attention",
  [PLAIT_PRIMITIVE_CONVOLVE] = "convolution",  [PLAIT_PRIMITIVE_SCAN] = "linear recurrence",
  [PLAIT_PRIMITIVE_RECUR] = "recurrence",      [PLAIT_PRIMITIVE_CARRIED] = "carried rows",
};

gboolean
plait_decoding_expect_phase (PlaitDecoding *decoding, const char *call, guint phases)
{
  static const char *const names[] = {
    [PLAIT_DECODING_BUILD] = "build",
    [PLAIT_DECODING_BEGIN] = "begin",
    [PLAIT_DECODING_DECODE] = "decode",
    [PLAIT_DECODING_STEP] = "the step of plait_decoding_steps",
  };
  const char *here = names[decoding->phase], *there;

  if (phases & PLAIT_DECODING_IN (decoding->phase))
    return TRUE;
  there = names[g_bit_nth_lsf (phases, -1)];
  if (decoding->phase != PLAIT_DECODING_BUILD)
    plait_tape_fail (decoding->tape, "calls %s in %s: call it in %s", call, here, there);
  fault (decoding, PLAIT_ERROR_PLUGIN, "calls %s in build: call it in %s", call, there);
  return FALSE;
}

const PlaitPrimitive *
plait_decoding_primitive (PlaitDecoding *decoding, const char *call, guint phases, PlaitPrimitiveKind kind,
                          guint number)
{
  const PlaitDecoder *decoder = decoding->decoder;

  if (!plait_decoding_expect_phase (decoding, call, phases))
    return NULL;
  if (number >= decoder->n_primitives || decoder->primitives[number].kind != kind)
    plait_tape_fail (decoding->tape,
                     "%s: %u is not the number of %sdeclared %s: use the number that the declaration returned in build",
                     call, number, kind == PLAIT_PRIMITIVE_CARRIED ? "" : "a ", kind_names[kind]);
  return &decoder->primitives[number];
}

const PlaitPrimitive *
plait_decoding_call (PlaitDecoding *decoding, const char *call, guint phases, PlaitPrimitiveKind kind, guint number)
{
  const PlaitPrimitive *primitive = plait_decoding_primitive (decoding, call, phases, kind, number);

  if (!primitive)
    return NULL;
  if (decoding->called[number])
    plait_tape_fail (decoding->tape, "%s: called twice for the %s %u in one pass: declare a second one", call,
                     kind_names[kind], number);
  decoding->called[number] = TRUE;
  return primitive;
}

void
plait_decoding_expect_calls (PlaitDecoding *decoding, const guint8 *called)
{
  const PlaitDecoder *decoder = decoding->decoder;

  for (guint i = 0; i < decoder->n_primitives; i++)
    if (called[i] != decoding->called[i])
      plait_tape_fail (decoding->tape, "uses the %s %u in some steps of a %s only: use it in each step",
                       kind_names[decoder->primitives[i].kind], i, decoding->search ? "search" : "target");
}

void
plait_decoding_expect_cross (PlaitDecoding *decoding)
{
  const PlaitDecoder *decoder = decoding->decoder;

  if (plait_ragged_rows (decoding->rows) == 0)
    return;
  for (guint i = 0; i < decoder->n_primitives; i++)
    if (decoder->primitives[i].kind == PLAIT_PRIMITIVE_CROSS && !decoding->called[i])
      plait_tape_fail (decoding->tape,
                       "declares cross-attention %u and does not call plait_decoding_cross for it: call it in each "
                       "pass, or do not declare it",
                       decoder->primitives[i].layer);
}

/* Returns a new primitive of @kind, which the plugin declares by @call. If there are PLAIT_DECODER_MAX_PRIMITIVES
 * already, stores a fault and does not count the new one. */
static PlaitPrimitive *
add (PlaitDecoding *decoding, const char *call, PlaitPrimitiveKind kind)
{
  PlaitDecoder *decoder = decoding->decoder;
  PlaitPrimitive *primitive = &decoder->primitives[decoder->n_primitives];

  plait_decoding_expect_phase (decoding, call, PLAIT_DECODING_IN (PLAIT_DECODING_BUILD));
  if (decoder->n_primitives < PLAIT_DECODER_MAX_PRIMITIVES)
    decoder->n_primitives++;
  else
    fault (decoding, PLAIT_ERROR_PLUGIN, "declares more than %d primitives: declare fewer, or fewer layers",
           PLAIT_DECODER_MAX_PRIMITIVES);
  *primitive = (PlaitPrimitive){ .kind = kind };
  return primitive;
}

/* Returns the number of @primitive. */
static guint
number_of (const PlaitDecoding *decoding, const PlaitPrimitive *primitive)
{
  return (guint)(primitive - decoding->decoder->primitives);
}

/* TRUE if @name is a valid name for parameters of the decoder; else stores a fault. */
static gboolean
check_name (PlaitDecoding *decoding, const char *call, const char *name)
{
  if (name && g_str_has_prefix (name, "decoder/"))
    return TRUE;
  fault (decoding, PLAIT_ERROR_PLUGIN, "%s: the name \"%s\" must begin with \"decoder/\"", call, name ? name : "");
  return FALSE;
}

/* TRUE if @settings, a struct of the plugin, is not NULL; else stores a fault. */
static gboolean
check_settings (PlaitDecoding *decoding, const char *call, gconstpointer settings)
{
  if (!settings)
    fault (decoding, PLAIT_ERROR_PLUGIN, "%s: the settings are NULL: give their address", call);
  return settings != NULL;
}

/* TRUE if @n, which @call declares as @what, is from 1 to PLAIT_CALL_MAX_WIDTH; else stores a fault. */
static gboolean
check_width (PlaitDecoding *decoding, const char *call, const char *what, gint64 n)
{
  if (n >= 1 && n <= PLAIT_CALL_MAX_WIDTH)
    return TRUE;
  fault (decoding, PLAIT_ERROR_PLUGIN, "%s: %s=%jd is out of range: give 1 to %jd", call, what, n,
         PLAIT_CALL_MAX_WIDTH);
  return FALSE;
}

/* Declares the parameters of causal self-attention in @attention. */
static void
build_attend (PlaitDecoding *decoding, const char *name, const PlaitCausalSettings *settings, PlaitAttention *attention)
{
  const PlaitDecoderBuild *build = &decoding->decoder->build;
  PlaitAttentionDeclaration declaration = {
    .width = build->width,
    .heads = settings->heads,
    .dropout = settings->dropout,
    .biases = settings->biases,
    .positions = settings->positions,
    .window = settings->window,
  };

  if (settings->heads < 1 || build->width % settings->heads != 0)
    fault (decoding, PLAIT_ERROR_INPUT,
           "decoder.width=%jd is not a multiple of decoder.heads=%u: choose heads that divide the width", build->width,
           settings->heads);
  else if (settings->positions == PLAIT_POSITIONS_ROTARY && build->width / settings->heads % 2 != 0)
    fault (decoding, PLAIT_ERROR_INPUT,
           "decoder.positions=rotary: heads of %jd numbers cannot be rotated by pairs: choose decoder.heads so that "
           "decoder.width / decoder.heads is even",
           build->width / settings->heads);
  else
    *attention = plait_attention_declare_self (build->parameters, name, &declaration);
}

guint
plait_decoding_declare_attend (PlaitDecoding *decoding, const char *name, const PlaitCausalSettings *settings)
{
  PlaitPrimitive *primitive = add (decoding, G_STRFUNC, PLAIT_PRIMITIVE_ATTEND);

  if (check_name (decoding, G_STRFUNC, name) && check_settings (decoding, G_STRFUNC, settings))
    {
      build_attend (decoding, name, settings, &primitive->attention);
      primitive->sentences = settings->sentences;
      decoding->decoder->attends_sentences |= settings->sentences;
    }
  decoding->decoder->n_attend++;
  return number_of (decoding, primitive);
}

/* TRUE if the plugin can declare the cross-attention @declaration; else stores a fault. @call: name of the function
 * that the plugin called. */
static gboolean
check_cross (PlaitDecoding *decoding, const char *call, const PlaitCrossDeclaration *declaration)
{
  gint64 width = decoding->decoder->build.width;

  if (declaration->multi_head && (declaration->query_width != width || declaration->width != width))
    fault (
        decoding, PLAIT_ERROR_PLUGIN,
        "%s: queries %jd wide and memories %jd wide, but with attention=heads both must be as wide as the decoder, %jd",
        call, declaration->query_width, declaration->width, width);
  else if (declaration->multi_head)
    return TRUE;
  else if ((guint)declaration->score > PLAIT_SCORE_DOT)
    fault (decoding, PLAIT_ERROR_PLUGIN,
           "%s: asks for the unknown score function %u: give a value of PlaitScoreFunction", call,
           (guint)declaration->score);
  else if (declaration->score == PLAIT_SCORE_DOT && declaration->query_width != declaration->width)
    fault (decoding, PLAIT_ERROR_PLUGIN,
           "%s: dot products of queries %jd wide with memories %jd wide: make the widths equal", call,
           declaration->query_width, declaration->width);
  else
    return check_width (decoding, call, "query_width", declaration->query_width)
           && (declaration->score != PLAIT_SCORE_ADDITIVE
               || check_width (decoding, call, "attention_width", declaration->attention_width));
  return FALSE;
}

/* Declares the parameters of a cross-attention in @cross. @call: name of the function that the plugin called. */
static void
build_cross (PlaitDecoding *decoding, const char *call, const char *name, const PlaitCrossSettings *settings,
             PlaitCrossAttentionLayer *cross)
{
  PlaitDecoder *decoder = decoding->decoder;
  PlaitCrossDeclaration declaration = {
    .multi_head = decoder->components.decoder->schema->scores == PLAIT_SCORES_HEADS,
    .query_width = settings->query_width,
    .width = decoder->build.memories[0].width,
    .score = settings->score,
    .attention_width = settings->attention_width,
    .layer = decoder->n_cross,
  };
  GError *refusal = NULL;

  if (!g_str_has_suffix (name, "/"))
    fault (decoding, PLAIT_ERROR_PLUGIN, "%s: the name \"%s\" must end with \"/\"", call, name);
  else if (check_cross (decoding, call, &declaration)
           && !plait_cross_layer_build (cross, &decoder->components, &declaration, name, &refusal))
    {
      if (decoding->fault)
        g_error_free (refusal);
      else
        decoding->fault = refusal;
    }
}

guint
plait_decoding_declare_cross (PlaitDecoding *decoding, const char *name, const PlaitCrossSettings *settings)
{
  PlaitPrimitive *primitive = add (decoding, G_STRFUNC, PLAIT_PRIMITIVE_CROSS);

  primitive->layer = decoding->decoder->n_cross;
  if (check_name (decoding, G_STRFUNC, name) && check_settings (decoding, G_STRFUNC, settings))
    build_cross (decoding, G_STRFUNC, name, settings, &primitive->cross);
  decoding->decoder->n_cross++;
  return number_of (decoding, primitive);
}

guint
plait_decoding_declare_convolve (PlaitDecoding *decoding, const char *name, gint64 in, gint64 out, gint64 size)
{
  PlaitPrimitive *primitive = add (decoding, G_STRFUNC, PLAIT_PRIMITIVE_CONVOLVE);

  if (check_name (decoding, G_STRFUNC, name) && check_width (decoding, G_STRFUNC, "in", in)
      && check_width (decoding, G_STRFUNC, "out", out) && check_width (decoding, G_STRFUNC, "size", size))
    {
      primitive->size = size;
      primitive->width = MAX (size - 1, 1) * in;
      primitive->convolution = plait_linear_declare (decoding->decoder->build.parameters, name, size * in, out, TRUE);
    }
  return number_of (decoding, primitive);
}

guint
plait_decoding_declare_scan (PlaitDecoding *decoding, gint64 width)
{
  PlaitPrimitive *primitive = add (decoding, G_STRFUNC, PLAIT_PRIMITIVE_SCAN);

  if (check_width (decoding, G_STRFUNC, "width", width))
    primitive->width = width;
  return number_of (decoding, primitive);
}

guint
plait_decoding_declare_recur (PlaitDecoding *decoding, const PlaitCell *cell)
{
  PlaitPrimitive *primitive = add (decoding, G_STRFUNC, PLAIT_PRIMITIVE_RECUR);

  if (cell && cell->recurrent.weight)
    {
      primitive->cell = *cell;
      primitive->width = cell->declaration.width;
    }
  else
    fault (decoding, PLAIT_ERROR_PLUGIN, "%s: the cell was not declared: declare it with plait_cell_declare",
           G_STRFUNC);
  return number_of (decoding, primitive);
}

guint
plait_decoding_declare_carried (PlaitDecoding *decoding, gint64 width)
{
  PlaitPrimitive *primitive = add (decoding, G_STRFUNC, PLAIT_PRIMITIVE_CARRIED);

  if (check_width (decoding, G_STRFUNC, "width", width))
    primitive->width = width;
  decoding->decoder->n_carried++;
  return number_of (decoding, primitive);
}
