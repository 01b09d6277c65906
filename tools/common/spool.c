// SPDX-License-Identifier: GPL-2.0-only
/* Write records of one size to a scratch file, and read them back in the same order. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "../../libnetsync/util/scratch.h"
#include "complain.h"
#include "spool.h"

bool spool_report_error(void)
{
	complain("%s: cannot store temporary data: %s. Set TMPDIR to another directory.",
		 scratch_get_folder(false), strerror(errno));
	return false;
}

bool spool_open(struct spool *spool, size_t size)
{
	const int fd = scratch_open_file();

	spool->size = size;
	spool->file = fd < 0 ? NULL : fdopen(fd, "w+");
	return spool->file || spool_report_error();
}

void spool_put_record(struct spool *spool, const void *record)
{
	/* If this fails, reading the records reports the error. */
	fwrite(record, spool->size, 1, spool->file);
}

bool spool_read_records(struct spool *spool, bool (*each)(void *data, const void *record),
			void *data)
{
	_Alignas(max_align_t) char record[SPOOL_RECORD];

	if (fflush(spool->file) || ferror(spool->file) || fseek(spool->file, 0, SEEK_SET))
		return spool_report_error();
	while (fread(record, spool->size, 1, spool->file) == 1)
		if (!each(data, record))
			return false;
	return !ferror(spool->file) || spool_report_error();
}

void spool_close(struct spool *spool)
{
	if (spool->file)
		fclose(spool->file);
	spool->file = NULL;
}
