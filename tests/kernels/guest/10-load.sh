# SPDX-License-Identifier: GPL-2.0-or-later
# C14: every BPF program passes this kernel's verifier.
/t/progload
[ $? -le 1 ] || echo "not ok progload itself ended"
