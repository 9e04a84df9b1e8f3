/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a check lacked and what supplies it. Commands in `backquotes` exist, with their options: a test runs each (R20). */
#ifndef GPUBPF_CHECK_ADVICE_H
#define GPUBPF_CHECK_ADVICE_H

#define CHECK_ADVICES(X)                                                                                                     \
	X(DEVICE, "the device observer: nothing says what ran on the device",                                                \
	  "`gpubpf record -- COMMAND` records with both observers; `gpubpf doctor` says what keeps one from working")        \
	X(SILENT, "records of the device: its observer was armed and delivered none",                                        \
	  "end the recording with Ctrl-C or SIGTERM, so that CUPTI hands over what it holds; `gpubpf doctor -p PID` says "   \
	  "whether CUPTI works there. A bigger buffer makes this worse")                                                     \
	X(HOST, "the host observer: a launch that left no record on the device has no witness",                              \
	  "`gpubpf record -- COMMAND`, without --no-host")                                                                   \
	X(NAMES, "names of kernels: those that were not resolved may be this one",                                           \
	  "`gpubpf record -- COMMAND` from the start of the program; recorded later, it has loaded its modules already")     \
	X(NO_SUCH_KERNEL, "a kernel of that name in the capture",                                                            \
	  "`gpubpf report -s kernels -s launches -n 0 FILE` lists the names")                                                \
	X(NO_SUCH_NVTX, "NVTX marks of that name in the capture",                                                            \
	  "`gpubpf report -s nvtx -n 0 FILE` lists the names")                                                               \
	X(NVTX, "NVTX: its ranges and marks were not recorded", "`gpubpf record --cupti nvtx -- COMMAND`")                   \
	X(READINESS, "a word on readiness: no process was launched with the shim in it",                                     \
	  "`gpubpf record -- COMMAND`; `gpubpf record --require-ready -- COMMAND` leaves no capture that was not ready")     \
	X(ORDER, "proof of order: the kernel's records of the first context, module and work",                               \
	  "`gpubpf record -- COMMAND`, without --entry-only and --no-host")                                                  \
	X(MARKS, "marks: there are too few gaps for blocks",                                                                 \
	  "record for longer, `gpubpf record -d TIME`, or choose smaller blocks, `gpubpf gate --block-size N`")              \
	X(RANGE, "marks: a range ends behind the last one", "record for longer, `gpubpf record -d TIME`")                    \
	X(START, "the allocations from before the recording",                                                                \
	  "`gpubpf record -- COMMAND` from the start of the program")                                                        \
	X(ENTRY_POINTS, "probes at the entry points of this kind of memory",                                                 \
	  "`gpubpf inspect --apis FILE` says which were armed; `gpubpf doctor` says what the kernel refuses")                \
	X(DELAYS, "launches that were matched with what they started",                                                       \
	  "`gpubpf record --returns 1 -- COMMAND` measures each call, so that each finds its execution")                     \
	X(LONGER, "launches: the noise hides a change of this size",                                                         \
	  "record both captures for longer, `gpubpf record -d TIME`, or ask for less, `gpubpf gate --max-regression SHARE`") \
	X(BASELINE, "a baseline that can be read", "`gpubpf inspect FILE` says what the file holds")                         \
	X(COMMON, "launch keys that both captures have",                                                                     \
	  "`gpubpf report -s kernels -n 0 FILE` lists those of each")                                                        \
	X(ENVIRONMENT, "equal and available evidence of both environments",                                                  \
	  "record both the same way on the same machine, or compare all the same, labelled non-causal: "                     \
	  "`gpubpf gate --allow-cross-environment`")                                                                         \
	X(WHOLE, "two captures that are whole",                                                                              \
	  "`gpubpf inspect FILE` names what is missing, and what to do about it")                                            \
	X(ONE_KIND, "captures of one kind of device",                                                                        \
	  "`gpubpf record -p PID` of the processes on one of them, or CUDA_VISIBLE_DEVICES")                                 \
	X(CAPTURE, "a capture that can be read", "`gpubpf inspect FILE` says what the file holds")                           \
	X(CALLS, "any record at all",                                                                                        \
	  "`gpubpf doctor -p PID` says whether the process has loaded the driver, and whether CUPTI works")                  \
	X(WHICH_SLOW, "nothing: it was measured",                                                                            \
	  "`gpubpf latency FILE` takes the delays apart, `gpubpf report -s kernels FILE` lists the kernels")                 \
	X(WHICH_IDLE, "nothing: it was measured", "`gpubpf latency FILE` says what kept the device waiting")                 \
	X(WHICH_ALLOC, "nothing: it was measured",                                                                           \
	  "`gpubpf report -s memory FILE` counts them, `gpubpf export --format jsonl --table calls FILE` has each call")     \
	X(WHICH_LAUNCH, "nothing: it was counted",                                                                           \
	  "`gpubpf report -s observers FILE` has the ledger, `gpubpf inspect FILE` each loss")                               \
	X(WHICH_GRAPH, "the records of these nodes, or the word that they are conditional",                                  \
	  "`gpubpf report -s graph_runs FILE` has the nodes of each graph's launches")                                       \
	X(WHICH_GAP, "nothing: it was measured", "`gpubpf timeline FILE -o OUT` shows where the gaps grow")

#define CHECK_ADVICE_X(name, missing, command) CHECK_ADVICE_##name,
enum check_advice_id { CHECK_ADVICES(CHECK_ADVICE_X) CHECK_ADVICE_END };
#undef CHECK_ADVICE_X

#endif
