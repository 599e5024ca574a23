/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a build folder says about itself: hashes of object files, and from the .cmd files that make
 * leaves beside them which sources were read. All of it was written by a hostile side: names are
 * checked, links not followed, and there are limits to everything.
 */
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/vec.h"
#include "bot/build/build_priv.h"
#include "bot/build/elf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define DEPTH_MAX   32
#define ENTRIES_MAX 1000000
#define PATH_BYTES  512
#define OBJECT_MAX  ((size_t)4 << 30)
#define CODE_MAX    ((size_t)64 << 20)
#define CMD_MAX	    ((size_t)4 << 20)
#define TOTAL_MAX   ((uint64_t)16 << 30)
#define DEPS_MAX    200000

/* Half of a SHA-256: enough to tell files apart that nobody would gain from confusing. */
#define HASH_DIGITS 32

struct walk {
	const char *root;
	VEC(char *) objects; /* "PATH HASH" */
	VEC(char *) deps;
	char **table; /* of deps, open addressing */
	size_t table_size;
	struct strbuf code;
	struct strbuf cmd;
	size_t entries;
	uint64_t total;
};

static void walk_done(struct walk *w)
{
	vec_foreach (s, &w->objects)
		free(*s);
	vec_foreach (s, &w->deps)
		free(*s);
	vec_done(&w->objects);
	vec_done(&w->deps);
	free(w->table);
	strbuf_done(&w->code);
	strbuf_done(&w->cmd);
}

static bool begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static bool ends(const char *s, size_t len, const char *with)
{
	size_t n = strlen(with);

	return len > n && memcmp(s + len - n, with, n) == 0;
}

/* Names that make and people write; what else there is can only be mischief. */
static bool name_ok(const char *name)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_.,+-=@%";

	return name[strspn(name, good)] == '\0';
}

/* FNV-1a */
static size_t hash_of(const char *s, size_t len)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * UINT64_C(0x100000001b3);
	return (size_t)h;
}

/* The place in the table where @s is or belongs. */
static char **slot_of(const struct walk *w, const char *s, size_t len)
{
	size_t at = hash_of(s, len) & (w->table_size - 1);

	while (w->table[at] && (strncmp(w->table[at], s, len) != 0 || w->table[at][len] != '\0'))
		at = (at + 1) & (w->table_size - 1);
	return &w->table[at];
}

/* Words as they stand in .cmd files: most come hundreds of times. False: there are too many. */
static bool add_word(struct walk *w, const char *folder, const char *word, size_t len)
{
	_cleanup_(freep) char *local = NULL;
	char **slot;

	/* The makefiles below tools/ name their sources as seen from their folder. */
	if (word[0] != '/') {
		if (!begins(folder, "tools/"))
			return true;
		local = xasprintf("%s/%.*s", folder, (int)len, word);
		word = local;
		len = strlen(local);
	}
	if (memchr(word, '\0', len))
		return true;
	slot = slot_of(w, word, len);
	if (*slot)
		return true;
	if (w->deps.len >= DEPS_MAX)
		return false;
	*slot = xstrndup(word, len);
	vec_push(&w->deps, *slot);
	return true;
}

/* "a/./b/../c" as "a/c"; NULL if it leads out of the top. */
static char *normal(const char *s, size_t len)
{
	char *ret = xcalloc(len + 1, 1);
	size_t n = 0;

	for (size_t i = 0; i < len;) {
		const char *stop = memchr(s + i, '/', len - i);
		size_t part = stop ? (size_t)(stop - s) - i : len - i;

		if (part == 2 && s[i] == '.' && s[i + 1] == '.') {
			if (!n) {
				free(ret);
				return NULL;
			}
			while (n && ret[--n] != '/')
				;
		} else if (part && !(part == 1 && s[i] == '.')) {
			if (n)
				ret[n++] = '/';
			memcpy(ret + n, s + i, part);
			n += part;
		}
		i += part + 1;
	}
	ret[n] = '\0';
	return ret;
}

char *deps_path(const char *folder, const char *word, size_t len)
{
	_cleanup_(freep) char *local = NULL;
	char *ret;

	if (len > 5 && memcmp(word, "/src/", 5) == 0) {
		word += 5;
		len -= 5;
	} else if (len && word[0] != '/') {
		local = xasprintf("%s/%.*s", folder, (int)len, word);
		word = local;
		len = strlen(local);
	} else {
		return NULL;
	}
	if (len >= PATH_BYTES)
		return NULL;
	ret = normal(word, len);
	for (const char *p = ret; p && *p; p++) {
		if ((unsigned char)*p > ' ' && (unsigned char)*p < 127)
			continue;
		free(ret);
		return NULL;
	}
	if (ret && ret[0])
		return ret;
	free(ret);
	return NULL;
}

/* "source_mm/slub.o := /src/mm/slub.c", and "deps_mm/slub.o := \" with a word on each further line. */
static int read_cmd(struct walk *w, const char *folder, const char *path, struct err *e)
{
	const char *p;
	const char *end;
	bool deps = false;
	int r;

	strbuf_reset(&w->cmd);
	r = collect_read(w->root, path, CMD_MAX, &w->cmd, e);
	if (r < 0)
		return r;
	w->total += w->cmd.len;
	end = strbuf_str(&w->cmd) + w->cmd.len;
	for (p = strbuf_str(&w->cmd); p < end;) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		const char *line = p;
		size_t len;

		stop = stop ? stop : end;
		len = (size_t)(stop - p);
		p = stop + 1;
		if (len > 7 && memcmp(line, "source_", 7) == 0) {
			const char *is = memmem(line, len, " := ", 4);

			line = is ? is + 4 : stop;
		} else if (len > 5 && memcmp(line, "deps_", 5) == 0) {
			deps = true;
			continue;
		} else if (!deps) {
			continue;
		}
		while (line < stop && (*line == ' ' || *line == '\t'))
			line++;
		for (len = 0; line + len < stop && line[len] != ' ' && line[len] != '\\';)
			len++;
		deps &= line < stop;
		if (len && line[0] != '$' && !add_word(w, folder, line, len))
			return err_set(e, ERR_TOO_BIG, "more than %d sources", DEPS_MAX);
	}
	return 0;
}

static int hash_object(struct walk *w, const char *path, struct err *e)
{
	size_t size = 0;
	_cleanup_(closep) int fd = collect_open(w->root, path, OBJECT_MAX, &size, e);
	const char *code = "";
	char hash[65];
	char *line;
	void *map = NULL;

	if (fd < 0)
		return fd;
	w->total += size;
	/* Whoever could shorten the file is dead: the sandbox had a PID namespace of its own. */
	if (size) {
		map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map == MAP_FAILED)
			return err_errno(e, errno, "could not map '%s'", path);
		code = map;
	}
	strbuf_reset(&w->code);
	/* What we cannot read is compared as it is; so are modules of many parts, listed by themselves. */
	if (size <= CODE_MAX && elf_code(code, size, &w->code, NULL) == 0)
		file_sha256_hex(strbuf_str(&w->code), w->code.len, hash);
	else
		file_sha256_hex(code, size, hash);
	if (map)
		(void)munmap(map, size);
	line = xasprintf("%s %.*s", path, HASH_DIGITS, hash);
	vec_push(&w->objects, line);
	return 0;
}

/* Programs for the build itself, and what unpacks and starts the kernel. */
static bool is_of_build(const char *path)
{
	const char *boot = begins(path, "arch/") ? strchr(path + 5, '/') : NULL;

	return begins(path, "scripts/") || begins(path, "tools/") ||
	       (boot && begins(boot, "/boot/"));
}

/* An object of the kernel, or the script that says where the linker puts them. */
static bool is_object(const char *path, const char *name)
{
	size_t len = strlen(name);

	if (name[0] == '.' || is_of_build(path) || !strcmp(path, "vmlinux.o"))
		return false;
	return (ends(name, len, ".o") && !ends(name, len, ".mod.o")) ||
	       !strcmp(name, "vmlinux.lds");
}

static int visit(struct walk *w, int parent, const char *folder, int depth, struct err *e);

static int visit_entry(struct walk *w, int dir, const char *folder, const char *name, int depth,
		       struct err *e)
{
	_cleanup_(freep) char *path = xasprintf("%s%s%s", folder, folder[0] ? "/" : "", name);
	size_t len = strlen(name);
	struct stat st;

	if (++w->entries > ENTRIES_MAX || w->total > TOTAL_MAX)
		return err_set(e, ERR_TOO_BIG, "build folder is too large to be listed");
	if (!name_ok(name) || strlen(path) >= PATH_BYTES)
		return 0;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(e, errno, "could not look at '%s'", path);
	if (S_ISDIR(st.st_mode))
		return depth < DEPTH_MAX ? visit(w, dir, path, depth + 1, e) : 0;
	if (!S_ISREG(st.st_mode))
		return 0;
	if (name[0] == '.' && ends(name, len, ".cmd"))
		return (uintmax_t)st.st_size > CMD_MAX ? 0 : read_cmd(w, folder, path, e);
	return is_object(path, name) ? hash_object(w, path, e) : 0;
}

/* All entries of the folder whose last part is seen from @parent. */
static int visit(struct walk *w, int parent, const char *folder, int depth, struct err *e)
{
	const char *last = strrchr(folder, '/');
	int fd = openat(parent,
			!folder[0] ? "."
			: last	   ? last + 1
				   : folder,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct dirent *de;
	DIR *dir;
	int r = 0;

	if (fd < 0)
		return err_errno(e, errno, "could not open folder '%s'", folder);
	dir = fdopendir(fd);
	if (!dir) {
		(void)close(fd);
		return err_errno(e, errno, "could not read folder '%s'", folder);
	}
	while (r == 0 && (de = readdir(dir))) /* NOLINT(concurrency-mt-unsafe): own stream */
		if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0)
			r = visit_entry(w, fd, folder, de->d_name, depth, e);
	(void)closedir(dir);
	return r;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted, without what comes twice. */
static void add_lines(struct strbuf *ret, char **lines, size_t n)
{
	const char *last = "";

	if (n)
		qsort(lines, n, sizeof(*lines), compare);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(last, lines[i]) != 0) {
			strbuf_addstr(ret, lines[i]);
			strbuf_addch(ret, '\n');
		}
		last = lines[i];
	}
}

/* From the words of the .cmd files to paths below the source; two words may mean one file. */
static void make_paths(struct walk *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->deps.len; i++) {
		char *word = w->deps.items[i];
		char *path = word[0] == '/' ? deps_path("", word, strlen(word))
					    : deps_path(".", word, strlen(word));

		free(word);
		if (path)
			w->deps.items[n++] = path;
	}
	w->deps.len = n;
}

int objects_list(const struct workdir *wd, struct strbuf *objects, struct strbuf *deps,
		 struct err *e)
{
	struct walk w = { .root = wd->o, .table_size = (size_t)1 << 19 };
	_cleanup_(closep) int root = open(wd->o, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r;

	if (root < 0)
		return err_errno(e, errno, "could not open '%s'", wd->o);
	w.table = xcalloc(w.table_size, sizeof(*w.table));
	r = visit(&w, root, "", 0, e);
	if (r == 0 && !w.objects.len)
		r = err_set(e, ERR_NOENT, "no object file in the build folder");
	if (r == 0) {
		make_paths(&w);
		add_lines(objects, w.objects.items, w.objects.len);
		add_lines(deps, w.deps.items, w.deps.len);
	}
	walk_done(&w);
	return r;
}
