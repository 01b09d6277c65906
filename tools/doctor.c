// SPDX-License-Identifier: GPL-2.0-only
/* netsync doctor - tell why recording will not work before it does not work. */
#include <errno.h>
#include <getopt.h>
#include <json.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "doctor.h"
#include "tool.h"

static const char help[] =
	"Usage: netsync doctor [OPTION...]\n\n"
	"Look at what recording and synchronizing need of this machine, and say what is\n"
	"good, what is worth knowing, and what is wrong, with what to do. Nothing is\n"
	"changed. Without root it says what it could not see.\n\n"
	"  -o, --output DIR       where a recording would go (.)\n"
	"  -f, --format FORMAT    table or json (table)\n"
	"  -h, --help             this text\n\n"
	"Exit status: 0 recording would work, 1 it would fail, or bad usage.\n";

#define FORMAT_NAME "netsync-doctor-1"

/* A new check is one function and one row. */
static const struct {
	const char *name;
	void (*run)(struct diagnosis *diag);
} checks[] = {
	{ "kernel", check_kernel },
	{ "machine", check_machine },
	{ "clock source", check_clock_source },
	{ "clock discipline", check_discipline },
	{ "netsync modules", check_modules },
	{ "LTTng tools", check_lttng_tools },
	{ "LTTng modules", check_lttng_modules },
	{ "session daemon", check_session_daemon },
	{ "tracing group", check_group },
	{ "events", check_events },
	{ "offloads", check_offloads },
	{ "memory", check_memory },
	{ "disk", check_disk },
};

#define NUM_CHECKS (sizeof(checks) / sizeof(checks[0]))

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[] = {
		[VERDICT_GOOD] = "good",
		[VERDICT_NOTE] = "worth knowing",
		[VERDICT_WRONG] = "wrong",
	};

	return names[verdict];
}

/* ---- findings ---------------------------------------------------------- */

/* What files and programs say goes to terminals and into JSON. */
static char *printable(const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0)
		return NULL;
	for (char *at = text; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	return text;
}

void found(struct diagnosis *diag, enum verdict verdict, const char *format, ...)
{
	struct finding *more = realloc(diag->findings,
				       (diag->num + 1) * sizeof(*more));
	va_list args;
	char *text;

	va_start(args, format);
	text = printable(format, args);
	va_end(args);
	if (more)
		diag->findings = more;
	if (!more || !text) {
		free(text);
		diag->failed = true;
		return;
	}
	more[diag->num++] = (struct finding){ diag->check, verdict, text, NULL };
}

void advise(struct diagnosis *diag, const char *format, ...)
{
	struct finding *last;
	va_list args;

	if (diag->failed)
		return;
	last = &diag->findings[diag->num - 1];
	va_start(args, format);
	last->advice = printable(format, args);
	va_end(args);
	if (!last->advice)
		diag->failed = true;
}

void examine(struct diagnosis *diag)
{
	struct utsname name;

	diag->host = strdup(uname(&name) ? "" : name.nodename);
	if (!diag->host)
		diag->failed = true;
	for (size_t i = 0; i < NUM_CHECKS; i++) {
		diag->check = checks[i].name;
		checks[i].run(diag);
	}
}

void diagnosis_free(struct diagnosis *diag)
{
	for (size_t i = 0; i < diag->num; i++) {
		free(diag->findings[i].text);
		free(diag->findings[i].advice);
	}
	free(diag->findings);
	free(diag->host);
}

/* ---- writing ----------------------------------------------------------- */

static void write_findings(FILE *out, const struct diagnosis *diag)
{
	for (size_t i = 0; i < diag->num; i++) {
		const struct finding *finding = &diag->findings[i];

		fprintf(out, "%-15s%-18s%s\n", verdict_name(finding->verdict),
			finding->check, finding->text);
		if (finding->advice)
			fprintf(out, "%33s%s\n", "", finding->advice);
	}
}

/* Both take over @value; where something was or is NULL, *@ok becomes false. */
static void put(json_object *object, const char *key, json_object *value, bool *ok)
{
	if (object && value && !json_object_object_add(object, key, value))
		return;
	json_object_put(value);
	*ok = false;
}

static void append(json_object *array, json_object *value, bool *ok)
{
	if (array && value && !json_object_array_add(array, value))
		return;
	json_object_put(value);
	*ok = false;
}

static void put_text(json_object *object, const char *key, const char *text,
		     bool *ok)
{
	put(object, key, json_object_new_string(text), ok);
}

static json_object *report_json(const struct diagnosis *diag, bool *ok)
{
	json_object *array = json_object_new_array();

	for (size_t i = 0; i < diag->num; i++) {
		const struct finding *finding = &diag->findings[i];
		json_object *object = json_object_new_object();

		put_text(object, "check", finding->check, ok);
		put_text(object, "verdict", verdict_name(finding->verdict), ok);
		put_text(object, "finding", finding->text, ok);
		if (finding->advice)
			put_text(object, "advice", finding->advice, ok);
		append(array, object, ok);
	}
	return array;
}

static bool write_json_report(FILE *out, const struct diagnosis *diag)
{
	json_object *top = json_object_new_object();
	json_object *hosts = json_object_new_array();
	json_object *host = json_object_new_object();
	const char *text = NULL;
	bool ok = true;

	put_text(host, "host", diag->host, &ok);
	put(host, "checks", report_json(diag, &ok), &ok);
	append(hosts, host, &ok);
	put_text(top, "format", FORMAT_NAME, &ok);
	put(top, "hosts", hosts, &ok);
	if (ok)
		text = json_object_to_json_string_ext(top, JSON_C_TO_STRING_PRETTY |
						      JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text)
		fprintf(out, "%s\n", text);
	json_object_put(top);
	return text;
}

/* ---- the command line -------------------------------------------------- */

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "format", required_argument, NULL, 'f' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 }
};

struct settings {
	const char *folder;
	bool json;
};

/* Return: -1 to go on, else the exit status. */
static int parse_arguments(struct settings *set, int argc, char **argv)
{
	int option;

	while ((option = getopt_long(argc, argv, "o:f:h", options, NULL)) != -1) {
		switch (option) {
		case 'o':
			set->folder = optarg;
			break;
		case 'f':
			set->json = !strcmp(optarg, "json");
			if (!set->json && strcmp(optarg, "table")) {
				complain("--format %s: the formats are table and json.",
					 optarg);
				return EXIT_BAD;
			}
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_DONE;
		default:
			return EXIT_BAD;
		}
	}
	if (optind == argc)
		return -1;
	complain("\"%s\": netsync doctor takes options only.", argv[optind]);
	return EXIT_BAD;
}

static int write_report(const struct settings *set, const struct diagnosis *diag)
{
	bool ok = !diag->failed;

	errno = ok ? 0 : ENOMEM;
	if (ok && set->json)
		ok = write_json_report(stdout, diag);
	else if (ok)
		write_findings(stdout, diag);
	if (!ok || fflush(stdout) || ferror(stdout)) {
		complain("standard output: %s.",
			 strerror(errno ? errno : ENOMEM));
		return EXIT_BAD;
	}
	for (size_t i = 0; i < diag->num; i++)
		if (diag->findings[i].verdict == VERDICT_WRONG)
			return EXIT_BAD;
	return EXIT_DONE;
}

int cmd_doctor(int argc, char **argv)
{
	struct settings set = { .folder = "." };
	int status = parse_arguments(&set, argc, argv);
	struct diagnosis diag = { 0 };

	if (status >= 0)
		return status;
	diag.folder = set.folder;
	examine(&diag);
	status = write_report(&set, &diag);
	diagnosis_free(&diag);
	return status;
}
