// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "../../libnetsync/util/array.h"
#include "args.h"

bool args_append(struct args *args, struct arg arg)
{
	if (array_grow(&args->list, &args->room, args->num, sizeof(arg)))
		return false;
	args->list[args->num++] = arg;
	return true;
}

void args_release(struct args *args)
{
	free(args->list);
	args->list = NULL;
}
