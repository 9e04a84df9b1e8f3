/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sidecar's form, for the man pages of the verbs that read one. */
#ifndef GPUBPF_SIDECAR_MAN_H
#define GPUBPF_SIDECAR_MAN_H

#define SIDECAR_MAN                                                                                            \
	"A sidecar (`--sidecar`) is JSON that says what calls and executions meant:\n\n"                       \
	"  {\"schema\": \"gpubpf.sidecar/1\", \"capture\": \"IDENTITY\", \"nodes\": [\n"                       \
	"    {\"id\": \"step-1\", \"label\": \"training step 1\", \"kind\": \"step\",\n"                       \
	"     \"attributes\": {\"batch\": 32}},\n"                                                             \
	"    {\"id\": \"gemm-1\", \"label\": \"gemm\", \"parent\": \"step-1\", \"links\": [\n"                 \
	"      {\"call\": {\"id\": 17, \"entry_ns\": 81200500}},\n"                                            \
	"      {\"execution\": {\"id\": 3, \"correlation\": 4}}]},\n"                                          \
	"    {\"id\": \"wait-1\", \"label\": \"input wait\", \"parent\": \"step-1\", \"interval\":\n"          \
	"      {\"clock\": \"monotonic\", \"start_ns\": 81300000, \"end_ns\": 81400000}}]}\n\n"                \
	"IDENTITY is the column identity of table capture (`gpubpf export --format json --table capture`): a " \
	"sidecar of another capture is refused. A node has an id and a label; kind, parent (a node that "      \
	"stands before it), attributes (texts, whole numbers, true and false), interval (clock monotonic, or " \
	"realtime: ns since 1970) and links may be left out; any other member is an error. A link names one "  \
	"of: call (a row of calls), device_call (of device_calls), execution (of executions), each with a "    \
	"fact of that row that must be right, too; correlation {session, id} (a call and all that ran for "    \
	"it); external {session, kind, id} (all that the application gave this id: external_ids). Labels "     \
	"bind nothing. A node spans its interval, or else what it and the nodes below it are tied to. What "   \
	"was not matched and not used is printed and is in the output; an interval that is not wholly "        \
	"inside what the capture's clock covers is withheld, and the rest bound.\n\n"

#endif
