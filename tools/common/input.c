// SPDX-License-Identifier: GPL-2.0-only
/* Reading what the command line names, and estimating the clocks of it. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "result-file.h"

/* ---- options ----------------------------------------------------------- */

static bool set_method(struct input *input, const char *name)
{
	static const struct {
		const char *name;
		enum netsync_method method;
	} methods[] = {
		{ "auto", NETSYNC_METHOD_AUTO },
		{ "hull", NETSYNC_METHOD_HULL },
		{ "regression", NETSYNC_METHOD_REGRESSION },
	};

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		input->solve.method = methods[i].method;
		input->method = methods[i].name;
		if (!strcmp(name, methods[i].name))
			return true;
	}
	complain("--method %s: the methods are auto, hull and regression.", name);
	return false;
}

static bool add_text(struct input *input, const char *path,
		     int (*add)(struct netsync_io *, const char *, int))
{
	struct text_file *more = realloc(input->texts,
		((size_t)input->num_texts + 1) * sizeof(*more));

	if (!more) {
		complain("There is not enough memory.");
		return false;
	}
	input->texts = more;
	input->texts[input->num_texts++] = (struct text_file){ path, add };
	return true;
}

static bool add_address(struct input *input, const char *address)
{
	const char **more = realloc(input->addresses,
		((size_t)input->num_addresses + 1) * sizeof(*more));

	if (!more) {
		complain("There is not enough memory.");
		return false;
	}
	input->addresses = more;
	input->addresses[input->num_addresses++] = address;
	return true;
}

bool input_option(struct input *input, int option, const char *value)
{
	switch (option) {
	case 'r':
		input->solve.reference = value;
		return true;
	case 's':
		return parse_ppm(&input->solve.max_skew_ppm, "max-skew", value,
				 "100");
	case 'd':
		return parse_ppm(&input->solve.max_drift_ppm_s, "max-drift",
				 value, "0.5");
	case 'm':
		input->model = value;
		return true;
	case OPT_EXTRAPOLATE:
		input->extrapolate = true;
		return true;
	case OPT_METHOD:
		input->has_method = true;
		return set_method(input, value);
	case OPT_MESSAGES:
		return add_text(input, value, netsync_io_add_messages);
	case OPT_PACKETS:
		return add_text(input, value, netsync_io_add_packets);
	case OPT_ADDRESS:
		return add_address(input, value);
	case OPT_STRICT:
		input->strict = true;
		return true;
	case OPT_SPLIT_NETNS:
		input->split_netns = true;
		return true;
	}
	return false;
}

bool input_traces(struct input *input, int argc, char **argv)
{
	input->traces = argv;
	input->num_traces = argc;
	return argc || input->num_texts;
}

bool input_check_model(const struct input *input)
{
	if (!input->model && input->extrapolate) {
		complain("--extrapolate: it is of a result, which is given with --model.");
		return false;
	}
	if (!input->model ||
	    !(input->solve.reference || input->solve.max_skew_ppm ||
	      input->solve.max_drift_ppm_s || input->has_method))
		return true;
	complain("--model: clocks are not estimated then, so that --reference, --method, --max-skew and --max-drift have no meaning.");
	return false;
}

bool input_check_span(const struct input *input, struct model *model,
		      const struct model_host *host,
		      const struct netsync_clock *clock,
		      const struct netsync_host_info *info, int64_t shift_ns)
{
	int64_t first, last;
	int ret;

	/* Of what does not fit the times are not written either. */
	if (info->last_ns < info->first_ns ||
	    __builtin_add_overflow(info->first_ns, shift_ns, &first) ||
	    __builtin_add_overflow(info->last_ns, shift_ns, &last))
		return true;
	ret = model_check_span(model, host, clock, first, last);
	if (ret && !input->extrapolate) {
		complain("%s: %s Take the result of this recording; --extrapolate goes on all the same.",
			 info->name, model_error(model));
		return false;
	}
	if (ret)
		complain("warning: %s: %s", info->name, model_error(model));
	return true;
}

void input_release(struct input *input)
{
	free(input->texts);
	free(input->addresses);
	input->texts = NULL;
	input->num_texts = 0;
}

/* ---- reading ----------------------------------------------------------- */

/* While a recording is synchronized SIGHUP is caught, too: that ends nothing. */
static bool is_interrupted(void)
{
	return interrupted == SIGINT || interrupted == SIGTERM;
}

static void warn(void *data, const char *sentence)
{
	(void)data;
	complain("warning: %s", sentence);
}

static int on_progress(void *data, uint64_t done, uint64_t total)
{
	progress_show(data, done, total);
	return is_interrupted();
}

bool input_read(const struct input *input, struct netsync_io *io)
{
	struct sigaction interrupt, terminate;
	struct progress progress;
	int ret = 0;

	/* Scratch folders, which reading may need, are to be removed in any case. */
	interrupted = 0;
	catch_signal(SIGINT, &interrupt);
	catch_signal(SIGTERM, &terminate);
	progress_start(&progress, "opening");
	progress_wait(&progress);
	netsync_io_set_warn(io, warn, NULL);
	netsync_io_set_split_netns(io, input->split_netns);
	for (int i = 0; i < input->num_traces && ret >= 0 && !is_interrupted(); i++)
		ret = netsync_io_add(io, input->traces[i]);
	for (int i = 0; i < input->num_texts && ret >= 0; i++)
		ret = input->texts[i].add(io, input->texts[i].path, input->strict);
	for (int i = 0; i < input->num_addresses && ret >= 0; i++)
		ret = netsync_io_add_address(io, input->addresses[i]);
	progress_end(&progress);
	progress_start(&progress, "reading");
	if (ret >= 0)
		ret = netsync_io_read(io, on_progress, &progress);
	progress_end(&progress);
	if (ret < 0)
		complain("%s", netsync_io_error(io));
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGTERM, &terminate, NULL);
	return ret >= 0 && !is_interrupted();
}

bool input_solve(const struct input *input, struct netsync *ns,
		 struct netsync_io *io)
{
	struct netsync_options solve = input->solve;
	struct progress progress;
	int ret;

	if (!input_read(input, io))
		return false;
	/* What is wanted then is that all messages are found. */
	if (input->model)
		solve.method = NETSYNC_METHOD_HULL;
	progress_start(&progress, "estimating");
	progress_wait(&progress);
	ret = netsync_solve(ns, &solve);
	progress_end(&progress);
	if (!ret)
		return true;
	complain("%s", netsync_error(ns));
	return false;
}
