/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Modules and libraries. A PTX text gives its entries and, per entry, the time a launch takes: the comment
 * `// sim-ns: N` between that entry's name and the next. A cubin gives the functions of its symbol table. A fat
 * binary is mostly compressed: there any name is found, as the program that was compiled with it knows them.
 */
#include "sim.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FATBIN_WRAPPER                                                                                       \
	0x466243b1u /* what nvcc registers; its second word pair is the address of the container */
#define FATBIN_CONTAINER 0xba55ed50u

struct entry {
	char *name;
	uint64_t ns;
};

struct image {
	struct entry *entries;
	size_t count;
	bool any_name;
	char *bytes; /* a copy: what a tool gets to see as the cubin */
	size_t nbytes;
	uint32_t id;    /* of the load, once it is announced */
	bool announced; /* to tools. Under sim_driver_lock */
};

static void image__free(struct image *image)
{
	for (size_t i = 0; image && i < image->count; i++)
		free(image->entries[i].name);
	if (image) {
		free(image->entries);
		free(image->bytes);
	}
	free(image);
}

static bool image__add(struct image *image, const char *name, size_t len, uint64_t ns)
{
	struct entry *grown = realloc(image->entries, (image->count + 1) * sizeof(*grown));

	if (!grown)
		return false;
	image->entries = grown;
	grown[image->count].ns = ns;
	grown[image->count].name = strndup(name, len);
	return grown[image->count].name && ++image->count;
}

static int parse_ptx(struct image *image, const char *text)
{
	const char *p = text;

	while ((p = strstr(p, ".entry"))) {
		const char *name = p + 6 + strspn(p + 6, " \t\r\n");
		size_t len = strcspn(name, " \t\r\n({,;");
		const char *next = strstr(name, ".entry"), *mark = strstr(name, "// sim-ns:");
		uint64_t ns = sim.kernel_ns;

		if (len == 0)
			return CUDA_ERROR_INVALID_PTX;
		if (mark && (!next || mark < next))
			ns = strtoull(mark + 10, NULL, 10);
		if (!image__add(image, name, len, ns))
			return CUDA_ERROR_OUT_OF_MEMORY;
		p = name + len;
	}
	return CUDA_SUCCESS;
}

static int parse_cubin(struct image *image, const char *elf)
{
	const Elf64_Ehdr *eh = (const void *)elf;
	const Elf64_Shdr *sh = (const void *)(elf + eh->e_shoff);

	if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_machine != EM_CUDA || eh->e_shentsize != sizeof(*sh))
		return CUDA_ERROR_INVALID_IMAGE;
	for (unsigned i = 0; i < eh->e_shnum; i++) {
		const Elf64_Sym *sym = (const void *)(elf + sh[i].sh_offset);
		const char *names;

		if (sh[i].sh_type != SHT_SYMTAB || sh[i].sh_link >= eh->e_shnum)
			continue;
		names = elf + sh[sh[i].sh_link].sh_offset;
		for (size_t k = 0; k < sh[i].sh_size / sizeof(*sym); k++)
			if (ELF64_ST_TYPE(sym[k].st_info) == STT_FUNC && sym[k].st_shndx != SHN_UNDEF &&
			    !image__add(image, names + sym[k].st_name, strlen(names + sym[k].st_name),
					sim.kernel_ns))
				return CUDA_ERROR_OUT_OF_MEMORY;
	}
	return CUDA_SUCCESS;
}

/* The bytes behind an image in memory, whose length nobody says. */
static size_t image__size(const char **at, uint32_t magic)
{
	const char *bytes = *at;
	const Elf64_Ehdr *eh = (const void *)bytes;
	uint64_t body;
	uint16_t head;

	if (magic == FATBIN_WRAPPER) {
		memcpy(&bytes, bytes + 8, sizeof(bytes));
		if (!bytes)
			return 0;
		*at = bytes;
		memcpy(&magic, bytes, sizeof(magic));
	}
	if (magic == FATBIN_CONTAINER) {
		memcpy(&head, bytes + 6, sizeof(head));
		memcpy(&body, bytes + 8, sizeof(body));
		return head + body;
	}
	/* nvcc puts the section and program headers last, whichever way round. */
	if (memcmp(bytes, ELFMAG, SELFMAG) == 0) {
		size_t sections = eh->e_shoff + (size_t)eh->e_shnum * eh->e_shentsize;
		size_t segments = eh->e_phoff + (size_t)eh->e_phnum * eh->e_phentsize;

		return sections > segments ? sections : segments;
	}
	return magic == FATBIN_WRAPPER ? 0 : strlen(bytes);
}

static int image__keep(struct image *image, const char *bytes, uint32_t magic)
{
	image->nbytes = image__size(&bytes, magic);
	image->bytes = malloc(image->nbytes + 1);
	if (!image->bytes)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(image->bytes, bytes, image->nbytes);
	return CUDA_SUCCESS;
}

static int image__parse(const char *bytes, struct image **out)
{
	struct image *image = calloc(1, sizeof(*image));
	uint32_t magic;
	int result;

	if (!image)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(&magic, bytes, sizeof(magic));
	if (magic == FATBIN_WRAPPER || magic == FATBIN_CONTAINER) {
		image->any_name = true;
		result = CUDA_SUCCESS;
	} else if (memcmp(bytes, ELFMAG, SELFMAG) == 0) {
		result = parse_cubin(image, bytes);
	} else if (!strstr(bytes, ".version")) {
		result = CUDA_ERROR_INVALID_IMAGE;
	} else if (!strstr(bytes, ".target")) {
		result = CUDA_ERROR_INVALID_PTX;
	} else {
		result = parse_ptx(image, bytes);
	}
	if (result == CUDA_SUCCESS)
		result = image__keep(image, bytes, magic);
	if (result == CUDA_SUCCESS)
		*out = image;
	else
		image__free(image);
	return result;
}

/* With sim_driver_lock held for writing. */
static void image__announce(struct image *image)
{
	static uint32_t loads;
	void *ctx = ctx__current();

	if (image->announced)
		return;
	image->announced = true;
	image->id = ++loads;
	trace__resource(&(struct sim_resource){ .id = 6, /* MODULE_LOADED */
						.context = ctx,
						.module = image->id,
						.cubin = image->bytes,
						.bytes = image->nbytes });
}

static void image__retire(struct image *image)
{
	if (image->announced)
		trace__resource(&(struct sim_resource){ .id = 7, /* MODULE_UNLOAD_STARTING */
							.context = ctx__current(),
							.module = image->id,
							.cubin = image->bytes,
							.bytes = image->nbytes });
	image->announced = false;
}

void func__load(struct func *f)
{
	pthread_rwlock_wrlock(&sim_driver_lock);
	if (!f->loaded) {
		image__announce(f->module->image);
		f->kept = trace__keep(f->name);
		f->loaded = true;
	}
	pthread_rwlock_unlock(&sim_driver_lock);
}

static int load(uint64_t *out, const char *bytes, enum obj_kind kind)
{
	struct image *image;
	struct module *m;
	int result;

	if (!out || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (kind == OBJ_MODULE && !ctx__current())
		return CUDA_ERROR_INVALID_CONTEXT;
	result = image__parse(bytes, &image);
	if (result != CUDA_SUCCESS)
		return result;
	m = obj__new(kind);
	if (!m) {
		image__free(image);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	m->image = image;
	*out = (uintptr_t)m;
	if (sim.eager) {
		pthread_rwlock_wrlock(&sim_driver_lock);
		image__announce(image);
		pthread_rwlock_unlock(&sim_driver_lock);
	}
	return CUDA_SUCCESS;
}

static int load_file(uint64_t *out, const char *path, enum obj_kind kind)
{
	FILE *f;
	char *bytes;
	size_t n;
	int result;

	if (!path)
		return CUDA_ERROR_INVALID_VALUE;
	f = fopen(path, "rbe");
	if (!f)
		return CUDA_ERROR_FILE_NOT_FOUND;
	bytes = calloc(1, 16 << 20);
	n = bytes ? fread(bytes, 1, (16 << 20) - 1, f) : 0;
	fclose(f);
	result = n >= 4 ? load(out, bytes, kind) : CUDA_ERROR_INVALID_IMAGE;
	free(bytes);
	return result;
}

static int unload(uint64_t handle, enum obj_kind kind)
{
	struct module *m;
	struct func *f, *next;

	pthread_rwlock_wrlock(&sim_driver_lock);
	m = obj__get(handle, kind);
	if (m)
		image__retire(m->image);
	pthread_mutex_lock(&sim.lock);
	m = obj__get(handle, kind);
	for (f = m ? m->funcs : NULL; f; f = next) {
		next = f->next;
		if (f->twin)
			obj__free(f->twin);
		obj__free(f);
	}
	if (m && m->module)
		obj__free(m->module);
	if (m) {
		image__free(m->image);
		obj__free(m);
	}
	pthread_mutex_unlock(&sim.lock);
	pthread_rwlock_unlock(&sim_driver_lock);
	return m ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* The same name gives the same handle for as long as the module lives. */
static int get(uint64_t *out, struct module *m, const char *name, enum obj_kind kind)
{
	const struct entry *e = NULL;
	struct func *f;

	for (f = m->funcs; f; f = f->next)
		if (strcmp(f->name, name) == 0) {
			*out = (uintptr_t)f;
			return CUDA_SUCCESS;
		}
	if (m->image->any_name && !image__add(m->image, name, strlen(name), sim.kernel_ns))
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (size_t i = 0; i < m->image->count; i++)
		if (strcmp(m->image->entries[i].name, name) == 0)
			e = &m->image->entries[i];
	if (!e)
		return CUDA_ERROR_NOT_FOUND;
	f = obj__new(kind);
	if (!f)
		return CUDA_ERROR_OUT_OF_MEMORY;
	f->module = m;
	f->name = e->name;
	f->ns = e->ns;
	f->next = m->funcs;
	m->funcs = f;
	*out = (uintptr_t)f;
	return CUDA_SUCCESS;
}

static int get_locked(const uint64_t *a, enum obj_kind in, enum obj_kind kind)
{
	int result = CUDA_ERROR_INVALID_HANDLE;
	struct module *m;

	if (!PTR(0) || !PTR(2))
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim.lock);
	m = obj__get(a[1], in);
	if (m)
		result = get(PTR(0), m, PTR(2), kind);
	pthread_mutex_unlock(&sim.lock);
	return result;
}

SIM_IMPL(cuModuleLoad)
{
	(void)api;
	return load_file(PTR(0), PTR(1), OBJ_MODULE);
}

SIM_IMPL(cuModuleLoadData)
{
	(void)api;
	return load(PTR(0), PTR(1), OBJ_MODULE);
}

SIM_IMPL(cuModuleLoadDataEx)
{
	(void)api;
	return load(PTR(0), PTR(1), OBJ_MODULE);
}

SIM_IMPL(cuModuleLoadFatBinary)
{
	(void)api;
	return load(PTR(0), PTR(1), OBJ_MODULE);
}

SIM_IMPL(cuModuleUnload)
{
	(void)api;
	return unload(a[0], OBJ_MODULE);
}

SIM_IMPL(cuModuleGetFunction)
{
	(void)api;
	return get_locked(a, OBJ_MODULE, OBJ_FUNC);
}

SIM_IMPL(cuLibraryLoadData)
{
	(void)api;
	return load(PTR(0), PTR(1), OBJ_LIBRARY);
}

SIM_IMPL(cuLibraryLoadFromFile)
{
	(void)api;
	return load_file(PTR(0), PTR(1), OBJ_LIBRARY);
}

SIM_IMPL(cuLibraryUnload)
{
	(void)api;
	return unload(a[0], OBJ_LIBRARY);
}

SIM_IMPL(cuLibraryGetKernel)
{
	(void)api;
	return get_locked(a, OBJ_LIBRARY, OBJ_KERNEL);
}

SIM_IMPL(cuLibraryGetModule)
{
	struct module *m = obj__get(a[1], OBJ_LIBRARY);

	(void)api;
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!PTR(0))
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim.lock);
	if (!m->module) {
		m->module = obj__new(OBJ_MODULE);
		if (m->module)
			m->module->image = m->image;
	}
	*(void **)PTR(0) = m->module;
	pthread_mutex_unlock(&sim.lock);
	return m->module ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SIM_IMPL(cuKernelGetFunction)
{
	struct func *k = obj__get(a[1], OBJ_KERNEL);

	(void)api;
	if (!k)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!PTR(0))
		return CUDA_ERROR_INVALID_VALUE;
	if (!ctx__current())
		return CUDA_ERROR_INVALID_CONTEXT;
	pthread_mutex_lock(&sim.lock);
	if (!k->twin) {
		k->twin = obj__new(OBJ_FUNC);
		if (k->twin) {
			k->twin->module = k->module;
			k->twin->name = k->name;
			k->twin->ns = k->ns;
		}
	}
	*(void **)PTR(0) = k->twin;
	pthread_mutex_unlock(&sim.lock);
	return k->twin ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SIM_IMPL(cuKernelGetLibrary)
{
	struct func *k = obj__get(a[1], OBJ_KERNEL);

	(void)api;
	if (!k || !PTR(0))
		return k ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*(void **)PTR(0) = k->module;
	return CUDA_SUCCESS;
}

static int name_of(const uint64_t *a, struct func *f)
{
	if (!PTR(0))
		return CUDA_ERROR_INVALID_VALUE;
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	*(const char **)PTR(0) = f->name;
	return CUDA_SUCCESS;
}

SIM_IMPL(cuFuncGetName)
{
	(void)api;
	return name_of(a, func__get(a[1]));
}

SIM_IMPL(cuKernelGetName)
{
	(void)api;
	return name_of(a, obj__get(a[1], OBJ_KERNEL));
}

SIM_IMPL(cuFuncLoad)
{
	struct func *f = func__get(a[0]);

	(void)api;
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	func__load(f);
	return CUDA_SUCCESS;
}

static int function_attribute(int *out, uint32_t which, struct func *f)
{
	if (!out || which >= CU_FUNC_ATTRIBUTE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	*out = which == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024
	       : which == CU_FUNC_ATTRIBUTE_NUM_REGS            ? SIM_REGISTERS
	       : which == CU_FUNC_ATTRIBUTE_PTX_VERSION         ? 75
	       : which == CU_FUNC_ATTRIBUTE_BINARY_VERSION      ? 90
								: 0;
	return CUDA_SUCCESS;
}

SIM_IMPL(cuFuncGetAttribute)
{
	(void)api;
	return function_attribute(PTR(0), U32(1), func__get(a[2]));
}

SIM_IMPL(cuKernelGetAttribute)
{
	(void)api;
	return function_attribute(PTR(0), U32(1), obj__get(a[2], OBJ_KERNEL));
}

SIM_IMPL(cuFuncSetAttribute)
{
	(void)api;
	return func__get(a[0]) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
