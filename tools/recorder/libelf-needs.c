// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that libelf.a refers to and that have nothing to do here; each is weak, so that another
 * one of its name is used if that is linked anyway.
 *
 * - zstd: sections of our BPF objects are not compressed, and the library has 0.7 MB.
 * - A tree of raw chunks of a file, which libbpf does not ask for, and which is zero at first. The
 *   libelf.a of elfutils 0.192, as in Debian 13, refers to it, and no library has it.
 */
#include <stddef.h>

struct ZSTD_CCtx_s;
struct ZSTD_outBuffer_s;
struct ZSTD_inBuffer_s;

struct ZSTD_CCtx_s *ZSTD_createCCtx(void);
size_t ZSTD_freeCCtx(struct ZSTD_CCtx_s *context);
size_t ZSTD_compressStream2(struct ZSTD_CCtx_s *context, struct ZSTD_outBuffer_s *out,
			    struct ZSTD_inBuffer_s *in, int end);
size_t ZSTD_decompress(void *to, size_t capacity, const void *from, size_t size);
unsigned int ZSTD_isError(size_t code);
void eu_search_tree_init(void *tree);
void eu_search_tree_fini(void *tree, void (*free_node)(void *node));

#define REPLACEABLE __attribute__((weak))
/* What zstd returns for an error, of which this is the general one. */
#define ZSTD_FAILED ((size_t)-1)

REPLACEABLE struct ZSTD_CCtx_s *ZSTD_createCCtx(void)
{
	return NULL;
}

REPLACEABLE size_t ZSTD_freeCCtx(struct ZSTD_CCtx_s *context)
{
	(void)context;
	return 0;
}

REPLACEABLE size_t ZSTD_compressStream2(struct ZSTD_CCtx_s *context, struct ZSTD_outBuffer_s *out,
					struct ZSTD_inBuffer_s *in, int end)
{
	(void)context;
	(void)out;
	(void)in;
	(void)end;
	return ZSTD_FAILED;
}

REPLACEABLE size_t ZSTD_decompress(void *to, size_t capacity, const void *from, size_t size)
{
	(void)to;
	(void)capacity;
	(void)from;
	(void)size;
	return ZSTD_FAILED;
}

REPLACEABLE unsigned int ZSTD_isError(size_t code)
{
	return code == ZSTD_FAILED;
}

REPLACEABLE void eu_search_tree_init(void *tree)
{
	(void)tree;
}

REPLACEABLE void eu_search_tree_fini(void *tree, void (*free_node)(void *node))
{
	(void)tree;
	(void)free_node;
}
