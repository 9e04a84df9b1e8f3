/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/costkind.h"

const char *const cost_kind_names[COST_KINDS] = {
	[COST_CALL] = "call",   [COST_ENTRY] = "entry",         [COST_ROW] = "row",
	[COST_ALONE] = "alone", [COST_OTHER] = "other_process",
};
