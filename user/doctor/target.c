/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/libfind.h"
#include "doctor/library.h"

enum exe_kind { EXE_UNREADABLE, EXE_NOT_ELF, EXE_OTHER_ARCH, EXE_32BIT, EXE_STATIC, EXE_DYNAMIC };

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#else
#define OUR_MACHINE EM_AARCH64
#endif

/* By the ELF header and the presence of PT_INTERP: without a loader there is nothing that could load libcuda. */
static enum exe_kind exe_kind(const char *path, int *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	enum exe_kind kind = EXE_STATIC;
	Elf64_Phdr ph;
	Elf64_Ehdr eh;

	*error = errno;
	if (fd < 0)
		return EXE_UNREADABLE;
	if (pread(fd, &eh, sizeof(eh), 0) != sizeof(eh) || memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0)
		kind = EXE_NOT_ELF;
	else if (eh.e_ident[EI_CLASS] != ELFCLASS64)
		kind = EXE_32BIT;
	else if (eh.e_machine != OUR_MACHINE)
		kind = EXE_OTHER_ARCH;
	for (unsigned i = 0; kind == EXE_STATIC && i < eh.e_phnum; i++) {
		if (pread(fd, &ph, sizeof(ph), (off_t)(eh.e_phoff + i * sizeof(ph))) != sizeof(ph))
			break;
		if (ph.p_type == PT_INTERP)
			kind = EXE_DYNAMIC;
	}
	close(fd);
	return kind;
}

static bool check_process(struct doctor *d, pid_t pid)
{
	char path[64], state[64] = "", name[128] = "", nspid[128] = "", mine[64] = "", theirs[64] = "";
	json_t *facts;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (doctor__value(d, path, "State", state, sizeof(state))) {
		finding__advise(doctor__add(d, FINDING_MISSING, true, "process",
					    json_pack("{s:i}", "pid", (int)pid), "there is no process %d",
					    (int)pid),
				"`ps -e` lists the processes; inside a container its own numbers count");
		return false;
	}
	doctor__value(d, path, "Name", name, sizeof(name));
	doctor__value(d, path, "NSpid", nspid, sizeof(nspid));
	facts = json_pack("{s:i, s:s, s:s}", "pid", (int)pid, "name", name, "state", state);
	if (state[0] == 'Z' || state[0] == 'X') {
		doctor__add(d, FINDING_MISSING, true, "process", facts, "%d (%s) has ended (state %s)",
			    (int)pid, name, state);
		return false;
	}
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	if (readlink("/proc/self/ns/mnt", mine, sizeof(mine) - 1) > 0 &&
	    readlink(path, theirs, sizeof(theirs) - 1) > 0)
		json_object_set_new(facts, "own_mount_namespace", json_boolean(strcmp(mine, theirs) != 0));
	if (strchr(nspid, '\t'))
		json_object_set_new(facts, "ns_pids", json_string(nspid));
	doctor__add(d, FINDING_OK, false, "process", facts, "%d (%s), %s%s%s%s", (int)pid, name,
		    !theirs[0]             ? "namespaces cannot be read"
		    : strcmp(mine, theirs) ? "in a mount namespace of its own"
					   : "in this mount namespace",
		    strchr(nspid, '\t') ? ", pids from the outside in: " : "",
		    strchr(nspid, '\t') ? nspid : "", "");
	return true;
}

static bool check_executable(struct doctor *d, pid_t pid)
{
	char path[64], exe[PATH_MAX] = "unknown";
	struct finding *f = NULL;
	ssize_t n;
	int error;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	if (n > 0)
		exe[n] = 0;
	switch (exe_kind(path, &error)) {
	case EXE_DYNAMIC:
		doctor__add(d, FINDING_OK, false, "executable", json_pack("{s:s}", "path", exe), "%s", exe);
		return true;
	case EXE_STATIC:
		f = doctor__add(d, FINDING_DEGRADED, false, "executable", json_pack("{s:s}", "path", exe),
				"%s is statically linked: it has no loader, so it loads no libcuda itself",
				exe);
		finding__advise(
			f,
			"if it starts the GPU program as a child, record that: `gpubpf record` follows children");
		return true;
	case EXE_UNREADABLE:
		f = doctor__add(d, FINDING_MISSING, true, "executable", NULL, "/proc/%d/exe: %s", (int)pid,
				strerror(error));
		finding__advise(f, error == ENOENT ? "it is a kernel thread, or just ended"
						   : "run it as root, or give it CAP_SYS_PTRACE");
		return false;
	case EXE_32BIT:
		f = doctor__add(d, FINDING_MISSING, true, "executable", json_pack("{s:s}", "path", exe),
				"%s is a 32-bit program", exe);
		finding__advise(f, "libcuda is 64-bit since CUDA 12; record the 64-bit program");
		return false;
	case EXE_OTHER_ARCH:
	case EXE_NOT_ELF:
		doctor__add(d, FINDING_MISSING, true, "executable", json_pack("{s:s}", "path", exe),
			    "%s is no program of this architecture (run by an emulator?)", exe);
		return false;
	}
	return false;
}

/* Reading the mappings takes the same right that ptrace does. */
static bool check_access(struct doctor *d, pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		finding__advise(doctor__add(d, FINDING_MISSING, true, "access", NULL, "%s: %s", path,
					    strerror(errno)),
				"run it as root, or give it CAP_SYS_PTRACE");
		return false;
	}
	close(fd);
	snprintf(path, sizeof(path), "/proc/%d/root/", (int)pid);
	if (access(path, R_OK)) {
		finding__advise(doctor__add(d, FINDING_DEGRADED, false, "access", NULL,
					    "its mappings can be read, its root directory not: %s",
					    strerror(errno)),
				"run it as root, or give it CAP_SYS_PTRACE");
		return true;
	}
	doctor__add(d, FINDING_OK, false, "access", NULL, "its mappings and its root directory can be read");
	return true;
}

static void check_libraries(struct doctor *d, pid_t pid)
{
	struct liblist list = { 0 };
	struct finding *f;

	libfind_mapped(&list, pid);
	for (size_t i = 0; i < list.n; i++)
		library_describe(d, "its-libcuda", &list.files[i], true);
	if (list.n)
		goto out;
	libfind_process_candidates(&list, pid);
	if (list.n) {
		doctor__add(d, FINDING_OK, false, "its-libcuda", json_pack("{s:b}", "mapped", 0),
			    "not loaded yet; the probes stand before it is, in what its loader would find:");
		for (size_t i = 0; i < list.n; i++)
			library_describe(d, "its-libcuda", &list.files[i], false);
		goto out;
	}
	f = doctor__add(d, FINDING_DEGRADED, false, "its-libcuda", json_pack("{s:b}", "mapped", 0),
			"no libcuda is mapped, and its loader would find none");
	finding__advise(f, "see what it has: `grep -i cuda /proc/%d/maps`", (int)pid);
out:
	liblist_free(&list);
}

void doctor__check_target(struct doctor *d, pid_t pid)
{
	if (!check_process(d, pid))
		return;
	if (!check_executable(d, pid) || !check_access(d, pid))
		return;
	check_libraries(d, pid);
	doctor__check_target_shim(d, pid);
}
