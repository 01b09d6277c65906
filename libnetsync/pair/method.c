// SPDX-License-Identifier: LGPL-2.1-or-later
/* The table of methods. */
#include "pair/estimate.h"

static const struct method methods[] = {
	[NETSYNC_METHOD_AUTO] = {
		.estimate = estimate_max_margin,
		.curves = true,
	},
	[NETSYNC_METHOD_HULL] = {
		.estimate = estimate_max_margin,
		.straight = true,
	},
	[NETSYNC_METHOD_REGRESSION] = {
		.estimate = estimate_regression,
	},
	[NETSYNC_METHOD_MODEL] = {
		.estimate = estimate_max_margin,
		.curves = true,
		.model = true,
	},
};

const struct method *method_find(uint32_t method)
{
	return method < sizeof(methods) / sizeof(methods[0]) ? &methods[method] : NULL;
}
