/* SPDX-License-Identifier: MIT */
#include "search/search-private.h"

typedef struct
{
  PlaitSearch *search;
  PlaitBatch batch;
  PlaitEncoderOutputs *outputs;
} Encoding;

static void
encode (gpointer data)
{
  Encoding *encoding = data;
  PlaitSearch *search = encoding->search;

  PlaitTape *tape = search->whole.batch_tape;
  guint n;
  const PlaitSourceTags *tags = plait_model_tags (search->model, &n);
  gint32 **predicted = plait_arena_new_array (plait_tape_arena (tape), gint32 *, n + 1);

  *encoding->outputs = plait_model_encode (search->model, tape, &encoding->batch, NULL);
  for (guint i = 0; i < n; i++)
    predicted[i] = plait_source_tags_predict (&tags[i], tape, &encoding->batch, encoding->outputs);
  encoding->outputs->tags = predicted;
}

gboolean
plait_search_encode (PlaitSearch *search, const PlaitBatch *batch, PlaitEncoderOutputs *outputs, GError **error)
{
  Encoding encoding = { search, plait_search_member_batch (search, 0, batch), outputs };
  g_autoptr (GError) cause = NULL;

  if (!plait_search_check_batch (search, batch, error))
    return FALSE;
  plait_tape_begin (search->whole.batch_tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
  if (plait_arena_protect (search->whole.batch_arena, encode, &encoding, &cause))
    return TRUE;
  if (!g_error_matches (cause, PLAIT_ERROR, PLAIT_ERROR_MEMORY))
    return plait_no_error (&cause, error);
  return plait_fail (error, PLAIT_ERROR_MEMORY,
                     "encoding %jd sentences does not fit into memory; lower decode.batch (%s)", batch->n_sentences,
                     cause->message);
}
