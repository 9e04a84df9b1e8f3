/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Included before everything else in a library for old glibc: newer headers give some calls another symbol, which
 * the old library lacks. From 2.38 on strtol() and sscanf() of _GNU_SOURCE read binary constants, by __isoc23_*.
 */
#ifndef GPUBPF_FLOOR_H
#define GPUBPF_FLOOR_H

#include <features.h>

#undef __GLIBC_USE_C2X_STRTOL
#define __GLIBC_USE_C2X_STRTOL 0
#undef __GLIBC_USE_C23_STRTOL
#define __GLIBC_USE_C23_STRTOL 0

#endif
