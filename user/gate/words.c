// SPDX-License-Identifier: GPL-2.0-or-later
#include "gate/status.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define WORD(name, value, word) [value] = word,

const char *gate_lifecycle_word(unsigned lifecycle)
{
	static const char *const words[] = { GPUBPF_LIFECYCLES(WORD) };

	return lifecycle < NELEM(words) ? words[lifecycle] : NULL;
}

const char *gate_readiness_word(unsigned readiness)
{
	static const char *const words[] = { GPUBPF_READINESSES(WORD) };

	return readiness < NELEM(words) ? words[readiness] : NULL;
}

const char *gate_reason_word(unsigned reason)
{
	static const char *const words[] = { [GPUBPF_GATE_NO_REASON] = "", GPUBPF_GATE_REASONS(WORD) };

	return reason < NELEM(words) ? words[reason] : NULL;
}

const char *gate_note_word(unsigned bit)
{
	static const char *const words[] = { GPUBPF_GATE_NOTES(WORD) };

	return bit < NELEM(words) ? words[bit] : NULL;
}

const char *gate_refusal_word(enum gate_refusal r)
{
	static const char *const words[] = { [GATE_ACCEPTED] = "accepted",
#define X(name, word) [GATE_REFUSED_##name] = word,
					     GATE_REFUSALS(X)
#undef X
	};

	return (unsigned)r < NELEM(words) ? words[r] : "unknown";
}

static const struct {
	const char *text, *remedy;
} reasons[] = {
	[GPUBPF_GATE_INIT_TIMEOUT] = { "capture did not come up before its deadline",
				       "gpubpf record --init-timeout TIME gives it longer" },
	[GPUBPF_GATE_LATE_SUCCESS] = { "capture came up after its deadline, when CUDA may have been used already",
				       "gpubpf record --init-timeout TIME gives it longer" },
	[GPUBPF_GATE_TRIGGER_FAILED] = { "cuInit() itself failed after capture was up",
					 "gpubpf doctor says what the driver lacks" },
	[GPUBPF_GATE_CALLBACK_MISSING] = { "the driver came up without loading the shim: an environment that was "
					   "cleared, a setuid program, another root directory",
					   "" },
	[GPUBPF_GATE_INITIALIZER_FAILED] = { "the shim could not set up capture",
					     "gpubpf doctor checks CUPTI" },
	[GPUBPF_GATE_FACILITY_ENABLE_FAILED] = { "CUPTI refused a kind of record that is needed",
						 "gpubpf doctor checks CUPTI" },
	[GPUBPF_GATE_SECOND_SUBSCRIBER] = { "another profiler had CUPTI first", "record without it" },
	[GPUBPF_GATE_CUPTI_MISSING] = { "no usable libcupti was found",
					"install CUPTI, or name its file in GPUBPF_CUPTI_PATH" },
	[GPUBPF_GATE_CUPTI_NOT_PERMITTED] = { "the driver lets only the administrator profile",
					      "load the kernel module nvidia with NVreg_RestrictProfilingToAdminUsers=0" },
	[GPUBPF_GATE_UNOWNED_FIRST_TOUCH] = { "CUDA was used before capture was up",
					      "launch it: gpubpf record -- COMMAND" },
	[GPUBPF_GATE_UNSUPPORTED_FIRST_TOUCH] = { "CUDA was used in a way that the gate does not cover", "" },
	[GPUBPF_GATE_EXIT_BEFORE_CAPTURE] = { "the process ended before capture began", "" },
	[GPUBPF_GATE_EXIT_WEDGED] = { "the process ended while capture was still coming up, after its deadline",
				      "" },
	[GPUBPF_GATE_TRACE_FACILITY_LOST] = { "a kind of record that is needed was lost after capture was up",
					      "" },
	[GPUBPF_GATE_NO_KNOWN_LOSS] = { "no loss is known, and completeness was not shown", "" },
};

const char *gate_reason_text(unsigned reason)
{
	return reason < NELEM(reasons) && reasons[reason].text ? reasons[reason].text : "it does not say why";
}

const char *gate_reason_remedy(unsigned reason)
{
	return reason < NELEM(reasons) && reasons[reason].remedy ? reasons[reason].remedy : "";
}
