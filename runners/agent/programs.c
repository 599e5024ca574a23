/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/programs.h"

#include "bot/base/err.h"
#include "runners/agent/link.h"

/* The plain functions: all of libcrypto's newer interface would make the agent three times as big. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define LIST_MAX     65536
#define LIST_S	     5.0
#define HASH_MAX     ((off_t)256 << 20)
#define USED_MAX     256
#define NAME_MAX_LEN 200
#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* struct programs_hash - a file as it was when it was hashed. */
struct programs_hash {
	struct stat st;
	char hex[2 * SHA256_DIGEST_LENGTH + 1];
};

/* What "workloads --list" prints; a stand-in that does not know it says nothing, or is killed. */
static void list_read(const char *workloads, struct strbuf *out)
{
	double end_s = agent_now_s() + LIST_S;
	int fd[2];
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		(void)dup2(null, STDIN_FILENO);
		(void)dup2(fd[1], STDOUT_FILENO);
		(void)dup2(null, STDERR_FILENO);
		(void)execl(workloads, workloads, "--list", (char *)NULL);
		_exit(127);
	}
	(void)close(fd[1]);
	while (pid > 0 && out->len < LIST_MAX) {
		struct pollfd p = { .fd = fd[0], .events = POLLIN };
		double left = end_s - agent_now_s();
		char buf[4096];
		ssize_t n;

		if (left <= 0 || (poll(&p, 1, (int)(left * 1000) + 1) < 0 && errno != EINTR))
			break;
		if (!p.revents)
			continue;
		n = read(fd[0], buf, sizeof(buf));
		if (n <= 0)
			break;
		strbuf_add(out, buf, (size_t)n);
	}
	(void)close(fd[0]);
	if (pid > 0) {
		(void)kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
}

static void applets_load(struct programs *p)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	char *save = NULL;
	size_t n = 0;

	if (p->applets)
		return;
	list_read(p->workloads, &text);
	p->applets = xcalloc(1, sizeof(*p->applets));
	for (char *w = text.len ? strtok_r(text.s, " \n", &save) : NULL; w;
	     w = strtok_r(NULL, " \n", &save)) {
		p->applets = xreallocarray(p->applets, n + 2, sizeof(*p->applets));
		p->applets[n++] = xstrdup(w);
		p->applets[n] = NULL;
	}
}

static bool is_applet(struct programs *p, const char *name)
{
	applets_load(p);
	for (char **a = p->applets; *a; a++) {
		if (!strcmp(*a, name))
			return true;
	}
	return false;
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static const char *path_of(const struct proto_job *job)
{
	const char *path = NULL;

	for (char **v = job->env; v && *v; v++) {
		if (!strncmp(*v, "PATH=", 5))
			path = *v + 5;
	}
	if (!path)
		path = getenv("PATH");
	return path && *path ? path : DEFAULT_PATH;
}

/* To be freed; NULL if @name is in none of the folders of @list, which are absolute. */
static char *search(const char *list, const char *name)
{
	while (*list) {
		size_t n = strcspn(list, ":");
		char *path = *list == '/' ? xasprintf("%.*s/%s", (int)n, list, name) : NULL;

		if (path && is_program(path))
			return path;
		free(path);
		list += n + (list[n] == ':');
	}
	return NULL;
}

int programs_find(struct programs *p, const struct proto_job *job, const char *dir,
		  const char *name, char **ret_path, bool *ret_applet, struct err *e)
{
	char *path;

	*ret_applet = false;
	if (strchr(name, '/')) {
		path = *name == '/' ? xstrdup(name) : xasprintf("%s/%s", dir, name);
		*ret_path = path;
		if (access(path, X_OK) == 0)
			return 0;
		(void)err_errno(e, errno, "cannot execute '%s'", path);
		free(path);
		*ret_path = NULL;
		return ERR_NOENT;
	}
	if (job->path) {
		path = search(job->path, name);
		if (path) {
			*ret_path = path;
			return 0;
		}
	}
	path = is_applet(p, name) ? NULL : search(path_of(job), name);
	if (!path && p->applets[0] && !is_applet(p, name))
		return err_set(e, ERR_NOENT,
			       "no program '%.200s' on this machine: it is not bundled, and not in "
			       "'%.200s%s%.500s'",
			       name, job->path ? job->path : "", job->path ? ":" : "",
			       path_of(job));
	*ret_applet = !path;
	*ret_path = path ? path : xstrdup(p->workloads);
	return 0;
}

char *programs_search(const struct proto_job *job, const char *name)
{
	char *path = job->path ? search(job->path, name) : NULL;

	return path ? path : search(path_of(job), name);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static bool hash_file(int fd, char *hex)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	char buf[65536];
	SHA256_CTX c;
	ssize_t n;

	(void)SHA256_Init(&c);
	while ((n = read(fd, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		(void)SHA256_Update(&c, buf, (size_t)n);
	}
	(void)SHA256_Final(digest, &c);
	for (size_t i = 0; i < sizeof(digest); i++)
		(void)snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	return true;
}

/* NULL for what is no regular file of a sane size, and what cannot be read. */
static const char *hash_of(struct programs *p, const char *path)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct programs_hash *h;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > HASH_MAX)
		return NULL;
	for (size_t i = 0; i < p->nseen; i++) {
		if (is_same(&p->seen[i].st, &st))
			return p->seen[i].hex;
	}
	p->seen = xreallocarray(p->seen, p->nseen + 1, sizeof(*p->seen));
	h = &p->seen[p->nseen];
	h->st = st;
	if (!hash_file(fd, h->hex))
		return NULL;
	p->nseen++;
	return h->hex;
}

void programs_use(struct programs *p, const char *name, const char *path)
{
	const char *hex;
	size_t i;
	json_t *v;

	if (!p->used)
		p->used = json_array();
	json_array_foreach (p->used, i, v) {
		if (!strcmp(name, json_string_value(json_object_get(v, "name"))) &&
		    !strcmp(path, json_string_value(json_object_get(v, "path"))))
			return;
	}
	if (json_array_size(p->used) >= USED_MAX || strlen(name) > NAME_MAX_LEN ||
	    strlen(path) > NAME_MAX_LEN)
		return;
	hex = hash_of(p, path);
	v = json_pack("{ss ss ss*}", "name", name, "path", path, "sha256", hex);
	if (v)
		(void)json_array_append_new(p->used, v);
}

json_t *programs_take(struct programs *p)
{
	return p->used ? take_ptr(p->used) : json_array();
}

void programs_done(struct programs *p)
{
	for (char **a = p->applets; a && *a; a++)
		free(*a);
	free(p->applets);
	free(p->seen);
	json_decref(p->used);
	*p = (struct programs){ 0 };
}
