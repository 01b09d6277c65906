// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replacements for functions that libelf.a refers to, but that this program does not need. Each of
 * them is weak, so that a function of the same name is used if one is linked for another reason.
 *
 * - zstd: sections of our BPF objects are not compressed, and the library has 0.7 MB.
 * - The tree of the raw chunks of a file, which libbpf does not request. It is initially all zero.
 *   libelf.a of elfutils 0.192, as in Debian 13, refers to it, but no library contains it.
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
/* Return value of zstd functions for an error, which is zstd's general error. */
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
