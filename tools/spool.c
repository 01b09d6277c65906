// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spool.h"

static const char *folder(void)
{
	const char *path = getenv("TMPDIR");

	return path && *path ? path : "/tmp";
}

static bool complain_of_folder(void)
{
	complain("%s: messages cannot be kept there: %s. TMPDIR says where else.",
		 folder(), strerror(errno));
	return false;
}

static void keep(void *data, const struct netsync_message *msg)
{
	struct spool *spool = data;
	const struct spooled message = {
		msg->from, msg->to, msg->send_ns, msg->recv_ns,
	};

	/* A failure shows when they are read. */
	fwrite(&message, sizeof(message), 1, spool->file);
}

bool spool_start(struct spool *spool, struct netsync *ns)
{
	char *path = NULL;
	int fd = -1;

	if (asprintf(&path, "%s/netsync-XXXXXX", folder()) >= 0)
		fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	free(path);
	spool->file = fd < 0 ? NULL : fdopen(fd, "w+");
	if (!spool->file)
		return complain_of_folder();
	netsync_watch_messages(ns, keep, spool);
	return true;
}

bool spool_replay(struct spool *spool,
		  bool (*each)(void *data, const struct spooled *message),
		  void *data)
{
	struct spooled message;

	if (fflush(spool->file) || ferror(spool->file) ||
	    fseek(spool->file, 0, SEEK_SET))
		return complain_of_folder();
	while (fread(&message, sizeof(message), 1, spool->file) == 1)
		if (!each(data, &message))
			return false;
	return !ferror(spool->file) || complain_of_folder();
}

void spool_release(struct spool *spool)
{
	if (spool->file)
		fclose(spool->file);
	spool->file = NULL;
}
