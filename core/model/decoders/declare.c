/* SPDX-License-Identifier: MIT */
#include "decoders/decoding.h"

#include "layers/internal.h"
#include "layers/parameter-set.h"

/* Calls that declare what a decoder uses, made while the model is built. The first fault is stored, and the following
 * calls continue. */

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

const PlaitPrimitive *
plait_decoding_primitive (PlaitDecoding *decoding, const char *call, PlaitPrimitiveKind kind, guint number)
{
  const PlaitDecoder *decoder = decoding->decoder;

  if (decoding->building)
    {
      fault (decoding, PLAIT_ERROR_PLUGIN, "calls %s in build: call it in decode, since it computes", call);
      return NULL;
    }
  if (number >= decoder->n_primitives || decoder->primitives[number].kind != kind)
    plait_tape_fail (decoding->tape, "%s: %u is not the number of a declared %s: use the number that build received",
                     call, number, kind_names[kind]);
  if (decoding->called[number] && kind != PLAIT_PRIMITIVE_CARRIED)
    plait_tape_fail (decoding->tape, "%s: called twice for the %s %u in one pass: declare a second one", call,
                     kind_names[kind], number);
  decoding->called[number] = TRUE;
  return &decoder->primitives[number];
}

/* Adds @primitive, which @call declares, and returns its number. */
static guint
add (PlaitDecoding *decoding, const char *call, PlaitPrimitive primitive)
{
  PlaitDecoder *decoder = decoding->decoder;

  if (!decoding->building)
    plait_tape_fail (decoding->tape, "calls %s while the model runs: declare in build", call);
  if (decoder->n_primitives == PLAIT_DECODER_MAX_PRIMITIVES)
    {
      fault (decoding, PLAIT_ERROR_PLUGIN, "declares more than %d functions: declare fewer, or fewer layers",
             PLAIT_DECODER_MAX_PRIMITIVES);
      return 0;
    }
  decoder->primitives[decoder->n_primitives] = primitive;
  return decoder->n_primitives++;
}

/* TRUE if @name can begin the name of a parameter of the decoder. */
static gboolean
check_name (PlaitDecoding *decoding, const char *call, const char *name)
{
  if (name && g_str_has_prefix (name, "decoder/"))
    return TRUE;
  fault (decoding, PLAIT_ERROR_PLUGIN, "%s: the name \"%s\" must begin with \"decoder/\"", call, name ? name : "");
  return FALSE;
}

guint
plait_decoding_declare_attend (PlaitDecoding *decoding, const char *name, const PlaitCausalSettings *settings)
{
  const PlaitDecoderBuild *build = &decoding->decoder->build;
  PlaitPrimitive primitive = { .kind = PLAIT_PRIMITIVE_ATTEND };
  PlaitAttentionDeclaration declaration = {
    .width = build->width,
    .heads = settings->heads,
    .dropout = settings->dropout,
    .biases = settings->biases,
    .positions = settings->positions,
    .window = settings->window,
  };

  if (!decoding->building || !check_name (decoding, G_STRFUNC, name))
    return add (decoding, G_STRFUNC, primitive);
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
    primitive.attention = plait_attention_declare_self (build->parameters, name, &declaration);
  decoding->decoder->n_attend++;
  return add (decoding, G_STRFUNC, primitive);
}

guint
plait_decoding_declare_cross (PlaitDecoding *decoding, const char *name, const PlaitCrossSettings *settings)
{
  PlaitDecoder *decoder = decoding->decoder;
  const PlaitSchema *schema = decoder->components.decoder->schema;
  PlaitCrossDeclaration declaration = {
    .multi_head = schema->scores == PLAIT_SCORES_HEADS,
    .query_width = settings->query_width,
    .width = decoder->build.memories[0].width,
    .score = settings->score,
    .attention_width = settings->attention_width,
    .layer = decoder->n_cross,
  };
  guint number = add (decoding, G_STRFUNC, (PlaitPrimitive){ .kind = PLAIT_PRIMITIVE_CROSS });
  PlaitPrimitive *primitive = &decoder->primitives[number];
  GError *refusal = NULL;

  primitive->layer = decoder->n_cross++;
  if (!check_name (decoding, G_STRFUNC, name))
    return number;
  if (declaration.multi_head
      && (settings->query_width != decoder->build.width || declaration.width != decoder->build.width))
    fault (decoding, PLAIT_ERROR_PLUGIN,
           "%s: queries %jd wide and memories %jd wide, but with attention=heads both are as wide as the decoder, %jd",
           G_STRFUNC, settings->query_width, declaration.width, decoder->build.width);
  else if (!plait_cross_layer_build (&primitive->cross, &decoder->components, &declaration, name, &refusal))
    {
      if (decoding->fault)
        g_error_free (refusal);
      else
        decoding->fault = refusal;
    }
  return number;
}

guint
plait_decoding_declare_convolve (PlaitDecoding *decoding, const char *name, gint64 in, gint64 out, gint64 size)
{
  PlaitPrimitive primitive = { .kind = PLAIT_PRIMITIVE_CONVOLVE, .size = size, .width = MAX (size - 1, 1) * in };

  if (!decoding->building || !check_name (decoding, G_STRFUNC, name))
    return add (decoding, G_STRFUNC, primitive);
  if (in < 1 || out < 1 || size < 1)
    fault (decoding, PLAIT_ERROR_PLUGIN,
           "%s: a convolution of %jd rows [%jd] to %jd numbers: give at least one of each", G_STRFUNC, size, in, out);
  else
    primitive.convolution = plait_linear_declare (decoding->decoder->build.parameters, name, size * in, out, TRUE);
  return add (decoding, G_STRFUNC, primitive);
}

guint
plait_decoding_declare_scan (PlaitDecoding *decoding, gint64 width)
{
  if (decoding->building && width < 1)
    fault (decoding, PLAIT_ERROR_PLUGIN, "%s: a state of %jd numbers: give at least one", G_STRFUNC, width);
  return add (decoding, G_STRFUNC, (PlaitPrimitive){ .kind = PLAIT_PRIMITIVE_SCAN, .width = MAX (width, 1) });
}

guint
plait_decoding_declare_recur (PlaitDecoding *decoding, const PlaitCell *cell)
{
  return add (decoding, G_STRFUNC,
              (PlaitPrimitive){ .kind = PLAIT_PRIMITIVE_RECUR, .cell = cell, .width = cell->declaration.width });
}

guint
plait_decoding_declare_carried (PlaitDecoding *decoding, gint64 width)
{
  if (decoding->building && width < 1)
    fault (decoding, PLAIT_ERROR_PLUGIN, "%s: rows %jd wide: give at least one column", G_STRFUNC, width);
  decoding->decoder->n_carried++;
  return add (decoding, G_STRFUNC, (PlaitPrimitive){ .kind = PLAIT_PRIMITIVE_CARRIED, .width = MAX (width, 1) });
}
