/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/parameter.h"
#include "weights/name-map.h"
#include "foreign/safetensors.h"

/*
 * Parameters out of a safetensors file: under their own names, as plait export writes them, or made of published
 * tensors as a name map says.
 */
typedef struct PlaitPublished PlaitPublished;

/* Opens the file @path, with the name map @map or, NULL, without. (transfer full) */
PlaitPublished *plait_published_open (const char *path, const char *map, GError **error);
void plait_published_free (PlaitPublished *published);

/* The name map, or NULL. (transfer none) */
const PlaitNameMap *plait_published_map (const PlaitPublished *published);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitPublished, plait_published_free)

typedef enum
{
  PLAIT_PUBLISHED_FAILED,
  PLAIT_PUBLISHED_ABSENT,      /* nothing is there for the parameter */
  PLAIT_PUBLISHED_OTHER_SHAPE, /* without a map: what is there does not fit */
  PLAIT_PUBLISHED_TAKEN,
} PlaitPublishedOutcome;

/*
 * Reads @parameter, whose registry's plait_parameters_write_values has been called, and in @there the rows and width
 * that are there for it. Of a parameter of places the first rows are read, of which it may have more or fewer. By a
 * map, a tensor that is not there, or whose shape differs, is an error that names both files.
 */
PlaitPublishedOutcome plait_published_read (PlaitPublished *published, const PlaitParameter *parameter, gint64 there[2],
                                            GError **error);

/* The first @max of the tensors that nothing was made of, as text, and in *@n how many they are. (transfer full) */
char *plait_published_unused (const PlaitPublished *published, guint max, guint *n);

/* TRUE if the model wants the parameter @parameter, '*' in it for what is open, of the kind that the tensor called
 * @tensor makes; @parameter is NULL where the map does not know the tensor. */
typedef gboolean (*PlaitPublishedWants) (gconstpointer data, const char *tensor, const char *parameter);

/*
 * Fails, naming them, if there are tensors of which nothing was made and that a map does not call unused, but for those
 * that @wants refuses, that a name before theirs supersedes, that equal a tensor that was read in their place (tied
 * weights), or that are optional and zero.
 */
gboolean plait_published_check_unused (const PlaitPublished *published, PlaitPublishedWants wants, gconstpointer data,
                                       GError **error);
