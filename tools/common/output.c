// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write a file without a name (O_TMPFILE), sync it to disk (fsync), and only then link it to its
 * name. To replace an existing file, rename the new file. If the file system does not support
 * unnamed files, use a temporary name next to the target. A signal removes the temporary file.
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/child.h"
#include "complain.h"
#include "exit-status.h"
#include "folders.h"
#include "output.h"
#include "signal.h"
#include "value.h"

/* Number of names to try for a link that exists only for an instant. Chosen. */
#define MAX_NAMES 100

struct output {
	const char *path; /* path that the caller gave */
	char *target;	  /* path after resolving symbolic links */
	char *temporary;  /* temporary name until the file is complete, or NULL */
	FILE *file;
	bool is_special; /* the target is a device or a pipe, which is written to directly */
	bool replaces;	 /* whether a regular file exists; @before is its state */
	struct stat before;
};

static bool complain_about_output(const char *path)
{
	if (errno == EEXIST)
		complain("%s: the file exists; use --force to overwrite it.", path);
	else if (errno != ECANCELED)
		complain_about_path(path);
	return false;
}

/* Return the directory of a path. The caller frees it. */
static char *get_output_directory(const char *path)
{
	char *copy = strdup(path);
	char *folder = copy ? strdup(dirname(copy)) : NULL;

	free(copy);
	return folder;
}

static mode_t get_umask(void)
{
	const mode_t mask = umask(0);

	umask(mask);
	return mask;
}

/* ---- signals ------------------------------------------------------------- */

/* Signals that end a process. */
static const int endings[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE };

#define NUM_ENDINGS (sizeof(endings) / sizeof(endings[0]))

/* The only file with a temporary name, which a signal handler removes. */
static const char *volatile unfinished;
static pid_t writer;
static struct sigaction before[NUM_ENDINGS];

/*
 * Handle a signal. When this function returns, the signal is raised again, with the action it had
 * before. Child processes inherit this handler, but must not remove the file.
 */
static void remove_unfinished(int number)
{
	if (unfinished && getpid() == writer)
		unlink(unfinished);
	for (size_t i = 0; i < NUM_ENDINGS; i++)
		if (endings[i] == number)
			sigaction(number, &before[i], NULL);
	raise(number);
}

/* Return whether a signal with this action ends the process. */
static bool is_ending_action(const struct sigaction *action)
{
	return action->sa_handler == SIG_DFL || is_explaining_handler(action->sa_handler);
}

static void set_ending_signals(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < NUM_ENDINGS; i++)
		sigaddset(set, endings[i]);
}

static void block_ending_signals(sigset_t *old)
{
	sigset_t set;

	set_ending_signals(&set);
	sigprocmask(SIG_BLOCK, &set, old);
}

/*
 * Remove a file if a signal ends the process. Block signals before you call this function. Signals
 * that are caught or ignored do not end the process.
 */
static void remove_file_at_signal(const char *path)
{
	struct sigaction action = { .sa_handler = remove_unfinished };

	/* A second signal must not end the process before the file is removed. */
	set_ending_signals(&action.sa_mask);
	writer = getpid();
	unfinished = path;
	for (size_t i = 0; i < NUM_ENDINGS; i++)
		if (!sigaction(endings[i], NULL, &before[i]) && is_ending_action(&before[i]))
			sigaction(endings[i], &action, NULL);
}

static void stop_removing_at_signal(void)
{
	if (!unfinished)
		return;
	for (size_t i = 0; i < NUM_ENDINGS; i++)
		if (is_ending_action(&before[i]))
			sigaction(endings[i], &before[i], NULL);
	unfinished = NULL;
}

/* ---- target and temporary file ------------------------------------------ */

/* Find the file to write or replace. On failure, set errno and return false. */
static bool find_output_target(struct output *out, bool force)
{
	struct stat st;

	if (lstat(out->path, &st)) {
		out->target = errno == ENOENT ? strdup(out->path) : NULL;
		return out->target;
	}
	if (!force) {
		errno = EEXIST;
		return false;
	}
	if (stat(out->path, &out->before))
		return false;
	if (S_ISDIR(out->before.st_mode)) {
		errno = EISDIR;
		return false;
	}
	out->replaces = S_ISREG(out->before.st_mode);
	out->is_special = !out->replaces;
	/* Links in /proc that lead to pipes have no target path. */
	out->target = out->is_special ? strdup(out->path) : realpath(out->path, NULL);
	return out->target;
}

const struct option_row output_options[] = {
	OPTION("output", 'o', "FILE", "write to FILE instead of standard output", parse_text_option,
	       .at = offsetof(struct destination, path)),
	OPTION("force", 0, NULL, "overwrite FILE if it exists", parse_flag_option,
	       .at = offsetof(struct destination, force)),
	OPTIONS_END
};

bool output_check(const struct destination *to)
{
	struct output out = { .path = to->path };
	char *folder;
	bool ok;

	if (!to->path)
		return true;
	ok = find_output_target(&out, to->force);
	folder = ok ? get_output_directory(out.target) : NULL;
	if (ok)
		ok = folder && !access(out.is_special ? out.target : folder, W_OK);
	if (!ok)
		complain_about_output(to->path);
	free(folder);
	free(out.target);
	return ok;
}

/*
 * Write the path of a descriptor in /proc. Only root may call linkat() with a descriptor alone
 * (AT_EMPTY_PATH), but every user may call it with this path.
 */
static void format_fd_path(char name[VALUE_SIZE], int fd)
{
	snprintf(name, VALUE_SIZE, "/proc/self/fd/%d", fd);
}

static int open_nameless_file(const struct output *out)
{
	char *folder = get_output_directory(out->target), name[VALUE_SIZE];
	int fd = folder ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;

	free(folder);
	format_fd_path(name, fd);
	if (fd < 0 || !access(name, F_OK))
		return fd;
	close(fd);
	return -1;
}

static int open_temporary_file(struct output *out)
{
	sigset_t signals;
	int fd = -1, err;

	if (asprintf(&out->temporary, "%s.XXXXXX", out->target) < 0)
		out->temporary = NULL;
	if (!out->temporary)
		return -1;
	block_ending_signals(&signals);
	fd = mkostemp(out->temporary, O_CLOEXEC);
	err = errno;
	if (fd < 0) {
		free(out->temporary);
		out->temporary = NULL;
	} else {
		remove_file_at_signal(out->temporary);
	}
	sigprocmask(SIG_SETMASK, &signals, NULL);
	errno = err;
	return fd;
}

static bool open_output(struct output *out, bool force)
{
	int fd;

	if (!find_output_target(out, force))
		return false;
	if (out->is_special)
		fd = open(out->target, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	else
		fd = open_nameless_file(out);
	if (fd < 0 && !out->is_special)
		fd = open_temporary_file(out);
	out->file = fd < 0 ? NULL : fdopen(fd, out->is_special ? "w" : "w+");
	if (!out->file && fd >= 0)
		close(fd);
	return out->file;
}

static void discard_output(struct output *out)
{
	const int err = errno;

	if (out->file)
		fclose(out->file);
	if (out->temporary) {
		unlink(out->temporary);
		stop_removing_at_signal();
	}
	free(out->temporary);
	free(out->target);
	errno = err;
}

/* ---- giving the file its name ------------------------------------------- */

/*
 * Copy owner and mode of the existing file. If the group cannot be set, give the new group only the
 * permissions that others have.
 */
static bool set_permissions(const struct output *out)
{
	const int fd = fileno(out->file);
	mode_t mode = 0666 & ~get_umask();

	if (out->replaces) {
		mode = out->before.st_mode & 0777;
		if (fchown(fd, out->before.st_uid, out->before.st_gid) &&
		    fchown(fd, -1, out->before.st_gid))
			mode &= ~070 | (mode & 07) << 3;
	}
	return !fchmod(fd, mode);
}

static void sync_folder(const char *path)
{
	char *folder = get_output_directory(path);
	const int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	/*
	 * The file itself is on disk already. After a crash, either the old file or the new one
	 * exists.
	 */
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	free(folder);
}

/*
 * Rename a file without replacing another one. Some file systems cannot do this, and some cannot
 * link files. If a file system can do neither, a file that another process creates at the same
 * moment is overwritten.
 */
static bool rename_without_replacing(const char *from, const char *to)
{
	struct stat st;

	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return true;
	if (errno != EINVAL && errno != ENOSYS)
		return false;
	if (!link(from, to)) {
		unlink(from);
		return true;
	}
	if (errno == EEXIST)
		return false;
	if (!lstat(to, &st)) {
		errno = EEXIST;
		return false;
	}
	return !rename(from, to);
}

/*
 * Replace the existing file. An unnamed file cannot replace another file by rename(), so
 * it gets a temporary name first.
 */
static bool replace_by_nameless(struct output *out)
{
	char name[VALUE_SIZE];
	sigset_t signals;
	int ret = -1;
	bool ok;

	format_fd_path(name, fileno(out->file));
	block_ending_signals(&signals);
	for (unsigned int i = 0; i < MAX_NAMES && ret; i++) {
		free(out->temporary);
		if (asprintf(&out->temporary, "%s.%d-%u", out->target, getpid(), i) < 0) {
			out->temporary = NULL;
			break;
		}
		ret = linkat(AT_FDCWD, name, AT_FDCWD, out->temporary, AT_SYMLINK_FOLLOW);
		if (ret && errno != EEXIST)
			break;
	}
	ok = !ret && !rename(out->temporary, out->target);
	if (!ret && !ok)
		unlink(out->temporary);
	free(out->temporary);
	out->temporary = NULL;
	sigprocmask(SIG_SETMASK, &signals, NULL);
	return ok;
}

static bool name_output_file(struct output *out)
{
	char name[VALUE_SIZE];
	sigset_t signals;
	bool ok;

	if (!out->temporary && out->replaces)
		return replace_by_nameless(out);
	if (!out->temporary) {
		format_fd_path(name, fileno(out->file));
		return !linkat(AT_FDCWD, name, AT_FDCWD, out->target, AT_SYMLINK_FOLLOW);
	}
	block_ending_signals(&signals);
	ok = out->replaces ? !rename(out->temporary, out->target) :
			     rename_without_replacing(out->temporary, out->target);
	if (ok) {
		stop_removing_at_signal();
		free(out->temporary);
		out->temporary = NULL;
	}
	sigprocmask(SIG_SETMASK, &signals, NULL);
	return ok;
}

/* Finish the file. On failure, set errno and return false, and do not change the existing file. */
static bool complete_output(struct output *out)
{
	FILE *file = out->file;

	if (out->is_special) {
		out->file = NULL;
		return !fclose(file);
	}
	if (!set_permissions(out) || fsync(fileno(file)) || !name_output_file(out))
		return false;
	sync_folder(out->target);
	return true;
}

/* ---- writing --------------------------------------------------------------- */

/* Write the whole content. On failure, set errno and return false. */
static bool write_content_to(FILE *out, output_func *write, const void *data)
{
	bool ok;

	errno = 0;
	ok = write(out, data);
	if (fflush(out) || ferror(out))
		ok = false;
	if (!ok && !errno)
		errno = ferror(out) ? EIO : ENOMEM;
	return ok;
}

/* Whether a failure of standard output was already reported. */
static bool is_said;

bool complain_about_standard_output(void)
{
	if (!is_said && errno != EPIPE && errno != ECANCELED)
		complain("standard output: %s.",
			 errno ? strerror(errno) : "not everything was written");
	is_said = true;
	return false;
}

bool output_write(const struct destination *to, output_func *write, const void *data)
{
	struct output out = { .path = to->path };
	bool ok;

	if (!to->path) {
		note_partial_output("the output is incomplete");
		return write_content_to(stdout, write, data) || complain_about_standard_output();
	}
	ok = open_output(&out, to->force) && write_content_to(out.file, write, data) &&
	     complete_output(&out);
	discard_output(&out);
	if (ok)
		note_partial_output("the file was already complete");
	return ok || complain_about_output(to->path);
}

void output_begin(void)
{
	/*
	 * If a standard stream is closed, open it in the wrong direction, so that using it still
	 * fails.
	 */
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd ? O_RDONLY : O_WRONLY);
	/* Let exceeding the limit for file sizes cause an error, like a full disk. */
	signal(SIGXFSZ, SIG_IGN);
}

int output_end(int status)
{
	const bool failed = ferror(stdout);

	errno = 0;
	if (!fclose(stdout) && !failed)
		return status;
	complain_about_standard_output();
	return EXIT_BAD;
}

/* ---- directories ------------------------------------------------------------ */

static bool complain_about_output_folder(const char *path)
{
	if (errno == EEXIST || errno == ENOTEMPTY)
		complain("%s: the directory exists; give another one.", path);
	else
		complain_about_path(path);
	return false;
}

/* Path of the only output directory that is not complete. */
static const char *volatile unfinished_folder;
static volatile pid_t folder_writer;

/*
 * Remove the directory before a second signal ends the process. A signal handler must not do this
 * itself, so it runs rm(1).
 */
static void remove_unfinished_folder(void)
{
	pid_t pid;

	if (!unfinished_folder || getpid() != writer)
		return;
	if (folder_writer > 0 && !kill(folder_writer, SIGKILL))
		child_wait(folder_writer);
	pid = vfork();
	if (!pid) {
		execl("/bin/rm", "rm", "-rf", "--", unfinished_folder, NULL);
		_exit(127);
	}
	child_wait(pid);
}

bool output_folder_open(struct output_folder *folder, const char *path)
{
	struct stat st;

	folder->path = path;
	folder->temporary = NULL;
	if (!lstat(path, &st)) {
		errno = EEXIST;
		return complain_about_output_folder(path);
	}
	if (asprintf(&folder->temporary, "%s.XXXXXX", path) < 0)
		folder->temporary = NULL;
	if (folder->temporary && mkdtemp(folder->temporary)) {
		writer = getpid();
		unfinished_folder = folder->temporary;
		before_end = remove_unfinished_folder;
		return true;
	}
	complain_about_output_folder(path);
	free(folder->temporary);
	folder->temporary = NULL;
	return false;
}

static bool sync_entry(const FTSENT *entry)
{
	int fd;
	bool ok;

	switch (entry->fts_info) {
	case FTS_DP:
	case FTS_F:
		fd = open(entry->fts_accpath, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		/*
		 * A linked file may belong to another user. The data of a linked file are on disk
		 * already.
		 */
		if (fd < 0)
			return errno == EACCES;
		ok = !fsync(fd);
		close(fd);
		return ok;
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		errno = entry->fts_errno;
		return false;
	default:
		return true;
	}
}

static bool sync_tree(const char *path)
{
	char *paths[] = { (char *)path, NULL };
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	bool ok = fts;
	FTSENT *entry;

	while (ok && !interrupted && (entry = fts_read(fts)))
		ok = sync_entry(entry);
	if (fts)
		fts_close(fts);
	return ok;
}

void output_folder_is_written_by(pid_t pid)
{
	folder_writer = pid;
}

bool output_folder_close(struct output_folder *folder, mode_t permissions)
{
	bool ok = sync_tree(folder->temporary) &&
		  !chmod(folder->temporary, permissions & 0777 & ~get_umask());

	if (interrupted)
		return false;
	if (!ok || !rename_without_replacing(folder->temporary, folder->path))
		return complain_about_output_folder(folder->path);
	sync_folder(folder->path);
	unfinished_folder = NULL;
	free(folder->temporary);
	folder->temporary = NULL;
	return true;
}

void output_folder_release(struct output_folder *folder)
{
	if (folder->temporary)
		remove_tree(folder->temporary);
	unfinished_folder = NULL;
	free(folder->temporary);
	folder->temporary = NULL;
}
