/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/opts.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* What the shell offers for an argument, told by its name in the table. */
enum completes { COMPLETES_NOTHING, COMPLETES_FILES, COMPLETES_PIDS };

static enum completes arg_completes(const char *arg)
{
	if (!arg)
		return COMPLETES_NOTHING;
	if (strstr(arg, "FILE") || strstr(arg, "PATH") || strstr(arg, "DIR"))
		return COMPLETES_FILES;
	return strncmp(arg, "PID", 3) ? COMPLETES_NOTHING : COMPLETES_PIDS;
}

/* A help text inside single quotes of zsh or fish: what ends the quotes or the zsh description is left out.
 */
static void quoted(FILE *f, const char *s)
{
	for (; *s; s++) {
		if (!strchr("'`\\[]:\n", *s))
			fputc(*s, f);
		else if (*s == '\n')
			fputc(' ', f);
	}
}

static void bash_cases(FILE *f, const struct verb *v, enum completes what, const char *action)
{
	int any = 0;

	for (const struct opt *o = v->opts; o && o->name; o++) {
		if (arg_completes(o->arg) != what || !o->arg)
			continue;
		fprintf(f, "%s%s:--%s", any ? " | " : "\t", v->name, o->name);
		if (o->letter)
			fprintf(f, " | %s:-%c", v->name, o->letter);
		any = 1;
	}
	if (any)
		fprintf(f, ")\n\t\t%s\n\t\treturn\n\t\t;;\n", action);
}

static void bash(FILE *f, const struct verb *const *verbs)
{
	fputs("# bash completion for gpubpf\n_gpubpf()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} "
	      "verb=${COMP_WORDS[1]} i\n"
	      "\tCOMPREPLY=()\n"
	      "\tif ((COMP_CWORD == 1)); then\n\t\tCOMPREPLY=($(compgen -W '",
	      f);
	for (const struct verb *const *v = verbs; *v; v++)
		fprintf(f, "%s ", (*v)->name);
	fputs("help --help --version' -- \"$cur\"))\n\t\treturn\n\tfi\n"
	      "\t# Behind -- stands another command with its own arguments.\n"
	      "\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	      "\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then\n"
	      "\t\t\tif declare -F _command_offset >/dev/null; then\n\t\t\t\t_command_offset $((i + 1))\n"
	      "\t\t\telif ((i == COMP_CWORD - 1)); then\n\t\t\t\tCOMPREPLY=($(compgen -c -- \"$cur\"))\n"
	      "\t\t\telse\n\t\t\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n\t\t\tfi\n"
	      "\t\t\treturn\n\t\tfi\n\tdone\n"
	      "\tcase $verb:$prev in\n",
	      f);
	for (const struct verb *const *v = verbs; *v; v++) {
		bash_cases(f, *v, COMPLETES_FILES, "COMPREPLY=($(compgen -f -- \"$cur\"))");
		bash_cases(f, *v, COMPLETES_PIDS,
			   "COMPREPLY=($(compgen -W \"$(cd /proc && echo [0-9]*)\" -- \"$cur\"))");
		bash_cases(f, *v, COMPLETES_NOTHING, "COMPREPLY=()");
	}
	fputs("\tesac\n\tcase $verb in\n", f);
	for (const struct verb *const *v = verbs; *v; v++) {
		fprintf(f, "\t%s) [[ $cur == -* ]] && COMPREPLY=($(compgen -W '", (*v)->name);
		for (const struct opt *o = (*v)->opts; o && o->name; o++)
			fprintf(f, "--%s ", o->name);
		fputs("--help' -- \"$cur\")) ;;\n", f);
	}
	fputs("\thelp) COMPREPLY=($(compgen -W '", f);
	for (const struct verb *const *v = verbs; *v; v++)
		fprintf(f, "%s%s", v == verbs ? "" : " ", (*v)->name);
	fputs("' -- \"$cur\")) ;;\n\tesac\n"
	      "\tif [[ $cur != -* && $verb != help && ${#COMPREPLY[@]} -eq 0 ]]; then\n"
	      "\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n\tfi\n}\n"
	      "complete -o filenames -F _gpubpf gpubpf\n",
	      f);
}

static void zsh_option(FILE *f, const struct opt *o)
{
	static const char *const action[] = {
		[COMPLETES_NOTHING] = "", [COMPLETES_FILES] = "_files", [COMPLETES_PIDS] = "_pids"
	};

	bool optional = o->arg && o->arg[0] == '[';

	for (int longer = !o->letter; longer < 2; longer++) {
		fputs("\t\t\t'*", f);
		if (longer)
			fprintf(f, "--%s%s[", o->name, optional ? "=-" : o->arg ? "=" : "");
		else
			fprintf(f, "-%c%s[", o->letter, o->arg ? "+" : "");
		quoted(f, o->help);
		fputc(']', f);
		if (o->arg) {
			fputs(optional ? "::" : ":", f);
			quoted(f, o->arg + (optional ? 2 : 0));
			fprintf(f, ":%s", action[arg_completes(o->arg)]);
		}
		fputs("' \\\n", f);
	}
}

static void zsh(FILE *f, const struct verb *const *verbs)
{
	fputs("#compdef gpubpf\n_gpubpf()\n{\n\tlocal curcontext=$curcontext state line\n"
	      "\t_arguments -C '1:command:->command' '*::argument:->argument'\n"
	      "\tcase $state in\n\tcommand)\n\t\tlocal -a commands\n\t\tcommands=(\n",
	      f);
	for (const struct verb *const *v = verbs; *v; v++) {
		fprintf(f, "\t\t\t'%s:", (*v)->name);
		quoted(f, (*v)->summary);
		fputs("'\n", f);
	}
	fputs("\t\t)\n\t\t_describe command commands\n\t\t;;\n\targument)\n\t\tcase $line[1] in\n", f);
	for (const struct verb *const *v = verbs; *v; v++) {
		fprintf(f, "\t\t%s)\n\t\t\t_arguments -S \\\n", (*v)->name);
		for (const struct opt *o = (*v)->opts; o && o->name; o++)
			zsh_option(f, o);
		fputs("\t\t\t'(- *)--help[Show the help.]' \\\n\t\t\t'*::argument: _default'\n\t\t\t;;\n", f);
	}
	fputs("\t\tesac\n\t\t;;\n\tesac\n}\n_gpubpf \"$@\"\n", f);
}

static void fish(FILE *f, const struct verb *const *verbs)
{
	static const char *const more[] = { [COMPLETES_NOTHING] = " -x",
					    [COMPLETES_FILES] = " -r -F",
					    [COMPLETES_PIDS] = " -x -a '(__fish_complete_pids)'" };

	fputs("# fish completion for gpubpf\n", f);
	for (const struct verb *const *v = verbs; *v; v++) {
		fprintf(f, "complete -c gpubpf -n __fish_use_subcommand -f -a %s -d '", (*v)->name);
		quoted(f, (*v)->summary);
		fputs("'\n", f);
		for (const struct opt *o = (*v)->opts; o && o->name; o++) {
			fprintf(f, "complete -c gpubpf -n '__fish_seen_subcommand_from %s'", (*v)->name);
			if (o->letter)
				fprintf(f, " -s %c", o->letter);
			fprintf(f, " -l %s%s -d '", o->name, o->arg ? more[arg_completes(o->arg)] : "");
			quoted(f, o->help);
			fputs("'\n", f);
		}
	}
}

int opts_completion(FILE *f, const struct verb *const *verbs, const char *shell)
{
	if (!strcmp(shell, "bash"))
		bash(f, verbs);
	else if (!strcmp(shell, "zsh"))
		zsh(f, verbs);
	else if (!strcmp(shell, "fish"))
		fish(f, verbs);
	else
		return -EINVAL;
	return 0;
}
