/* SPDX-License-Identifier: MIT */
#include "system.h"

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

const int killed = 86;

bool active;
PlaitTestSystemMode mode;
int number;
int problem;
int count;
bool interrupts;

void (*watcher) (gpointer data);
gpointer watched;

/* Forked processes stop before they rename a file to a name with this ending. */
std::string stop_ending;
int renames_left;
pid_t beginner;

void
stop_before (const std::string &path)
{
  if (beginner == 0 || getpid () == beginner || path.size () < stop_ending.size ()
      || path.compare (path.size () - stop_ending.size (), std::string::npos, stop_ending) != 0)
    return;
  if (renames_left-- == 0)
    raise (SIGSTOP);
}

/* In the mode INTERRUPT, TRUE for the first of each two attempts, with errno EINTR. */
bool
is_interrupted ()
{
  if (!active || mode != PLAIT_TEST_SYSTEM_INTERRUPT)
    return false;
  interrupts = !interrupts;
  if (interrupts)
    errno = EINTR;
  return interrupts;
}

template <typename Call>
auto
pass (Call call)
{
  if (!active)
    return call ();
  bool hit = count++ == number;
  if (hit && mode == PLAIT_TEST_SYSTEM_KILL_BEFORE)
    _exit (killed);
  if (hit && mode == PLAIT_TEST_SYSTEM_FAIL)
    {
      errno = problem;
      return decltype (call ()) (-1);
    }
  auto result = call ();
  if (hit && mode == PLAIT_TEST_SYSTEM_KILL_AFTER)
    _exit (killed);
  if (watcher)
    {
      int problem_of_call = errno;
      active = false;
      watcher (watched);
      active = true;
      errno = problem_of_call;
    }
  return result;
}

} // namespace

extern "C" {
int __real_open64 (const char *path, int flags, ...);
ssize_t __real_write (int descriptor, const void *bytes, size_t length);
ssize_t __real_pwrite64 (int descriptor, const void *bytes, size_t length, off64_t offset);
int __real_ftruncate64 (int descriptor, off64_t length);
int __real_fsync (int descriptor);
int __real_fchmod (int descriptor, mode_t mode);
int __real_rename (const char *from, const char *to);
int __real_unlink (const char *path);
int __real_close (int descriptor);
ssize_t __real_read (int descriptor, void *bytes, size_t length);
ssize_t __real_pread64 (int descriptor, void *bytes, size_t length, off64_t offset);

ssize_t
__wrap_read (int descriptor, void *bytes, size_t length)
{
  return is_interrupted () ? -1 : __real_read (descriptor, bytes, length);
}

ssize_t
__wrap_pread64 (int descriptor, void *bytes, size_t length, off64_t offset)
{
  return is_interrupted () ? -1 : __real_pread64 (descriptor, bytes, length, offset);
}

int
__wrap_open64 (const char *path, int flags, ...)
{
  mode_t permissions = 0;
  if (flags & O_CREAT)
    {
      va_list arguments;
      va_start (arguments, flags);
      permissions = va_arg (arguments, mode_t);
      va_end (arguments);
    }
  return is_interrupted () ? -1 : pass ([=] { return __real_open64 (path, flags, permissions); });
}

ssize_t
__wrap_write (int descriptor, const void *bytes, size_t length)
{
  return is_interrupted () ? -1 : pass ([=] { return __real_write (descriptor, bytes, length); });
}

ssize_t
__wrap_pwrite64 (int descriptor, const void *bytes, size_t length, off64_t offset)
{
  return is_interrupted () ? -1 : pass ([=] { return __real_pwrite64 (descriptor, bytes, length, offset); });
}

int
__wrap_ftruncate64 (int descriptor, off64_t length)
{
  return is_interrupted () ? -1 : pass ([=] { return __real_ftruncate64 (descriptor, length); });
}

int
__wrap_fsync (int descriptor)
{
  return is_interrupted () ? -1 : pass ([=] { return __real_fsync (descriptor); });
}

int
__wrap_fchmod (int descriptor, mode_t permissions)
{
  return pass ([=] { return __real_fchmod (descriptor, permissions); });
}

int
__wrap_rename (const char *from, const char *to)
{
  stop_before (to);
  return pass ([=] { return __real_rename (from, to); });
}

int
__wrap_unlink (const char *path)
{
  return pass ([=] { return __real_unlink (path); });
}

int
__wrap_close (int descriptor)
{
  /* close also closes the descriptor when it fails. */
  if (!active)
    return __real_close (descriptor);
  bool fails = mode == PLAIT_TEST_SYSTEM_FAIL && count == number;
  if (fails)
    __real_close (descriptor);
  return pass ([=] { return __real_close (descriptor); });
}

void
plait_test_system_begin (PlaitTestSystemMode mode_, int number_, int problem_)
{
  mode = mode_;
  number = number_;
  problem = problem_;
  count = 0;
  interrupts = false;
  active = true;
}

void
plait_test_system_watch (void (*after) (gpointer data), gpointer data)
{
  watcher = after;
  watched = data;
}

int
plait_test_system_end (void)
{
  active = false;
  return count;
}

void
plait_test_system_stop_forked (const char *ending, int number)
{
  stop_ending = ending;
  renames_left = number;
  beginner = getpid ();
}

gboolean
plait_test_system_fork (void (*body) (gpointer data), gpointer data)
{
  int status;
  pid_t child = fork ();
  if (child == 0)
    {
      body (data);
      _exit (0);
    }
  if (child < 0 || waitpid (child, &status, 0) != child || !WIFEXITED (status))
    return FALSE;
  return WEXITSTATUS (status) == killed || WEXITSTATUS (status) == 0;
}
}
