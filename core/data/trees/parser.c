/* SPDX-License-Identifier: MIT */
#include "trees/parser.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/sandbox.h"
#include "text/words.h"

/* Maximum number per process of lines that were read and whose trees were not returned yet. */
#define AHEAD 64
#define MEMORY ((gsize)2 << 30)
#define START_SECONDS 120
#define LOOK_SECONDS .2 /* longest time between two looks at the stop flag */

/* Header of a message from a process to the parent. The tree follows; after REFUSED, the error; after READY,
 * nothing. */
typedef struct
{
  guint32 end; /* a PlaitParseOutcome, or READY, or REFUSED */
  guint32 length;
} Reply;

enum
{
  READY = PLAIT_N_PARSE_OUTCOMES,
  REFUSED,
};

typedef struct
{
  char *sentence; /* text of the sentence; freed and NULL when the sentence is done */
  gsize length;
  PlaitParseOutcome end;
  char *tree;
} Job;

typedef struct
{
  pid_t child; /* process id; 0: not running */
  int socket;
  gboolean started;
  Job *job;        /* the sentence that is being parsed, or NULL */
  gint64 deadline; /* time limit of the job, or of the start of the worker, in monotonic microseconds */
} Worker;

typedef struct
{
  const PlaitSentenceParser *parser;
  const PlaitParseSettings *settings;
  PlaitTextReader *reader;
  gboolean ended;
  GQueue jobs; /* (element-type Job) in the order of the lines */
  Worker *workers;
} Parse;

static gboolean
send_bytes (int socket, gconstpointer bytes, gsize size)
{
  const char *rest = bytes;
  while (size > 0)
    {
      gssize n = send (socket, rest, size, MSG_NOSIGNAL);
      if (n < 0 && errno != EINTR)
        return FALSE;
      rest += MAX (n, 0);
      size -= (gsize)MAX (n, 0);
    }
  return TRUE;
}

static gboolean
receive_bytes (int socket, gpointer bytes, gsize size)
{
  char *rest = bytes;
  while (size > 0)
    {
      gssize n = recv (socket, rest, size, 0);
      if (n == 0 || (n < 0 && errno != EINTR))
        return FALSE;
      rest += MAX (n, 0);
      size -= (gsize)MAX (n, 0);
    }
  return TRUE;
}

static gboolean
reply (int socket, guint32 end, const char *text, gsize length)
{
  Reply head = { end, (guint32)length };
  return send_bytes (socket, &head, sizeof head) && send_bytes (socket, text, length);
}

static G_NORETURN void
serve (const PlaitSentenceParser *parser, gint64 unlinked, int socket)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) sentence = g_string_new (NULL);
  g_autoptr (GString) tree = g_string_new (NULL);
  gpointer self;
  gsize length;
  plait_sandbox_confine ((PlaitSandboxLimits){ .memory_bytes = MEMORY });
  self = parser->open (unlinked, &error);
  if (!self)
    reply (socket, REFUSED, error->message, strlen (error->message));
  else if (!reply (socket, READY, "", 0))
    self = NULL;
  while (self && receive_bytes (socket, &length, sizeof length))
    {
      PlaitParseOutcome end;
      g_string_set_size (sentence, length);
      if (!receive_bytes (socket, sentence->str, length))
        break;
      g_string_truncate (tree, 0);
      end = parser->parse (self, sentence->str, length, tree);
      /* A tree that is too long to be read again as a line counts as no tree. */
      if (tree->len > PLAIT_TEXT_LINE_LIMIT)
        {
          end = PLAIT_PARSE_UNMATCHED;
          g_string_truncate (tree, 0);
        }
      if (!reply (socket, end, tree->str, tree->len))
        break;
    }
  _exit (0);
}

static void
job_free (gpointer data)
{
  Job *job = data;
  g_free (job->sentence);
  g_free (job->tree);
  g_free (job);
}

static void
finish (Job *job, PlaitParseOutcome end, char *tree)
{
  job->end = end;
  job->tree = tree;
  g_clear_pointer (&job->sentence, g_free);
}

static void
worker_stop (Worker *worker)
{
  if (worker->child == 0)
    return;
  kill (worker->child, SIGKILL);
  while (waitpid (worker->child, NULL, 0) < 0 && errno == EINTR)
    ;
  close (worker->socket);
  *worker = (Worker){ 0 };
}

static gboolean
worker_start (Parse *parse, Worker *worker, GError **error)
{
  int ends[2];
  pid_t child = -1;
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0)
    {
      child = fork ();
      if (child == 0)
        {
          close (ends[0]);
          serve (parse->parser, parse->settings->unlinked, ends[1]);
        }
      int reason = errno;
      close (ends[1]);
      if (child < 0)
        close (ends[0]);
      errno = reason;
    }
  if (child < 0)
    return plait_fail (error, PLAIT_ERROR_FAILED, "no process can be started to run %s (%s); lower --jobs",
                       parse->parser->name, g_strerror (errno));
  *worker = (Worker){ child, ends[0], FALSE, NULL, g_get_monotonic_time () + START_SECONDS * G_USEC_PER_SEC };
  return TRUE;
}

/* Receives one message from @worker. FALSE without @error if the message is malformed or the process has died. */
static gboolean
worker_receive (Worker *worker, GError **error)
{
  Reply head;
  if (!receive_bytes (worker->socket, &head, sizeof head) || head.length > PLAIT_TEXT_LINE_LIMIT
      || (head.end < PLAIT_N_PARSE_OUTCOMES) != (worker->job != NULL) || head.end > REFUSED)
    return FALSE;
  g_autofree char *text = g_malloc0 ((gsize)head.length + 1);
  if (!receive_bytes (worker->socket, text, head.length))
    return FALSE;
  if (head.end == REFUSED)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s", text);
  worker->started = TRUE;
  if (worker->job)
    finish (g_steal_pointer (&worker->job), (PlaitParseOutcome)head.end, g_steal_pointer (&text));
  return TRUE;
}

/* Stops a worker that has died or is too slow, and starts a new one. Fails if the old one never got ready. */
static gboolean
worker_replace (Parse *parse, Worker *worker, PlaitParseOutcome end, GError **error)
{
  gboolean started = worker->started;
  if (worker->job)
    finish (worker->job, end, NULL);
  worker_stop (worker);
  return started ? worker_start (parse, worker, error)
                 : plait_fail (error, PLAIT_ERROR_FAILED,
                               end == PLAIT_PARSE_TIMED_OUT
                                   ? "the parser %s did not start within %d seconds; install it again"
                                   : "the parser %s crashed while it started; install it again",
                               parse->parser->name, START_SECONDS);
}

static gint64
count_tokens (const char *sentence, gsize length)
{
  gsize position = 0, size;
  gint64 n = 0;
  while (plait_words_next (sentence, length, &position, &size))
    n++;
  return n;
}

/* Reads the next line, and sends it to @worker unless it is empty or too long. */
static gboolean
next_line (Parse *parse, Worker *worker, GError **error)
{
  g_autoptr (GError) cause = NULL;
  gsize length;
  const char *line = plait_text_reader_next (parse->reader, &length, &cause);
  parse->ended = !line;
  if (!plait_no_error (&cause, error))
    return FALSE;
  if (!line)
    return TRUE;
  Job *job = g_new0 (Job, 1);
  gint64 tokens = count_tokens (line, length);
  g_queue_push_tail (&parse->jobs, job);
  if (tokens == 0 || tokens > parse->settings->tokens)
    {
      finish (job, tokens == 0 ? PLAIT_PARSE_EMPTY : PLAIT_PARSE_TOO_LONG, NULL);
      return TRUE;
    }
  job->sentence = g_strndup (line, length);
  job->length = length;
  worker->job = job;
  worker->deadline = g_get_monotonic_time () + parse->settings->seconds * G_USEC_PER_SEC;
  /* If the process has died, worker_receive notices. */
  if (send_bytes (worker->socket, &length, sizeof length))
    send_bytes (worker->socket, job->sentence, length);
  return TRUE;
}

static gboolean
give_work (Parse *parse, GError **error)
{
  for (guint i = 0; i < parse->settings->n_processes; i++)
    {
      Worker *worker = &parse->workers[i];
      while (worker->started && !worker->job && !parse->ended
             && parse->jobs.length < AHEAD * parse->settings->n_processes)
        if (!next_line (parse, worker, error))
          return FALSE;
    }
  return TRUE;
}

static void
put_out (Parse *parse, PlaitParseFunc take, gpointer data)
{
  for (Job *job; (job = g_queue_peek_head (&parse->jobs)) && !job->sentence;)
    {
      take (job->tree ? job->tree : "", job->end, data);
      job_free (g_queue_pop_head (&parse->jobs));
    }
}

/* Waits for messages of the workers, and replaces the workers that have died or are late. */
static gboolean
await_workers (Parse *parse, GError **error)
{
  guint n = parse->settings->n_processes;
  g_autofree struct pollfd *waits = g_new0 (struct pollfd, n);
  for (guint i = 0; i < n; i++)
    waits[i] = (struct pollfd){ parse->workers[i].socket, POLLIN, 0 };
  if (poll (waits, n, (int)(1000 * LOOK_SECONDS)) < 0 && errno != EINTR)
    return plait_fail (error, PLAIT_ERROR_FAILED, "cannot wait for output of the processes of %s (%s)",
                       parse->parser->name, g_strerror (errno));
  for (guint i = 0; i < n; i++)
    {
      Worker *worker = &parse->workers[i];
      g_autoptr (GError) cause = NULL;
      gboolean busy = worker->job || !worker->started;
      gboolean good = waits[i].revents == 0 || worker_receive (worker, &cause);
      if (!plait_no_error (&cause, error))
        return FALSE;
      gboolean late = good && busy && waits[i].revents == 0 && g_get_monotonic_time () > worker->deadline;
      if ((!good || late) && !worker_replace (parse, worker, late ? PLAIT_PARSE_TIMED_OUT : PLAIT_PARSE_CRASHED, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
parse_all (Parse *parse, const gint *stop, PlaitParseFunc take, gpointer data, GError **error)
{
  for (guint i = 0; i < parse->settings->n_processes; i++)
    if (!worker_start (parse, &parse->workers[i], error))
      return FALSE;
  while (TRUE)
    {
      if (!give_work (parse, error))
        return FALSE;
      put_out (parse, take, data);
      if (g_atomic_int_get (stop))
        return plait_fail (error, PLAIT_ERROR_INTERRUPTED, "interrupted before line %jd",
                           plait_text_reader_line (parse->reader) - (gint64)parse->jobs.length + 1);
      if (parse->ended && parse->jobs.length == 0)
        return TRUE;
      if (!await_workers (parse, error))
        return FALSE;
    }
}

gboolean
plait_parse (const PlaitSentenceParser *parser, const PlaitParseSettings *settings, PlaitTextReader *reader,
             const gint *stop, PlaitParseFunc take, gpointer data, GError **error)
{
  g_autofree Worker *workers = g_new0 (Worker, settings->n_processes);
  Parse parse = { parser, settings, reader, FALSE, G_QUEUE_INIT, workers };
  gboolean good = parse_all (&parse, stop, take, data, error);
  for (guint i = 0; i < settings->n_processes; i++)
    worker_stop (&workers[i]);
  g_queue_clear_full (&parse.jobs, job_free);
  return good;
}
