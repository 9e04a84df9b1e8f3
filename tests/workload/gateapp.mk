# SPDX-License-Identifier: GPL-2.0-or-later
# The application around its first touch of CUDA, for the tests of the gate.
$(SIM)/gateapp: tests/workload/gateapp.c $(WL_DEPS)
	@mkdir -p $(@D)
	$(call step,CC)$(CC) $(WL_CFLAGS) -I$(SIM_DIR)/include -o $@ $< $(WL_LINK) -lcuda

sim: $(SIM)/gateapp
TEST_NEEDS += $(SIM)/gateapp
