# SPDX-License-Identifier: GPL-2.0-or-later
# R6: what doctor says of the kernel is what the kernel has.
. /t/guest/offers
export LD_LIBRARY_PATH=/t
/t/gpubpf doctor >/tmp/doctor 2>&1
status=$?
sed 's/^/# /' /tmp/doctor
if [ $status = 0 ]; then
	echo "ok doctor: record can work here"
else
	echo "# exit status $status"
	echo "not ok doctor: record can work here"
fi
