/* SPDX-License-Identifier: MIT */
#include "use/inference.h"

#include "dumps/tag-lines.h"

/* Implements plait encode: writes the output of a run's encoders, for encoder=features and for other programs. */

/* Appends the rows of @states, divided into sentences by @rows, to the array @path, which already has @done sentences.
 * If @states is NULL, appends sentences without rows. */
static gboolean
append (PlaitInference *inference, const char *path, const PlaitNode *states, PlaitRagged rows, gint64 width,
        gint64 done, GError **error)
{
  return plait_store_extend_padded (inference->dump, path, states ? states->value : plait_tensor (NULL, 0, width), rows,
                                    done, error);
}

/* Appends the memories and summaries of @batch, which are in @outputs. If @outputs is NULL, @batch is a skipped
 * sentence and gets no rows. */
static gboolean
append_batch (PlaitInference *inference, const PlaitBatch *batch, const PlaitEncoderOutputs *outputs, gint64 done,
              GError **error)
{
  const PlaitModel *model = inference->trained->experiment_model->model;
  gint64 n = batch->n_sentences;
  g_autofree gint64 *none = g_new0 (gint64, n + 1), *one = g_new0 (gint64, n + 1);
  guint n_memories, n_summaries;
  const PlaitMemorySpecification *memories = plait_model_memories (model, &n_memories);
  const PlaitMemorySpecification *summaries = plait_model_summaries (model, &n_summaries);

  for (gint64 i = 0; i < n; i++)
    one[i + 1] = i + 1;
  for (guint m = 0; m < n_memories; m++)
    {
      g_autofree char *path = g_strconcat ("/", memories[m].name, NULL);

      if (!append (inference, path, outputs ? outputs->memories[m].states : NULL,
                   outputs ? outputs->memories[m].rows : (PlaitRagged){ n, none }, memories[m].width, done, error))
        return FALSE;
    }
  for (guint s = 0; s < n_summaries; s++)
    {
      g_autofree char *path = g_strconcat ("/", summaries[s].name, ".summary", NULL);

      if (!append (inference, path, outputs ? outputs->summaries[s] : NULL, (PlaitRagged){ n, outputs ? one : none },
                   summaries[s].width, done, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
encode (PlaitInference *inference, PlaitTagLines *tags, GError **error)
{
  gint64 sentences = inference->trained->experiment->decode.batch;

  for (gint64 done = 0;;)
    {
      GError *local = NULL;
      g_autoptr (PlaitBatch) batch = plait_inference_next_batch (inference, sentences, &local);
      PlaitEncoderOutputs outputs;

      if (!batch)
        return plait_no_error (&local, error);
      if (plait_feed_line (inference->feed, batch->sentence[0]) != done)
        return plait_fail (error, PLAIT_ERROR_FAILED,
                           "sentence %jd of the text was left out, so states cannot be assigned to lines", done + 1);
      if (!inference->skips && !plait_search_encode (inference->search, batch, &outputs, error))
        return FALSE;
      if (!append_batch (inference, batch, inference->skips ? NULL : &outputs, done, error))
        return FALSE;
      plait_tag_lines_append (tags, batch, inference->skips ? NULL : &outputs);
      done += batch->n_sentences;
      plait_log_progress (inference->log, "%jd sentences so far", done);
    }
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  static const char *const keys[] = { "decode.batch", "data.empty", "data.too_long", NULL };
  const PlaitInferenceOptions *options = invocation->options;
  g_auto (PlaitInference) inference = { 0 };
  const PlaitExperiment *experiment;
  g_autoptr (PlaitTagLines) tags = NULL;

  if (!options->output)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--output is missing; name the file to write with --output FILE.h5");
  if (!plait_option_sets (options->sets, keys, "decode.batch, data.empty and data.too_long", error)
      || !plait_inference_open (&inference, invocation, NULL, error))
    return FALSE;
  experiment = inference.trained->experiment;
  if (plait_experiment_reads_documents (experiment) && experiment->data.document_length > 0
      && experiment->data.document_cut == PLAIT_DATA_DOCUMENT_CUT_CHUNKS)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s cuts documents into chunks, but an array of states has one entry for each document; train "
                       "with data.document_cut=truncate, or without data.document_length",
                       invocation->arguments[0]);
  tags = plait_tag_lines_new (inference.trained->experiment_model, inference.trained->run_inputs);
  inference.dump = plait_store_create (options->output, error);
  if (!inference.dump || !encode (&inference, tags, error) || !plait_tag_lines_write (tags, inference.dump, error))
    return FALSE;
  plait_log_progress_end (inference.log);
  return plait_store_commit (inference.dump, error);
}

static const PlaitOption options[] = {
  PLAIT_OPTION_OF (PlaitInferenceOptions, "source", 's', TEXTS, sources,
                   "Text or features of a source; - is standard input", "NAME=FILE"),
  PLAIT_OPTION_OF (PlaitInferenceOptions, "without", 0, TEXTS, without, "Leave a source out", "NAME"),
  PLAIT_OPTION_OF (PlaitInferenceOptions, "output", 'o', TEXT, output, "File to write", "FILE.h5"),
  PLAIT_OPTION_OF (PlaitInferenceOptions, "set", 0, SETS, sets, "Change decode.batch, data.empty or data.too_long",
                   "G.K=V"),
  PLAIT_OPTION_FORCE (PlaitInferenceOptions),
  PLAIT_OPTION_CHECKPOINT (PlaitInferenceOptions),
  PLAIT_OPTION_THREADS (PlaitInferenceOptions),
  PLAIT_OPTION_CHANGED_PLUGINS (PlaitInferenceOptions),
  { NULL },
};

const PlaitCommand plait_command_encode = {
  .name = "encode",
  .synopsis = "RUN.h5 --source NAME=FILE... --output FILE.h5",
  .summary = "Write encoder states of text as HDF5",
  .details
  = "Each memory that the decoder reads is a dataset [sentence, position, width], padded by zeros, named after its "
    "source; NAME_lengths has the number of positions of each sentence, 0 where the source is missing or the sentence "
    "was skipped. A summary is NAME.summary [sentence, 1, width]. encoder=features with dataset=/NAME reads the file. "
    "/tags/SOURCE.TAGS has the predicted tags of each sentence.\n"
    "\n"
    "Examples:\n"
    "  plait encode run.h5 --source en=test.en --output states.h5",
  .options = options,
  .size = sizeof (PlaitInferenceOptions),
  .min = 1,
  .max = 1,
  .run = run_command,
};
