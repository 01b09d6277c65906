// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files -> a tar archive. A member is a header of one block, and its bytes, filled up to whole
 * blocks:
 *
 *	| header: name, size, checksum | bytes | 0 ... | header | bytes | 0 | 0 |
 */
#include <errno.h>
#include <string.h>

#include "ustar.h"

/* Size of a block, in bytes (POSIX). */
#define BLOCK_SIZE 512
/* Smallest size that 11 octal digits cannot express (POSIX). */
#define OCTAL_LIMIT (UINT64_C(1) << 33)
/* Number of bytes that are copied at once. Chosen. */
#define COPY_SIZE 65536

struct ustar_header {
	char name[100];
	char mode[8];
	char uid[8];
	char gid[8];
	char size[12];
	char mtime[12];
	char checksum[8];
	char type;
	char link_name[100];
	char magic[6];
	char version[2];
	char user[32];
	char group[32];
	char major[8];
	char minor[8];
	char prefix[155];
	char padding[12];
};

_Static_assert(sizeof(struct ustar_header) == BLOCK_SIZE, "a header is one block");

/* Write a number as @digits octal digits. */
static void set_octal_field(char *field, size_t digits, uint64_t number)
{
	while (digits) {
		field[--digits] = (char)('0' + number % 8);
		number /= 8;
	}
}

/* Write a size. Larger ones are binary, with the highest bit of the field set, as in GNU tar. */
static void set_size_field(char field[12], uint64_t size)
{
	if (size < OCTAL_LIMIT) {
		set_octal_field(field, 11, size);
		return;
	}
	for (int i = 11; i > 3; i--) {
		field[i] = (char)(size & 255);
		size >>= 8;
	}
	field[0] = (char)0x80;
}

static void set_checksum_field(struct ustar_header *header)
{
	const unsigned char *bytes = (const unsigned char *)header;
	unsigned int sum = 0;

	/* The sum treats its own field as spaces. */
	memset(header->checksum, ' ', sizeof(header->checksum));
	for (size_t i = 0; i < sizeof(*header); i++)
		sum += bytes[i];
	set_octal_field(header->checksum, 6, sum);
	header->checksum[6] = '\0';
}

bool ustar_put_header(FILE *out, const char *name, uint64_t size, int64_t mtime_s)
{
	struct ustar_header header = { .type = '0', .magic = "ustar", .version = { '0', '0' } };

	if (!*name || strlen(name) > USTAR_NAME_LENGTH) {
		errno = ENAMETOOLONG;
		return false;
	}
	strcpy(header.name, name);
	set_octal_field(header.mode, 7, 0644);
	set_octal_field(header.uid, 7, 0);
	set_octal_field(header.gid, 7, 0);
	set_size_field(header.size, size);
	set_octal_field(header.mtime, 11, mtime_s < 0 ? 0 : (uint64_t)mtime_s % OCTAL_LIMIT);
	set_octal_field(header.major, 7, 0);
	set_octal_field(header.minor, 7, 0);
	set_checksum_field(&header);
	return fwrite(&header, sizeof(header), 1, out) == 1;
}

static bool put_zero_bytes(FILE *out, size_t num)
{
	static const char zeros[2 * BLOCK_SIZE];

	return fwrite(zeros, 1, num, out) == num;
}

bool ustar_put_padding(FILE *out, uint64_t size)
{
	return put_zero_bytes(out, (BLOCK_SIZE - size % BLOCK_SIZE) % BLOCK_SIZE);
}

bool ustar_put_end(FILE *out)
{
	return put_zero_bytes(out, 2 * BLOCK_SIZE);
}

bool ustar_put_file(FILE *out, const char *name, FILE *from, uint64_t size, int64_t mtime_s)
{
	char bytes[COPY_SIZE];

	if (!ustar_put_header(out, name, size, mtime_s))
		return false;
	for (uint64_t left = size; left;) {
		const size_t wanted = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);
		const size_t num = fread(bytes, 1, wanted, from);

		if (!num) {
			if (!ferror(from))
				errno = ESTALE;
			return false;
		}
		if (fwrite(bytes, 1, num, out) != num)
			return false;
		left -= num;
	}
	return ustar_put_padding(out, size);
}
