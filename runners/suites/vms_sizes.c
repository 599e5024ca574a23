/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vm-scalability: how large everything is, and whether the machine is large enough. */
#include "runners/suites/vms.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/parse.h"

#include <string.h>

#define MIB	  UINT64_C(1048576)
#define TIB	  (MIB * MIB)
#define PAGE	  UINT64_C(4096)
#define HUGE_PAGE (2 * MIB)
/* Bytes of a piece of small-allocs. */
#define SMALL_PIECE (10 * PAGE)
/* Mappings that the kernel keeps in a page of memory. */
#define VMAS_PER_PAGE 21
/* A process that does nothing: its kernel stack, page tables and pages of its own. */
#define FORK_BYTES (128 * UINT64_C(1024))

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t times(uint64_t a, uint64_t b)
{
	return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/* A parameter in bytes; *@ret is left alone where it is not given. */
static int bytes_param(const struct suite_param *params, size_t n, const char *key, uint64_t *ret,
		       struct err *e)
{
	const char *value = suite_param_get(params, n, key, NULL);

	return value ? parse_size(value, ret, e) : 0;
}

static uint64_t unit_default(const struct vms_case *c, const struct vms_sizes *z)
{
	switch (c->unit) {
	case VMS_UNIT_NONE:
		break;
	case VMS_UNIT_HALF:
		return z->mem / 2;
	case VMS_UNIT_QUARTER:
		return z->mem / 4;
	case VMS_UNIT_SHM_HALF:
		return z->shm / 2;
	case VMS_UNIT_SWAP:
		return (z->available + z->swap) / 4 * 3;
	}
	return 0;
}

int vms_sizes_init(const struct vms_case *c, const struct suite_param *params, size_t n,
		   const struct suite_machine *m, struct vms_sizes *ret, struct err *e)
{
	const char *unit = suite_param_get(params, n, "unit_size", NULL);
	struct vms_sizes z = { .tasks = ret->tasks,
			       .nodes = m->nodes > 1 ? (unsigned)m->nodes : 1,
			       .cpus = m->cpus,
			       .mem = m->mem_total_bytes,
			       .available = m->mem_available_bytes,
			       .swap = m->swap_bytes,
			       .shm = m->mem_total_bytes,
			       .unit_given = unit != NULL };
	int r;

	if (unit && c->unit == VMS_UNIT_NONE)
		return err_set(e, ERR_INVAL,
			       "unit_size = '%.80s': %s takes its size from the machine", unit,
			       c->name);
	r = bytes_param(params, n, "shm_size", &z.shm, e);
	if (r == 0)
		r = bytes_param(params, n, "size", &z.total, e);
	if (r < 0)
		return r;
	z.total = times(z.total, z.nodes);
	z.unit = unit_default(c, &z);
	r = bytes_param(params, n, "unit_size", &z.unit, e);
	if (r == 0)
		*ret = z;
	return r;
}

/* The total is halved until its mappings take a third of the memory at most. */
static uint64_t small_total(uint64_t r, const struct vms_sizes *z)
{
	uint64_t most = z->mem / 3 / PAGE * VMAS_PER_PAGE;

	while (r / SMALL_PIECE > most && r > 0)
		r /= 2;
	return r;
}

static uint64_t raw_bytes(enum vms_size size, const struct vms_sizes *z)
{
	uint64_t p = times(z->available, 256), r = min_u64(4 * TIB, p), l = 64 * TIB;

	switch (size) {
	case SIZE_NONE:
		break;
	case SIZE_UNIT:
		return z->unit;
	case SIZE_UNIT_PER_TASK:
		return z->unit / z->tasks;
	case SIZE_UNIT_PER_TASK1:
		return z->unit / (z->tasks + 1);
	case SIZE_READ_SEQ:
		return min_u64(p / z->tasks, l);
	case SIZE_READ_SEQ_MT:
		return min_u64(p, l) / z->tasks;
	case SIZE_READ:
		return r;
	case SIZE_READ_PER_TASK:
		return r / z->tasks;
	case SIZE_READ_EIGHTH:
		return r / 8;
	case SIZE_LOCK_PER_TASK:
		return z->available / 3 / z->tasks;
	case SIZE_SMALL_PER_TASK:
		return small_total(r, z) / z->tasks;
	case SIZE_SHM:
		return z->shm;
	case SIZE_SHM_HALF:
		return z->shm / 2;
	case SIZE_SHM_PER_TASK:
		return z->shm / z->tasks / 2;
	case SIZE_MEM:
		return z->mem;
	case SIZE_MEM_HALF:
		return z->mem / 2;
	case SIZE_MEM_PER_TASK:
		return z->mem / z->tasks;
	case SIZE_MEM_PER_TASK2:
		return z->mem / z->tasks / 2;
	case SIZE_MEM_PER_NODE:
		return z->mem / z->nodes / 2;
	case SIZE_MEM_THIRD:
		return z->mem / 3;
	}
	return 0;
}

const char *vms_size_text(enum vms_size size)
{
	static const char *const texts[] = {
		[SIZE_NONE] = "nothing",
		[SIZE_UNIT] = "U",
		[SIZE_UNIT_PER_TASK] = "U/N",
		[SIZE_UNIT_PER_TASK1] = "U/(N+1)",
		[SIZE_READ_SEQ] = "min(256A/N, 64T)",
		[SIZE_READ_SEQ_MT] = "min(256A, 64T)/N",
		[SIZE_READ] = "min(256A, 4T)",
		[SIZE_READ_PER_TASK] = "min(256A, 4T)/N",
		[SIZE_READ_EIGHTH] = "min(256A, 4T)/8",
		[SIZE_LOCK_PER_TASK] = "A/3/N",
		[SIZE_SMALL_PER_TASK] = "min(256A, 4T)/N",
		[SIZE_SHM] = "S",
		[SIZE_SHM_HALF] = "S/2",
		[SIZE_SHM_PER_TASK] = "S/N/2",
		[SIZE_MEM] = "M",
		[SIZE_MEM_HALF] = "M/2",
		[SIZE_MEM_PER_TASK] = "M/N",
		[SIZE_MEM_PER_TASK2] = "M/N/2",
		[SIZE_MEM_PER_NODE] = "M/nodes/2",
		[SIZE_MEM_THIRD] = "M/3",
	};

	return texts[size];
}

uint64_t vms_bytes(const struct vms_case *c, enum vms_size size, const struct vms_sizes *z)
{
	uint64_t page = c->needs & VMS_NEEDS_HUGETLB ? HUGE_PAGE : PAGE;

	/* Signed numbers of bytes are all that files and usemem know. */
	return min_u64(raw_bytes(size, z), UINT64_C(1) << 62) / page * page;
}

uint64_t vms_filled(const struct vms_case *c, uint64_t bytes, const struct vms_sizes *z)
{
	/* The pushers take all that is free. */
	if (c->shape == SHAPE_SWAPIN)
		return times(bytes, z->tasks) + z->available;
	if (c->size == SIZE_NONE && c->file == VMS_FILE_NONE)
		return VMS_FORKS * FORK_BYTES;
	switch (c->fill) {
	case VMS_FILL_NONE:
		break;
	case VMS_FILL_TASK:
		return times(bytes, z->tasks);
	case VMS_FILL_ONE:
		return bytes;
	case VMS_FILL_COW:
		return times(bytes, c->threads ? 2 : z->tasks + UINT64_C(1));
	}
	return 0;
}

unsigned vms_starts(const struct vms_case *c, const struct vms_sizes *z)
{
	uint64_t unit = z->unit, n;

	if (z->total == 0)
		return 1;
	if (!z->unit_given) {
		unit = z->mem / 2;
		if (strstr(c->name, "shm"))
			unit = strstr(c->name, "lru") ? z->shm / 2
						      : times(z->shm, (uint64_t)z->cpus) / 2;
		unit = min_u64(unit, z->total);
	}
	n = unit > 0 ? z->total / unit : 1;
	return n < 1 ? 1 : n > UINT32_MAX ? UINT32_MAX : (unsigned)n;
}

static int check_fill(const struct vms_case *c, uint64_t fill, const struct vms_sizes *z,
		      struct err *e)
{
	uint64_t room = z->available + (c->needs & VMS_NEEDS_SWAP ? z->swap : 0);

	if (fill <= room)
		return 0;
	return err_set(e, ERR_NOSPACE,
		       "%s with %u tasks fills %llu MiB, and the machine has %llu MiB free%s",
		       c->name, z->tasks, (unsigned long long)(fill / MIB),
		       (unsigned long long)(room / MIB),
		       c->needs & VMS_NEEDS_SWAP ? ", swap included" : "");
}

int vms_check_needs(const struct vms_case *c, const struct vms_sizes *z, struct err *e)
{
	uint64_t bytes = vms_bytes(c, c->size, z);

	if (c->needs & VMS_NEEDS_SWAP && z->swap == 0)
		return err_set(e, ERR_NOSPACE, "%s needs swap, and the machine has 0 MiB of it",
			       c->name);
	if (c->needs & VMS_NEEDS_NODES && z->nodes < 2)
		return err_set(e, ERR_NOSPACE,
			       "%s needs 2 NUMA nodes with memory, and the machine has %u", c->name,
			       z->nodes);
	if ((c->size != SIZE_NONE && bytes == 0) ||
	    (c->file != VMS_FILE_NONE && vms_bytes(c, c->file_size, z) == 0))
		return err_set(
			e, ERR_NOSPACE,
			"%s leaves less than %llu bytes for each of %u tasks of a machine "
			"with %llu MiB free",
			c->name,
			(unsigned long long)(c->needs & VMS_NEEDS_HUGETLB ? HUGE_PAGE : PAGE),
			z->tasks, (unsigned long long)(z->available / MIB));
	if (c->file == VMS_FILE_SHM && bytes > vms_bytes(c, c->file_size, z))
		return err_set(e, ERR_NOSPACE,
			       "%s reads %llu MiB of a tmpfs file of %llu MiB; unit_size is more "
			       "than shm_size",
			       c->name, (unsigned long long)(bytes / MIB),
			       (unsigned long long)(vms_bytes(c, c->file_size, z) / MIB));
	return check_fill(c, vms_filled(c, bytes, z), z, e);
}
