/* SPDX-License-Identifier: MIT */
#include "text/number.h"
#include "tables/table.h"
#include "training/parameters.h"
#include "training/trainer-private.h"
#include "layers/parameter-set.h"

#include <math.h>

/*
 * State of the trainer in a file (plait_trainer_write). Times are stored apart, in PLAIT_TRAINER_TIMES, since they
 * differ between equal trainings.
 */

/* Fields of the state, for writing and reading: integers with their maximum, real numbers and times with their minimum.
 * No training counts beyond MAX_COUNT, and the sum of two such numbers does not overflow. */
/* clang-format off */
#define MAX_COUNT ((gint64)1 << 53)
#define LAST "/checkpoint/last"
#define STATE LAST "/state"
#define VALIDATION "/training/validation"
#define STATE_INTEGERS(X)                                                                                              \
  X (step, MAX_COUNT) X (target_tokens, MAX_COUNT) X (stale, MAX_COUNT) X (sums.correct, MAX_COUNT) X (sums.tokens, MAX_COUNT)                  \
  X (sums.sentences, MAX_COUNT) X (clipping.updates, MAX_COUNT) X (clipping.clipped, MAX_COUNT) X (row_clipping.updates, MAX_COUNT)             \
  X (row_clipping.clipped, MAX_COUNT) X (drops, MAX_COUNT) X (stalled, MAX_COUNT)
#define STATE_REALS(X)                                                                                                 \
  X (learning_rate, 0) X (gradient_norm, 0) X (sums.loss, -G_MAXDOUBLE)                         \
  X (sums.negative_log_likelihood, -G_MAXDOUBLE) X (sums.auxiliary, -G_MAXDOUBLE)
#define TIMES(X) X (seconds, 0) X (sums.seconds, 0)
/* clang-format on */

/* Returns the name of the attribute with a sum of loss column @i. @sum: "losses", "items" or "correct". */
static char *
loss_attribute (const PlaitLossColumns *losses, const char *sum, guint i)
{
  return g_strdup_printf ("sums.%s.%s", sum, losses->columns[i].name);
}

static gboolean
write_state (const PlaitTrainer *trainer, PlaitStore *store, GError **error)
{
  const PlaitLossColumns *losses = plait_model_losses (trainer->setup.model);
  const char *path = STATE;
  gint64 epoch;
  gint64 position;

  plait_iterator_tell (trainer->iterator, &epoch, &position);
  if (!plait_store_make_group (store, path, error) || !plait_store_set_int (store, path, "epoch", epoch, error)
      || !plait_store_set_int (store, path, "position", position, error)
      || !plait_store_set_int (store, path, "recent", trainer->recent->len, error)
      || !plait_store_set_double (store, path, "recent_ratio", trainer->recent_ratio, error)
      || !plait_store_set_double (store, path, "first_ratio", trainer->first_ratio, error)
      || (trainer->begun > 0 && !plait_store_set_int (store, path, "begun", trainer->begun, error)))
    return FALSE;
#define WRITE(field, maximum)                                                                                          \
  if (!plait_store_set_int (store, path, #field, (gint64)trainer->field, error))                                       \
    return FALSE;
  STATE_INTEGERS (WRITE)
#undef WRITE
#define WRITE(field, minimum)                                                                                          \
  if (!plait_store_set_double (store, path, #field, trainer->field, error))                                            \
    return FALSE;
  STATE_REALS (WRITE)
  for (guint i = 0; i < losses->n; i++)
    {
      g_autofree char *name = loss_attribute (losses, "losses", i), *items = loss_attribute (losses, "items", i),
                      *correct = loss_attribute (losses, "correct", i);

      if (!plait_store_set_double (store, path, name, trainer->sums.losses[i], error)
          || (losses->columns[i].accuracy
              && (!plait_store_set_int (store, path, items, trainer->sums.items[i].n, error)
                  || !plait_store_set_int (store, path, correct, trainer->sums.items[i].correct, error))))
        return FALSE;
    }
  path = PLAIT_TRAINER_TIMES;
  if (!plait_store_make_group (store, path, error))
    return FALSE;
  TIMES (WRITE)
#undef WRITE
  return TRUE;
}

static gboolean
get_integer (PlaitStore *store, const char *path, const char *name, gint64 maximum, gint64 *value, GError **error)
{
  if (!plait_store_get_int (store, path, name, value, error))
    return FALSE;
  if (*value >= 0 && *value <= maximum)
    return TRUE;
  return plait_fail (error, PLAIT_ERROR_CORRUPT,
                     "%s:%s: %s is %jd, expected 0 to %jd; restore a copy or begin a new run", plait_store_path (store),
                     path, name, *value, maximum);
}

static gboolean
get_real (PlaitStore *store, const char *path, const char *name, double minimum, double *value, GError **error)
{
  char digits[PLAIT_NUMBER_LENGTH];

  if (!plait_store_get_double (store, path, name, value, error))
    return FALSE;
  if (isfinite (*value) && *value >= minimum)
    return TRUE;
  return plait_fail (
      error, PLAIT_ERROR_CORRUPT, "%s:%s: %s is %s, expected a number%s; restore a copy or begin a new run",
      plait_store_path (store), path, name, plait_format_double (digits, *value), minimum < 0 ? "" : " from 0 on");
}

/* Reads PlaitTrainer.begun of the stored training to *@begun; 0 if it is not stored. */
static gboolean
get_begun (PlaitStore *store, gint64 *begun, GError **error)
{
  *begun = 0;
  return !plait_store_has_attribute (store, STATE, "begun")
         || get_integer (store, STATE, "begun", MAX_COUNT, begun, error);
}

/* Moves the iterator to @epoch and @position. Checks that trainer->step updates can lead there: an update has 1 to
 * train.accumulate batches, an epoch at most one batch for each tuple. In files of earlier versions, an update may span
 * two epochs. */
static gboolean
seek (PlaitTrainer *trainer, PlaitStore *store, gint64 epoch, gint64 position, GError **error)
{
  gint64 accumulate = trainer->setup.settings->accumulate;
  gint64 updates_of_epoch = (plait_corpus_size (trainer->setup.corpus) + accumulate - 1) / accumulate;
  gint64 before = trainer->step - (position + accumulate - 1) / accumulate; /* updates of earlier epochs */
  gint64 batches;
  gint64 maximum;
  gboolean fits = !__builtin_mul_overflow (trainer->step, accumulate, &batches) && epoch + position <= batches
                  && (__builtin_mul_overflow (epoch, updates_of_epoch, &maximum) || before <= maximum);

  if (!fits)
    return plait_fail (
        error, PLAIT_ERROR_CORRUPT,
        "%s:%s: step %jd, epoch %jd and position %jd contradict each other; restore a copy or begin a new run",
        plait_store_path (store), STATE, trainer->step, epoch, position);
  if (plait_iterator_seek (trainer->iterator, epoch, position, error))
    return TRUE;
  g_prefix_error (error, "%s:%s: ", plait_store_path (store), STATE);
  return FALSE;
}

/* Reads the ratios of divergence.c, which files of earlier versions lack. */
static gboolean
read_divergence (PlaitTrainer *trainer, PlaitStore *store, GError **error)
{
  return !plait_store_has_attribute (store, STATE, "recent_ratio")
         || (get_real (store, STATE, "recent_ratio", 0, &trainer->recent_ratio, error)
             && get_real (store, STATE, "first_ratio", 0, &trainer->first_ratio, error));
}

static gboolean
read_state (PlaitTrainer *trainer, PlaitStore *store, gint64 *recent, GError **error)
{
  const PlaitLossColumns *losses = plait_model_losses (trainer->setup.model);
  gint64 epoch;
  gint64 position;
  gint64 number;
  const char *path = STATE;

  if (!get_integer (store, path, "epoch", MAX_COUNT, &epoch, error)
      || !get_integer (store, path, "position", MAX_COUNT, &position, error)
      || !get_integer (store, path, "recent", trainer->setup.settings->average, recent, error)
      || !get_begun (store, &trainer->begun, error) || !read_divergence (trainer, store, error))
    return FALSE;
#define READ(field, maximum)                                                                                           \
  if (!get_integer (store, path, #field, maximum, &number, error))                                                     \
    return FALSE;                                                                                                      \
  trainer->field = number;
  STATE_INTEGERS (READ)
#undef READ
#define READ(field, minimum)                                                                                           \
  if (!get_real (store, path, #field, minimum, &trainer->field, error))                                                \
    return FALSE;
  STATE_REALS (READ)
  for (guint i = 0; i < losses->n; i++)
    {
      g_autofree char *name = loss_attribute (losses, "losses", i), *items = loss_attribute (losses, "items", i),
                      *correct = loss_attribute (losses, "correct", i);
      PlaitLossItems *sums = &trainer->sums.items[i];

      if (!get_real (store, path, name, -G_MAXDOUBLE, &trainer->sums.losses[i], error)
          || (losses->columns[i].accuracy
              && (!get_integer (store, path, items, MAX_COUNT, &sums->n, error)
                  || !get_integer (store, path, correct, MAX_COUNT, &sums->correct, error))))
        return FALSE;
    }
  if (!seek (trainer, store, epoch, position, error))
    return FALSE;
  path = PLAIT_TRAINER_TIMES;
  TIMES (READ)
#undef READ
  return TRUE;
}

/*
 * Functions for the tables of updates and validations
 */

static const PlaitStoreField update_columns[] = {
  PLAIT_STORE_FIELD (PlaitTrainingRow, step, INT64, NULL),
  PLAIT_STORE_FIELD (PlaitTrainingRow, epoch, INT64, NULL),
  PLAIT_STORE_FIELD (PlaitTrainingRow, loss, DOUBLE, "nats a target token"),
  PLAIT_STORE_FIELD (PlaitTrainingRow, negative_log_likelihood, DOUBLE, "nats a target token"),
  PLAIT_STORE_FIELD (PlaitTrainingRow, auxiliary, DOUBLE, "a sentence"),
  PLAIT_STORE_FIELD (PlaitTrainingRow, accuracy, DOUBLE, NULL),
  PLAIT_STORE_FIELD (PlaitTrainingRow, learning_rate, DOUBLE, NULL),
  PLAIT_STORE_FIELD (PlaitTrainingRow, gradient_norm, DOUBLE, NULL),
  PLAIT_STORE_FIELD (PlaitTrainingRow, clipped, DOUBLE, NULL),
  PLAIT_STORE_FIELD (PlaitTrainingRow, target_tokens, INT64, NULL),
  PLAIT_STORE_FIELD (PlaitTrainingRow, seconds, DOUBLE, "s"),
  PLAIT_STORE_FIELD (PlaitTrainingRow, target_tokens_per_second, DOUBLE, "1/s"),
};

static const PlaitStoreField validation_columns[] = {
  PLAIT_STORE_FIELD (PlaitValidationRow, step, INT64, NULL),
  PLAIT_STORE_FIELD (PlaitValidationRow, epoch, INT64, NULL),
  PLAIT_STORE_FIELD (PlaitValidationRow, negative_log_likelihood, DOUBLE, "nats a target token"),
  PLAIT_STORE_FIELD (PlaitValidationRow, perplexity, DOUBLE, NULL),
  PLAIT_STORE_FIELD (PlaitValidationRow, accuracy, DOUBLE, NULL),
  PLAIT_STORE_FIELD (PlaitValidationRow, metric, DOUBLE, NULL),
  PLAIT_STORE_FIELD (PlaitValidationRow, best, INT32, NULL),
};

static gboolean
write_recent (const PlaitTrainer *trainer, PlaitStore *store, GError **error)
{
  for (guint i = 0; i < trainer->recent->len; i++)
    {
      g_autofree char *below = g_strdup_printf (LAST "/recent/%u", i);

      if (!plait_parameters_write_array (trainer->parameters, trainer->recent->pdata[i], store, below, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
read_recent (PlaitTrainer *trainer, PlaitStore *store, gint64 recent, GError **error)
{
  gint64 n = plait_parameters_values (trainer->parameters).width;

  g_ptr_array_set_size (trainer->recent, 0);
  for (gint64 i = 0; i < recent; i++)
    {
      g_autofree char *below = g_strdup_printf (LAST "/recent/%jd", i);
      PlaitScalar *array = g_try_new0 (PlaitScalar, (gsize)n);

      if (!array)
        return plait_fail (error, PLAIT_ERROR_MEMORY,
                           "no memory for parameter set %jd of train.average: lower train.average", i);
      g_ptr_array_add (trainer->recent, array);
      if (!plait_parameters_read_array (trainer->parameters, array, store, below, error))
        return FALSE;
    }
  return TRUE;
}

/* Returns the columns of a table: @fixed [*@n], then two columns for each loss with items, the loss and its accuracy.
 * If @others, also returns a column for each loss without items. @means: offset of the means in a row. Sets *@n to the
 * number of all columns. (transfer full) */
static PlaitStoreField *
add_columns (const PlaitTrainer *trainer, const PlaitStoreField *fixed, guint *n, gsize means, gboolean others)
{
  const PlaitLossColumns *losses = plait_model_losses (trainer->setup.model);
  PlaitStoreField *columns = g_new (PlaitStoreField, *n + 2 * losses->n);

  memcpy (columns, fixed, *n * sizeof *fixed);
  for (guint i = 0; i < losses->n; i++)
    {
      const PlaitLossColumn *loss = &losses->columns[i];
      gsize offset = means + i * sizeof (double);

      if (loss->accuracy || others)
        columns[(*n)++]
            = (PlaitStoreField){ loss->name, PLAIT_STORE_DOUBLE, offset + G_STRUCT_OFFSET (PlaitLossMeans, losses),
                                 loss->accuracy ? "nats a tag" : "a sentence" };
      if (loss->accuracy)
        columns[(*n)++] = (PlaitStoreField){ loss->accuracy, PLAIT_STORE_DOUBLE,
                                             offset + G_STRUCT_OFFSET (PlaitLossMeans, accuracies), NULL };
    }
  return columns;
}

static PlaitStoreField *
columns_of_updates (const PlaitTrainer *trainer, guint *n)
{
  *n = G_N_ELEMENTS (update_columns);
  return add_columns (trainer, update_columns, n, G_STRUCT_OFFSET (PlaitTrainingRow, means), TRUE);
}

static PlaitStoreField *
columns_of_validations (const PlaitTrainer *trainer, guint *n)
{
  *n = G_N_ELEMENTS (validation_columns);
  return add_columns (trainer, validation_columns, n, G_STRUCT_OFFSET (PlaitValidationRow, means), FALSE);
}

/* Stores whether a larger value of the validation metric is better. */
static gboolean
write_direction (const PlaitTrainer *trainer, PlaitStore *store, GError **error)
{
  const PlaitTrainerCallbacks *callbacks = &trainer->setup.callbacks;

  return !callbacks->measure
         || plait_store_set_int (store, VALIDATION "/metric", "larger_is_better", callbacks->larger_is_better, error);
}

/* Negates the validation metric if smaller is better and the file lacks larger_is_better: earlier versions stored the
 * negative value. */
static void
restore_direction (PlaitTrainer *trainer, PlaitStore *store)
{
  const PlaitTrainerCallbacks *callbacks = &trainer->setup.callbacks;

  if (!callbacks->measure || callbacks->larger_is_better
      || plait_store_has_attribute (store, VALIDATION "/metric", "larger_is_better"))
    return;
  for (guint i = 0; i < trainer->validations->len; i++)
    g_array_index (trainer->validations, PlaitValidationRow, i).metric *= -1;
}

/* Removes the last row if it was added only because an earlier training ended there. The updates of this row belong to
 * the next row. */
static void
drop_early_row (PlaitTrainer *trainer)
{
  guint n = trainer->rows->len;

  if (n > 0 && g_array_index (trainer->rows, PlaitTrainingRow, n - 1).step == trainer->step && trainer->sums.tokens > 0
      && !plait_trainer_has_ended (trainer))
    g_array_set_size (trainer->rows, n - 1);
}

gboolean
plait_trainer_write (const PlaitTrainer *trainer, PlaitStore *store, GError **error)
{
  guint n, n_validation;
  g_autofree PlaitStoreField *columns = columns_of_updates (trainer, &n);
  g_autofree PlaitStoreField *validation = columns_of_validations (trainer, &n_validation);

  return plait_parameters_write (trainer->parameters, store, LAST "/parameters", error)
         && plait_optimizer_write (trainer->optimizer, store, LAST "/optimizer", error)
         && write_state (trainer, store, error) && write_recent (trainer, store, error)
         && plait_store_write_rows (store, "/training/updates", trainer->rows, columns, n, "step",
                                    "negative_log_likelihood", error)
         && plait_store_write_rows (store, VALIDATION, trainer->validations, validation, n_validation, "step",
                                    "negative_log_likelihood", error)
         && write_direction (trainer, store, error);
}

gboolean
plait_trainer_read (PlaitTrainer *trainer, PlaitStore *store, GError **error)
{
  guint n, n_validation;
  g_autofree PlaitStoreField *columns = columns_of_updates (trainer, &n);
  g_autofree PlaitStoreField *validation = columns_of_validations (trainer, &n_validation);
  gint64 recent;

  if (!(plait_parameters_read (trainer->parameters, store, LAST "/parameters", error)
        && plait_optimizer_read (trainer->optimizer, store, LAST "/optimizer", error)
        && read_state (trainer, store, &recent, error)
        && read_recent (trainer, store, recent, error)
        /* a table has at most one row for each update */
        && plait_store_read_table (store, "/training/updates", columns, n, trainer->step, trainer->rows, error)
        && plait_store_read_table (store, VALIDATION, validation, n_validation, trainer->step, trainer->validations,
                                   error)))
    return FALSE;
  restore_direction (trainer, store);
  drop_early_row (trainer);
  return TRUE;
}

gboolean
plait_trainer_import_moments (PlaitTrainer *trainer, const PlaitParameter *const *taken, PlaitStore *store,
                              gint64 *step, GError **error)
{
  gint64 begun;

  if (!get_begun (store, &begun, error) || !get_integer (store, STATE, "step", MAX_COUNT, step, error))
    return FALSE;
  for (guint i = 0; taken[i]; i++)
    if (!plait_optimizer_read_one (trainer->optimizer, taken[i], store, LAST "/optimizer", error))
      return FALSE;
  *step += begun;
  trainer->begun = *step;
  return TRUE;
}

/*
 * Functions that report rows to the callback, one by one
 */

static double
value_of (const PlaitStoreField *column, gconstpointer place)
{
  return column->type == PLAIT_STORE_DOUBLE  ? *(const double *)place
         : column->type == PLAIT_STORE_INT64 ? (double)*(const gint64 *)place
                                             : *(const gboolean *)place;
}

static void
note (const PlaitTrainer *trainer, const char *table, const GArray *rows, guint row, const PlaitStoreField *columns,
      guint n)
{
  g_autofree PlaitTrainingNumber *numbers = g_new (PlaitTrainingNumber, n);
  const char *place = rows->data + row * g_array_get_element_size ((GArray *)rows);

  for (guint c = 0; c < n; c++)
    numbers[c]
        = (PlaitTrainingNumber){ columns[c].name, columns[c].type, value_of (&columns[c], place + columns[c].offset) };
  trainer->setup.callbacks.note (trainer->setup.callbacks.data, table, numbers, n);
}

void
plait_trainer_note_update (const PlaitTrainer *trainer, guint row)
{
  guint n;
  g_autofree PlaitStoreField *columns = columns_of_updates (trainer, &n);

  if (trainer->setup.callbacks.note)
    note (trainer, "updates", trainer->rows, row, columns, n);
}

void
plait_trainer_note_validation (const PlaitTrainer *trainer, guint row)
{
  guint n;
  g_autofree PlaitStoreField *columns = columns_of_validations (trainer, &n);

  if (trainer->setup.callbacks.note)
    note (trainer, "validation", trainer->validations, row, columns, n);
}

void
plait_trainer_note_all (const PlaitTrainer *trainer)
{
  guint validation = 0;

  for (guint update = 0; update < trainer->rows->len || validation < trainer->validations->len;)
    if (validation < trainer->validations->len
        && (update == trainer->rows->len
            || g_array_index (trainer->validations, PlaitValidationRow, validation).step
                   < g_array_index (trainer->rows, PlaitTrainingRow, update).step))
      plait_trainer_note_validation (trainer, validation++);
    else
      plait_trainer_note_update (trainer, update++);
}
