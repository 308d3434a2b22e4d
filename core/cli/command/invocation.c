/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "text/number.h"
#include "files/path.h"
#include "experiment/file.h"
#include "command/command.h"
#include "command/options.h"
#include "terminal/terminal.h"

/* Returns the label of the option in --help: "-s, --set=G.K=V". (transfer full) */
static char *
option_label (const PlaitOption *option)
{
  g_autofree char *initial = option->letter ? g_strdup_printf ("-%c, ", option->letter) : g_strdup ("");

  return g_strconcat (initial, "--", option->name, option->value ? "=" : "", option->value, NULL);
}

static void
print_options (PlaitTerminal *terminal, const PlaitCommand *command)
{
  guint width = 0;

  for (guint i = 0; plait_command_option (command, i); i++)
    {
      g_autofree char *label = option_label (plait_command_option (command, i));

      width = MAX (width, (guint)strlen (label));
    }
  for (guint i = 0; plait_command_option (command, i); i++)
    {
      g_autofree char *label = option_label (plait_command_option (command, i));

      plait_terminal_row (terminal, width, label, plait_command_option (command, i)->help);
    }
}

void
plait_command_print_help (const PlaitCommand *command)
{
  g_autoptr (PlaitTerminal) terminal = plait_terminal_new ();
  g_autofree char *usage = g_strdup_printf ("Usage: %s %s ", g_get_prgname (), command->name);
  g_autofree char *summary = g_strdup_printf ("%s.\n\nOptions:", command->summary);
  g_auto (GStrv) details = g_strsplit (command->details ? command->details : "", "\n", -1);
  guint indent = (guint)strlen (usage);

  plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "%s", usage);
  plait_terminal_paragraph (terminal, indent, indent, command->synopsis);
  plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "\n");
  plait_terminal_paragraph (terminal, 0, 0, summary);
  print_options (terminal, command);
  if (details[0])
    plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "\n");
  for (guint i = 0; details[i]; i++)
    if (*details[i] == ' ') /* an example: do not wrap this line, so that users can copy it */
      plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "%s\n", details[i]);
    else
      plait_terminal_paragraph (terminal, 0, 0, details[i]);
}

static const PlaitOption common[] = {
  { "quiet", 'q', PLAIT_OPTION_FLAG, offsetof (PlaitInvocation, quiet), "Print only warnings and errors", NULL },
  { "help", 'h', PLAIT_OPTION_FLAG, offsetof (PlaitInvocation, help), "Print this help", NULL },
};

static gboolean
is_common (const PlaitOption *option)
{
  return option >= common && option < common + G_N_ELEMENTS (common);
}

const PlaitOption *
plait_command_option (const PlaitCommand *command, guint i)
{
  guint own = 0;

  while (command->options && command->options[own].name)
    own++;
  if (i < own)
    return &command->options[i];
  return i - own < G_N_ELEMENTS (common) ? &common[i - own] : NULL;
}

static const PlaitOption *
find_option (const PlaitCommand *command, const char *name, gsize length)
{
  const PlaitOption *option;

  for (guint i = 0; (option = plait_command_option (command, i)); i++)
    if (strlen (option->name) == length && strncmp (option->name, name, length) == 0)
      return option;
  return NULL;
}

static const PlaitOption *
find_letter (const PlaitCommand *command, char letter)
{
  const PlaitOption *option;

  for (guint i = 0; (option = plait_command_option (command, i)); i++)
    if (option->letter == letter)
      return option;
  return NULL;
}

static gboolean
refuse_option (const PlaitCommand *command, const char *word, GError **error)
{
  g_autofree char *wanted = g_strndup (word, strcspn (word, "="));
  g_autofree char *otherwise = g_strdup_printf ("%s %s --help lists the options", g_get_prgname (), command->name);
  g_autoptr (GPtrArray) names = g_ptr_array_new_null_terminated (8, g_free, TRUE);
  const PlaitOption *option;

  for (guint i = 0; (option = plait_command_option (command, i)); i++)
    g_ptr_array_add (names, g_strconcat ("--", option->name, NULL));
  g_autofree char *remedy = plait_name_remedy (wanted, (const char *const *)names->pdata, otherwise);
  return plait_fail (error, PLAIT_ERROR_INPUT, "Unknown option %s; %s", word, remedy);
}

/* An option with its value from the command line. */
typedef struct
{
  const PlaitOption *option;
  const char *value; /* NULL for a flag */
} Given;

/* Adds @option to @given with the value @value or, if @value is NULL, the next word, to which *@word then advances. A
 * flag gets no value. @label names the option in an error. */
static gboolean
take_option (GArray *given, const PlaitOption *option, const char *label, const char *value, char *const **word,
             GError **error)
{
  if (option->kind == PLAIT_OPTION_FLAG)
    value = NULL;
  else if (!value)
    {
      value = (*word)[1];
      if (!value)
        return plait_fail (error, PLAIT_ERROR_INPUT, "%s has no value; expected %s %s", label, label, option->value);
      ++*word;
    }
  g_array_append_val (given, ((Given){ option, value }));
  return TRUE;
}

/* Reads a long option: "--set=a.b=c", "--set" or "--json". */
static gboolean
take_long (GArray *given, const PlaitCommand *command, char *const **word, GError **error)
{
  gsize length = strcspn (**word, "=");
  const char *equals = (**word)[length] == '=' ? **word + length : NULL;
  const PlaitOption *option = find_option (command, **word + 2, length - 2);
  g_autofree char *label = g_strndup (**word, length);

  if (!option)
    return refuse_option (command, **word, error);
  if (equals && option->kind == PLAIT_OPTION_FLAG)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s takes no value; remove \"%s\" or the option", label, equals);
  return take_option (given, option, label, equals ? equals + 1 : NULL, word, error);
}

/* Reads short options: "-s", "-sa.b=c" or "-qr". Letters of flags may share a word; the last letter may take a
 * value. */
static gboolean
take_letters (GArray *given, const PlaitCommand *command, char *const **word, GError **error)
{
  const char *whole = **word;

  for (const char *letter = whole + 1; *letter != '\0'; letter++)
    {
      const PlaitOption *option = find_letter (command, *letter);
      const char label[] = { '-', *letter, '\0' };

      if (!option)
        return refuse_option (command, whole, error);
      if (option->kind == PLAIT_OPTION_FLAG && letter[1] == '=')
        return plait_fail (error, PLAIT_ERROR_INPUT, "%s takes no value; remove \"%s\" or the option", label,
                           letter + 1);
      if (!take_option (given, option, label, letter[1] == '\0' ? NULL : letter + 1, word, error))
        return FALSE;
      if (option->kind != PLAIT_OPTION_FLAG)
        break;
    }
  return TRUE;
}

/*
 * Functions that set the fields of options
 */

/* Returns @value. If @option takes a path, replaces a "~" at the beginning of the path by the home folder, because a
 * shell does not replace it after --output= or NAME=. (transfer full) */
static char *
expanded (const PlaitOption *option, const char *value, GError **error)
{
  const char *equals = strchr (option->value, '=') ? strchr (value, '=') : NULL;
  const char *path = equals ? equals + 1 : value;

  if (plait_option_value_kind (option->value) != PLAIT_VALUE_PATH)
    return g_strdup (value);
  g_autofree char *place = plait_path_expand_home (path, error);
  return place ? g_strdup_printf ("%.*s%s", (int)(path - value), value, place) : NULL;
}

static gboolean
check_choice (const PlaitOption *option, const char *value, GError **error)
{
  g_auto (GStrv) choices = g_strsplit (option->value, "|", -1);
  guint last = g_strv_length (choices) - 1;

  if (plait_option_is_choice (value, option->value))
    return TRUE;
  g_autofree char *final = g_steal_pointer (&choices[last]);
  g_autofree char *others = g_strjoinv (", ", choices);
  return plait_fail (error, PLAIT_ERROR_INPUT, "--%s cannot be \"%s\"; expected %s or %s", option->name, value, others,
                     final);
}

static void
add_text (const char ***list, const char *text)
{
  guint n = *list ? g_strv_length ((char **)*list) : 0;

  *list = g_renew (const char *, *list, n + 2);
  (*list)[n] = text;
  (*list)[n + 1] = NULL;
}

/* Appends @text, the value of --set or --unset, to @list. */
static gboolean
add_override (const PlaitOption *option, char *text, PlaitOverride **list, GError **error)
{
  PlaitOverride override = { text, NULL };
  guint n = 0;

  if (option->kind == PLAIT_OPTION_SETS && !plait_override_split (text, &override, error))
    return FALSE;
  while (*list && (*list)[n].key)
    n++;
  *list = g_renew (PlaitOverride, *list, n + 2);
  (*list)[n] = override;
  (*list)[n + 1] = (PlaitOverride){ NULL };
  return TRUE;
}

static gboolean
set_integer (const PlaitOption *option, const char *text, gint64 *field, GError **error)
{
  gint64 minimum = (gint64)option->min, maximum = option->max < 0x1p63 ? (gint64)option->max : G_MAXINT64, number;

  if (!plait_parse_integer (text, &number) || number < minimum || number > maximum)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--%s cannot be \"%s\"; expected an integer from %jd to %jd",
                       option->name, text, minimum, maximum);
  *field = number;
  return TRUE;
}

static gboolean
set_real (const PlaitOption *option, const char *text, double *field, GError **error)
{
  double number;

  if (!plait_parse_double (text, &number) || number < option->min || number > option->max)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--%s cannot be \"%s\"; expected a number from %g to %g", option->name,
                       text, option->min, option->max);
  *field = number;
  return TRUE;
}

/* Writes the value in @given to the option's field in the command's struct or, if common, in @invocation. */
static gboolean
set_field (PlaitInvocation *invocation, const Given *given, GError **error)
{
  const PlaitOption *option = given->option;
  gpointer field = (char *)invocation->options + option->field;

  switch (option->kind)
    {
    case PLAIT_OPTION_FLAG:
      *(gboolean *)(is_common (option) ? (gpointer)((char *)invocation + option->field) : field) = TRUE;
      return TRUE;
    case PLAIT_OPTION_INTEGER:
      return set_integer (option, given->value, field, error);
    case PLAIT_OPTION_REAL:
      return set_real (option, given->value, field, error);
    case PLAIT_OPTION_CHOICE:
      *(guint *)field = plait_option_choice (given->value, option->value);
      return TRUE;
    case PLAIT_OPTION_TEXT:
    case PLAIT_OPTION_TEXTS:
    case PLAIT_OPTION_SETS:
    case PLAIT_OPTION_UNSETS:
      break;
    }
  char *text = expanded (option, given->value, error);
  if (!text)
    return FALSE;
  g_ptr_array_add (invocation->values, text);
  if (option->kind == PLAIT_OPTION_SETS || option->kind == PLAIT_OPTION_UNSETS)
    return add_override (option, text, field, error);
  if (option->kind == PLAIT_OPTION_TEXT)
    *(const char **)field = text;
  else
    add_text (field, text);
  return TRUE;
}

static gboolean
check_count (const PlaitCommand *command, guint n, GError **error)
{
  if (n < (guint)command->min)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s is missing; usage: %s %s %s",
                       n == 0 ? "an argument" : "another argument", g_get_prgname (), command->name, command->synopsis);
  guint max = command->max < 0 ? n : (guint)command->max;
  return n <= max
         || plait_fail (error, PLAIT_ERROR_INPUT, "%u argument%s too many; usage: %s %s %s", n - max,
                        n - max == 1 ? "" : "s", g_get_prgname (), command->name, command->synopsis);
}

void
plait_invocation_clear (PlaitInvocation *invocation)
{
  const PlaitOption *option = invocation->options ? invocation->command->options : NULL;

  for (; option && option->name; option++)
    if (option->kind == PLAIT_OPTION_TEXTS || option->kind == PLAIT_OPTION_SETS)
      g_free (*(gpointer *)(gpointer)((char *)invocation->options + option->field));
  g_free (invocation->options);
  g_clear_pointer (&invocation->values, g_ptr_array_unref);
  g_strfreev (invocation->arguments);
  g_free (invocation->line);
}

gboolean
plait_invocation_parse (PlaitInvocation *invocation, const PlaitCommand *command, char *const *words, GError **error)
{
  g_autoptr (GArray) given = g_array_new (FALSE, FALSE, sizeof (Given));
  g_autoptr (GStrvBuilder) arguments = g_strv_builder_new ();
  gboolean ended = FALSE;

  invocation->command = command;
  invocation->options = g_malloc0 (MAX (command->size, 1));
  if (command->defaults)
    memcpy (invocation->options, command->defaults, command->size);
  invocation->values = g_ptr_array_new_with_free_func (g_free);
  for (char *const *word = words; *word; word++)
    if (ended || **word != '-' || g_str_equal (*word, "-"))
      g_strv_builder_add (arguments, *word);
    else if (g_str_equal (*word, "--"))
      ended = TRUE;
    else if (!((*word)[1] == '-' ? take_long : take_letters) (given, command, &word, error))
      return FALSE;
  invocation->arguments = g_strv_builder_end (arguments);
  for (guint i = 0; i < given->len; i++)
    invocation->help |= g_array_index (given, Given, i).option == &common[1];
  if (invocation->help)
    return TRUE;
  for (guint i = 0; i < given->len; i++)
    {
      const Given *each = &g_array_index (given, Given, i);

      if (each->value && plait_option_value_kind (each->option->value) == PLAIT_VALUE_CHOICE
          && !check_choice (each->option, each->value, error))
        return FALSE;
    }
  if (!check_count (command, g_strv_length (invocation->arguments), error))
    return FALSE;
  for (guint i = 0; i < given->len; i++)
    if (!set_field (invocation, &g_array_index (given, Given, i), error))
      return FALSE;
  invocation->log = plait_log_new (invocation->quiet);
  return TRUE;
}
