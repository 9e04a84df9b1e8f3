/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GPUBPF_SERVE_BROWSER_H
#define GPUBPF_SERVE_BROWSER_H

struct err;

/*
 * Has the desktop open an address (`xdg-open`, without a shell), in a session of its own, as the user who called sudo.
 * 0 when it runs; what becomes of it is not known. -ENOENT: there is no such program.
 */
int browser_open(const char *url, struct err *err);

#endif
