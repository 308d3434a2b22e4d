/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/folder.h"
#include "text/json.h"
#include "scoring/run-diff.h"
#include "run/run.h"

/* A run that is trained again from the experiment that it stores, for plait reproduce and plait verify --resume. */
typedef struct
{
  const char *path;
  PlaitStore *store; /* file of the run, whose digests have all been verified */
  PlaitRegistry *registry;
  PlaitExperiment *experiment; /* experiment that the run stores, with the overrides applied */
  gboolean complete;
  gint64 updates;   /* number of updates that the run has made */
  char *difference; /* how settings, data and plugins have changed since the run was made, or NULL */
  PlaitFolder *folder;
} PlaitRebuild;

/* Opens the run at @path. @overrides, such as data.folder, may say where files are now, but must not change results;
 * NULL: no overrides. (transfer full) */
PlaitRebuild *plait_rebuild_new (const char *path, const PlaitOverride *overrides, PlaitLog *log, GError **error);
void plait_rebuild_free (PlaitRebuild *rebuild);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRebuild, plait_rebuild_free)

/* Returns the path of a file @name in a temporary folder that plait_rebuild_free deletes. (transfer full) */
char *plait_rebuild_path (PlaitRebuild *rebuild, const char *name, GError **error);

/* Prints the differences between two runs. If @json is not NULL, adds them to the open JSON object as "compared"
 * instead. Returns the number of values that differ. */
guint plait_rebuild_report_diffs (const GArray *diffs, PlaitJson *json);
