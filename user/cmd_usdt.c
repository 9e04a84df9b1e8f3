/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "probes/probes.h"
#include "util/err.h"
#include "util/fmt.h"

struct usdt_conf {
	unsigned long long pid;
	const char *debug_file;
	int json, check;
};

static const struct opt usdt_opts[] = {
	{ .letter = 'p',
	  .name = "pid",
	  .type = OPT_CALL,
	  .call = cmd_pid,
	  .arg = "PID",
	  .offset = offsetof(struct usdt_conf, pid),
	  .help = "List the probes of every file that this process has mapped as code, as the process sees them." },
	{ .name = "check",
	  .type = OPT_FLAG,
	  .offset = offsetof(struct usdt_conf, check),
	  .help = "Compare the probes of the provider gpubpf with the contract, and name each difference." },
	{ .name = "debug-file",
	  .type = OPT_STRING,
	  .arg = "FILE",
	  .offset = offsetof(struct usdt_conf, debug_file),
	  .help = "Where the notes are if FILE has none. Without this option its build id is looked for below "
		  "/usr/lib/debug/.build-id." },
	{ .name = "json",
	  .type = OPT_FLAG,
	  .offset = offsetof(struct usdt_conf, json),
	  .help = "Print JSON, with each argument taken apart. What a note does not have is absent." },
	{ 0 },
};

static int print_json(const struct probes *p)
{
	json_t *json = probes__json(p);
	int e = !json || json_dumpf(json, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);

	json_decref(json);
	if (e)
		fputs("gpubpf usdt: the JSON could not be written\n", stderr);
	else
		putchar('\n');
	return e ? -EIO : 0;
}

static int show(struct probes *p, const struct usdt_conf *c, struct err *err)
{
	int e = c->check ? probes__check(p, err) : 0;

	if (e)
		return e;
	if (c->json) {
		if (print_json(p))
			return -EIO;
	} else if (c->check) {
		probes__text_check(p, stdout);
	} else if (probes__text(p, stdout)) {
		return err_set(err, -ENOMEM, "out of memory");
	}
	if (p->unread) {
		fprintf(stderr, "gpubpf usdt: %zu mapped files could not be read; of the first: ", p->unread);
		fmt_put_safe(stderr, p->unread_why ? p->unread_why : "out of memory");
		fputc('\n', stderr);
	}
	return c->check && !probes__conform(p) ? -EPROTO : 0;
}

static int usage(const struct usdt_conf *c, int operands, char **argv, struct err *err)
{
	if (c->pid && operands)
		return err_set(err, -EINVAL, "give a file or a process, not both ('%s' and -p)", argv[0]);
	if (c->pid && c->debug_file)
		return err_set(err, -EINVAL, "--debug-file is for one FILE, not for a process");
	if (!c->pid && operands != 1)
		return err_set(err, -EINVAL,
			       operands ? "one FILE at a time, not %d; see `gpubpf usdt --help`"
					: "give a FILE or -p PID; see `gpubpf usdt --help`",
			       operands);
	return 0;
}

static int usdt_run(int argc, char **argv)
{
	struct usdt_conf conf = { 0 };
	struct probes p = { 0 };
	struct err err = { "" };
	int rest, e;

	e = opts_parse(&verb_usdt, argc, argv, &conf, &rest, &err);
	if (e == 1)
		return 0;
	if (!e)
		e = usage(&conf, argc - rest, argv + rest, &err);
	if (e) {
		fprintf(stderr, "gpubpf usdt: %s\n", err.msg);
		return 2;
	}
	e = conf.pid ? probes__process(&p, (pid_t)conf.pid, &err)
		     : probes__file(&p, argv[rest], conf.debug_file, &err);
	if (!e)
		e = show(&p, &conf, &err);
	if (err.msg[0]) {
		char safe[sizeof(err.msg) * 4];

		fprintf(stderr, "gpubpf usdt: %s\n", fmt_safe(safe, sizeof(safe), err.msg));
	}
	probes__free(&p);
	return e ? 1 : 0;
}

const struct verb verb_usdt = {
	.name = "usdt",
	.synopsis = "[OPTIONS] FILE | -p PID",
	.summary = "list the USDT probes of a file or a process, and check gpubpf's own",
	.text = "Reads the notes `stapsdt` of an ELF file of any architecture, as `<sys/sdt.h>` and others emit them, and "
		"lists each site: provider, probe, address, offset in the file (where a uprobe goes), the address of the "
		"semaphore, and the arguments as the compiler wrote them. A `-` stands for what is not there. With `--json` the "
		"arguments of x86-64, i386 and aarch64 are taken apart as well.\n\n"
		"Addresses are those of the file, moved by as much as the section `.stapsdt.base` was moved after the link "
		"(prelink). A file that holds no notes is looked for by its build id among the separate debug files.\n\n"
		"With `--check`, every site of the provider gpubpf is compared with what `gpubpf record` relies on: each probe "
		"of the contract is there, its arguments are in the three registers that the kernel hands over, the instruction "
		"at the site is the expected one, and a semaphore of its own stands in writable memory. Each difference is "
		"printed. A file with a difference would be misread, and is not attached to.",
	.exit_status = "0: the probes were listed; with `--check`: they conform to the contract.\n\n"
		       "1: no probes, no such file or process, or no ELF; with `--check`: a difference.\n\n"
		       "2: wrong usage.",
	.examples = "gpubpf usdt /usr/lib/x86_64-linux-gnu/libstdc++.so.6\tthe probes of a library\n"
		    "gpubpf usdt -p 4321\tof all that a process has loaded\n"
		    "gpubpf usdt --json libfoo.so | jq -r '.objects[].sites[].probe'\tnames alone\n"
		    "gpubpf usdt --check libgpubpf-shim.so\tcan it be recorded from",
	.opts = usdt_opts,
	.run = usdt_run,
};
