/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of a GPU's driver: the stand-in for the driver, and processes that run at the same time. */
#ifndef TESTS_SUPPORT_PROCESSES_H
#define TESTS_SUPPORT_PROCESSES_H

#include <glib.h>

#define PROCESS_SKIPPED 77

/*
 * Where CUDACONVOLVE_STAND_IN names the folder of element/driver/libcuda.c, starts the program again, behind that
 * library. Without a driver the program ends with 77. To be called first in main().
 */
void stand_in_driver (char **argv);

/* The program itself once more, with other arguments and other variables. */
typedef struct _ProcessJob ProcessJob;

ProcessJob *process_job_new (const gchar *name, gchar **argv);
void process_job_free (ProcessJob *job);
/* Sets a variable of the environment. Takes value; NULL removes the variable. */
void process_job_set (ProcessJob *job, const gchar *variable, gchar *value);

/* What a job has written, and how it ended: its status, or minus a signal's number. */
typedef void (*ProcessJudge) (const gchar *name, const gchar *output, gint status, gpointer data);

/*
 * Runs the jobs, CUDACONVOLVE_PROCESSES at the same time, or as many as there are processors. A job is killed after
 * `seconds`. Prints what each job has written when the job has ended; or calls judge, which may be NULL, instead.
 * Returns the status for main(): 0, 1 after a failure, or 77 where all jobs were skipped.
 */
int processes_run (GPtrArray *jobs, guint seconds, ProcessJudge judge);

#endif
