/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _DEFAULT_SOURCE /* sigaction(), struct winsize; -std=c11 leaves them out */
#include "terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static struct termios before, keys;
static volatile sig_atomic_t is_open;

/* tcsetattr() is one of the few functions that a signal handler may call. */
static void
restore_and_die (int number)
{
  if (is_open)
    tcsetattr (STDIN_FILENO, TCSANOW, &before);
  signal (number, SIG_DFL);
  raise (number);
}

/* Ctrl-Z: the shell gets its terminal back as it was. */
static void
restore_and_stop (int number)
{
  int saved = errno;

  if (is_open)
    tcsetattr (STDIN_FILENO, TCSANOW, &before);
  raise (SIGSTOP);
  errno = saved;
}

static void
go_on (int number)
{
  int saved = errno;

  if (is_open)
    tcsetattr (STDIN_FILENO, TCSANOW, &keys);
  errno = saved;
}

static void
handle (int number, void (*handler) (int))
{
  struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

  sigemptyset (&action.sa_mask);
  sigaction (number, &action, NULL);
}

void
terminal_open (void)
{
  static const int deadly[] = { SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPIPE };

  if (tcgetattr (STDIN_FILENO, &before) != 0)
    return;
  keys = before;
  keys.c_lflag &= ~(tcflag_t) (ICANON | ECHO);
  keys.c_cc[VMIN] = 1;
  keys.c_cc[VTIME] = 0;
  atexit (terminal_close);
  for (guint i = 0; i < G_N_ELEMENTS (deadly); i++)
    handle (deadly[i], restore_and_die);
  handle (SIGTSTP, restore_and_stop);
  handle (SIGCONT, go_on);
  is_open = 1;
  tcsetattr (STDIN_FILENO, TCSANOW, &keys);
}

void
terminal_close (void)
{
  if (is_open)
    tcsetattr (STDIN_FILENO, TCSANOW, &before);
  is_open = 0;
}

guint
terminal_columns (void)
{
  struct winsize size;

  if (!isatty (STDOUT_FILENO))
    return 0;
  return ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}
