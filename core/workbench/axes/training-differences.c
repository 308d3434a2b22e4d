/* SPDX-License-Identifier: MIT */
#include "axes/training-differences.h"

#include "corpus/iterator.h"
#include "axes/vocabularies.h"

static char *
list_streams (const PlaitExperiment *experiment)
{
  g_autofree const char **streams = plait_experiment_all_streams (experiment);

  return g_strjoinv (" ", (char **)streams);
}

static gboolean
read_other_streams (const PlaitCells *cells)
{
  g_autofree char *first = list_streams (cells->cells[0].experiment);

  for (guint i = 1; i < cells->n_cells; i++)
    {
      g_autofree char *streams = list_streams (cells->cells[i].experiment);

      if (!g_str_equal (first, streams))
        return TRUE;
    }
  return FALSE;
}

static gboolean
limits_length (const PlaitExperiment *experiment)
{
  return experiment->data.maximum_source_length > 0 || experiment->data.maximum_target_length > 0
         || experiment->data.too_long != PLAIT_DATA_TOO_LONG_ERROR;
}

static gboolean
counts_tokens (const PlaitExperiment *experiment)
{
  return experiment->train.batch_unit == PLAIT_BATCH_BY_TOKENS;
}

static gboolean
cuts_documents (const PlaitExperiment *experiment)
{
  return plait_experiment_reads_documents (experiment) && experiment->data.document_length > 0;
}

static gboolean
drops_treeless (const PlaitExperiment *experiment)
{
  return plait_experiment_reads_trees (experiment) && experiment->data.no_tree == PLAIT_NO_TREE_DROP;
}

static const struct
{
  gboolean (*holds) (const PlaitExperiment *experiment);
  const char *sentence;
} limits[] = {
  { limits_length, "Limits of length count the tokens that a cell reads: cells may train on different lines." },
  { counts_tokens,
    "Batches count the tokens that a cell reads: cells may have different numbers of sentences in an update." },
  { cuts_documents, "Documents are cut by the tokens that a cell reads: cells may have different chunks." },
  { drops_treeless, "A cell that reads trees drops lines without a tree: other cells may train on these lines." },
};

char **
plait_cells_describe_training_differences (const PlaitCells *cells)
{
  g_autoptr (GStrvBuilder) sentences = g_strv_builder_new ();
  g_autofree const char **vocabularies = plait_vocabularies_that_differ (cells);
  gboolean differ = vocabularies[0] || read_other_streams (cells);

  for (guint l = 0; differ && l < G_N_ELEMENTS (limits); l++)
    for (guint i = 0; i < cells->n_cells; i++)
      if (limits[l].holds (cells->cells[i].experiment))
        {
          g_strv_builder_add (sentences, limits[l].sentence);
          break;
        }
  return g_strv_builder_end (sentences);
}
