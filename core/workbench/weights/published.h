/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/parameter.h"
#include "weights/name-map.h"
#include "foreign/safetensors.h"

/*
 * Parameters from a safetensors file. Without a name map, the tensors in the file have the names of parameters, as
 * plait export writes them. A name map makes parameters of published tensors with other names.
 */
typedef struct PlaitPublished PlaitPublished;

/* Opens the file @path, with the name map in the file @map, or without a map if @map is NULL. (transfer full) */
PlaitPublished *plait_published_open (const char *path, const char *map, GError **error);
void plait_published_free (PlaitPublished *published);

/* Returns the name map, or NULL. (transfer none) */
const PlaitNameMap *plait_published_map (const PlaitPublished *published);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitPublished, plait_published_free)

typedef enum
{
  PLAIT_PUBLISHED_FAILED,
  PLAIT_PUBLISHED_ABSENT,      /* the file has no tensor for the parameter, or the map does not make the parameter */
  PLAIT_PUBLISHED_OTHER_SHAPE, /* only without a map: the tensor does not fit */
  PLAIT_PUBLISHED_TAKEN,
} PlaitPublishedOutcome;

/* Reads the values of @parameter; call plait_parameters_write_values() before. Sets @there to the rows and width of the
 * tensor or, with a map, of the matrix that the map makes of tensors; leaves @there alone if there is neither. For
 * learned positions, reads the first rows; the tensor may have more or fewer rows than @parameter. With a map, a shape
 * that does not fit @parameter is an error, and so is a missing tensor that is not optional; the error names the map
 * and the file of weights. */
PlaitPublishedOutcome plait_published_read (PlaitPublished *published, const PlaitParameter *parameter, gint64 there[2],
                                            GError **error);

/* Returns the names of the first @max tensors of which no parameter was made, as one text. Sets *@n to the number of
 * all such tensors. (transfer full) */
char *plait_published_unused (const PlaitPublished *published, guint max, guint *n);

/* Called for @tensor, of which no parameter was made. @parameter: the name of a parameter that can be made of @tensor,
 * with '*' for each part that does not follow from the name of @tensor; NULL if the map does not name @tensor. TRUE if
 * the model should have used @tensor. @data is what the caller passed. */
typedef gboolean (*PlaitPublishedWants) (gconstpointer data, const char *tensor, const char *parameter);

/*
 * Fails if results of the published model depend on tensors of which no parameter was made; the error names some of
 * them. Ignores tensors that unused= of the map or @wants excludes, and optional tensors of zeros. If the map names
 * alternatives (separated by '|'), ignores those after the first one in the file, and each that equals an alternative
 * that was used (tied weights). TRUE without a map.
 */
gboolean plait_published_check_unused (const PlaitPublished *published, PlaitPublishedWants wants, gconstpointer data,
                                       GError **error);
