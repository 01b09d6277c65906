// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run each piece of work in a process. The output of a piece is deferred until all previous pieces
 * are done, so that the printed output does not depend on the number of jobs.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/child.h"
#include "common/complain.h"
#include "common/exit-status.h"
#include "common/progress.h"
#include "common/signal.h"
#include "crew.h"

/*
 * Maximum number of pieces that may be finished before an earlier piece is. This limits the number
 * of open file descriptors. Chosen.
 */
#define MAX_AHEAD 64
/* Interval at which the processes are checked, ms. Chosen. */
#define LOOK_MS 100
/*
 * Time that processes have to end after a signal, ms. A signal from a terminal also reaches them
 * directly. Chosen.
 */
#define GRACE_MS 300

struct crew_process {
	pid_t pid;   /* process number, or 0 if the process has ended */
	int pipe;    /* a pipe that is closed when the process ends */
	int said[2]; /* files with the process's stdout and stderr */
	int status;
};

struct crew {
	const struct crew_work *work;
	void *data;
	struct crew_process *processes; /* by piece, modulo the size of the array */
	struct pollfd *polled;
	size_t num_processes;
	size_t num_at_work;
	size_t first; /* index of the first unfinished piece */
	size_t next;  /* index of the next piece to start */
	unsigned int jobs;
};

void *crew_share(size_t size)
{
	void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return shared == MAP_FAILED ? NULL : shared;
}

void crew_unshare(void *shared, size_t size)
{
	if (shared)
		munmap(shared, size);
}

/* ---- a second signal --------------------------------------------------------- */

/* The crew that is running. The signal handler uses it. */
static struct crew *volatile at_work;
static void (*volatile before_crew)(void);

/* End all processes before a second signal ends this process (see before_end). */
static void end_crew(void)
{
	const struct timespec moment = { .tv_nsec = 10000000 };
	struct crew *crew = at_work;

	for (size_t i = 0; crew && i < crew->num_processes; i++) {
		const pid_t pid = crew->processes[i].pid;

		/*
		 * The first signal only sets a flag in the child. The second signal ends the child.
		 */
		while (pid > 0 && waitpid(pid, NULL, WNOHANG) == 0) {
			kill(pid, SIGTERM);
			nanosleep(&moment, NULL);
		}
	}
	if (before_crew)
		before_crew();
}

/* ---- processes ---------------------------------------------------------------- */

static struct crew_process *find_crew_process(const struct crew *crew, size_t index)
{
	return &crew->processes[index % crew->num_processes];
}

static void close_fd_pair(const int fds[2])
{
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static void run_crew_process(const struct crew *crew, size_t index, const sigset_t *signals,
			     pid_t parent)
{
	const int *said = find_crew_process(crew, index)->said;
	int status;

	before_end = before_crew;
	at_work = NULL;
	sigprocmask(SIG_SETMASK, signals, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || dup2(said[0], STDOUT_FILENO) < 0 ||
	    dup2(said[1], STDERR_FILENO) < 0)
		_exit(EXIT_BAD);
	status = crew->work->work(crew->data, index);
	fflush(NULL);
	_exit(status);
}

/*
 * Start a process. Signals are blocked while the process starts, so that the signal handler knows
 * all processes.
 */
static pid_t fork_with_signals_blocked(struct crew *crew, struct crew_process *process)
{
	const pid_t parent = getpid();
	sigset_t all, before;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	process->pid = fork();
	if (!process->pid)
		run_crew_process(crew, crew->next, &before, parent);
	if (process->pid > 0)
		crew->num_at_work++;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return process->pid;
}

static bool start_process(struct crew *crew)
{
	struct crew_process *process = find_crew_process(crew, crew->next);
	int ends[2] = { -1, -1 };

	process->said[0] = memfd_create("netsync", MFD_CLOEXEC);
	process->said[1] = memfd_create("netsync", MFD_CLOEXEC);
	fflush(NULL);
	if (process->said[0] >= 0 && process->said[1] >= 0 && !pipe2(ends, O_CLOEXEC) &&
	    fork_with_signals_blocked(crew, process) > 0) {
		close(ends[1]);
		process->pipe = ends[0];
		crew->next++;
		return true;
	}
	complain("cannot start a process: %s.", strerror(errno));
	process->pid = 0;
	close_fd_pair(ends);
	close_fd_pair(process->said);
	return false;
}

static void end_crew_process(struct crew *crew, struct crew_process *process)
{
	const int status = child_wait(process->pid);

	process->status = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_BAD;
	if (WIFSIGNALED(status) && !interrupted)
		dprintf(process->said[1],
			"%s: the process that copied this trace was killed by signal %d (%s).\n",
			complainer, WTERMSIG(status), strsignal(WTERMSIG(status)));
	process->pid = 0;
	close(process->pipe);
	crew->num_at_work--;
}

/* Wait briefly until a process ends. */
static void wait_for_processes(struct crew *crew)
{
	size_t num = 0;

	for (size_t i = crew->first; i < crew->next; i++)
		if (find_crew_process(crew, i)->pid)
			crew->polled[num++] = (struct pollfd){
				.fd = find_crew_process(crew, i)->pipe
			};
	if (poll(crew->polled, num, LOOK_MS) <= 0)
		return;
	num = 0;
	for (size_t i = crew->first; i < crew->next; i++)
		if (find_crew_process(crew, i)->pid && crew->polled[num++].revents)
			end_crew_process(crew, find_crew_process(crew, i));
}

static void stop_processes(struct crew *crew)
{
	int grace = interrupted ? GRACE_MS / LOOK_MS : 0;

	for (; crew->num_at_work && grace > 0; grace--)
		wait_for_processes(crew);
	for (size_t i = crew->first; i < crew->next; i++)
		if (find_crew_process(crew, i)->pid)
			kill(find_crew_process(crew, i)->pid, SIGTERM);
	while (crew->num_at_work)
		wait_for_processes(crew);
	for (; crew->first < crew->next; crew->first++)
		close_fd_pair(find_crew_process(crew, crew->first)->said);
}

/* Print the deferred output of a process. */
static void print_said_output(int said, FILE *to)
{
	char text[4096];
	ssize_t size;

	lseek(said, 0, SEEK_SET);
	while ((size = read(said, text, sizeof(text))) > 0) {
		progress_hide();
		fwrite(text, 1, (size_t)size, to);
	}
}

static bool finish_crew_turns(struct crew *crew)
{
	while (crew->first < crew->next && !find_crew_process(crew, crew->first)->pid) {
		const struct crew_process *process = find_crew_process(crew, crew->first);

		print_said_output(process->said[0], stdout);
		print_said_output(process->said[1], stderr);
		close_fd_pair(process->said);
		crew->first++;
		if (!crew->work->done(crew->data, crew->first - 1, process->status))
			return false;
	}
	return true;
}

static bool run_processes(struct crew *crew, size_t num)
{
	while (crew->first < num && !interrupted) {
		while (!interrupted && crew->num_at_work < crew->jobs && crew->next < num &&
		       crew->next - crew->first < crew->num_processes)
			if (!start_process(crew))
				return false;
		wait_for_processes(crew);
		if (!interrupted && !finish_crew_turns(crew))
			return false;
		if (crew->work->look)
			crew->work->look(crew->data);
	}
	return !interrupted;
}

static bool run_crew_apart(unsigned int jobs, size_t num, const struct crew_work *work, void *data)
{
	const size_t wanted = (size_t)jobs + MAX_AHEAD;
	struct crew crew = { .work = work,
			     .data = data,
			     .jobs = jobs,
			     .num_processes = num < wanted ? num : wanted };
	bool ok;

	crew.processes = calloc(crew.num_processes, sizeof(*crew.processes));
	crew.polled = calloc(crew.num_processes, sizeof(*crew.polled));
	ok = crew.processes && crew.polled;
	if (!ok) {
		complain_no_memory();
	} else {
		before_crew = before_end;
		at_work = &crew;
		before_end = end_crew;
		ok = run_processes(&crew, num);
		stop_processes(&crew);
		before_end = before_crew;
		at_work = NULL;
	}
	free(crew.processes);
	free(crew.polled);
	return ok;
}

bool crew_run(unsigned int jobs, size_t num, const struct crew_work *work, void *data)
{
	if (jobs > 1 && num > 1)
		return run_crew_apart(jobs, num, work, data);
	for (size_t i = 0; i < num; i++)
		if (!work->done(data, i, work->work(data, i)))
			return false;
	return true;
}
