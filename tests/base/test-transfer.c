/* SPDX-License-Identifier: MIT */
#include "files/transfer.h"
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

TEST_CASE (transfer, reads_what_was_written_and_tells_where_the_file_ends)
{
  int descriptor = open (plait_test_path ("bytes"), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  char found[8] = "";

  REQUIRE (descriptor >= 0);
  CHECK (plait_write_at (descriptor, "world", 5, 2));
  CHECK (plait_write_at (descriptor, "a ", 2, 0));
  CHECK (plait_write_at (descriptor, "", 0, 100));
  CHECK_INT (plait_read_at (descriptor, found, sizeof found, 0), 7);
  CHECK (memcmp (found, "a world", 7) == 0);
  CHECK_INT (plait_read_at (descriptor, found, 3, 4), 3);
  CHECK (memcmp (found, "rld", 3) == 0);
  CHECK_INT (plait_read_at (descriptor, found, 3, 7), 0);
  CHECK_INT (plait_read_at (descriptor, found, 3, -1), -1);
  CHECK_INT (errno, EINVAL);
  close (descriptor);
}

TEST_CASE (transfer, fails_with_the_reason)
{
  int full = open ("/dev/full", O_WRONLY | O_CLOEXEC);
  char byte;

  errno = 0;
  CHECK (!plait_write_at (full, "x", 1, 0));
  CHECK_INT (errno, ENOSPC);
  close (full);
  CHECK_INT (plait_read_at (-1, &byte, 1, 0), -1);
  CHECK_INT (errno, EBADF);
}
