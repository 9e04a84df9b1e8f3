# SPDX-License-Identifier: GPL-2.0-or-later
# The shim's probe sites under this kernel: arguments, semaphores, killed tracers, forked children.
. /t/guest/offers
methods=perf
if offers multi; then methods="perf multi"; fi
timeout 300 /t/kernel_view $methods
[ $? -le 1 ] || echo "not ok usdt: kernel_view itself ended"
if /t/gpubpf usdt --check /t/kernel_view >/tmp/usdt 2>&1; then
	echo "ok usdt: gpubpf finds that the sites conform"
else
	sed 's/^/# /' /tmp/usdt
	echo "not ok usdt: gpubpf finds that the sites conform"
fi
