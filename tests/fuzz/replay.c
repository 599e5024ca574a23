/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gives every file of the folders named to the fuzz target once: the corpus as a unit test. */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
	_cleanup_(fclosep) FILE *f = fopen(path, "rbe");
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	char buf[4096];
	size_t n;

	if (!f)
		return -1;
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		strbuf_add(&b, buf, n);
	(void)LLVMFuzzerTestOneInput((const uint8_t *)strbuf_str(&b), b.len);
	return 0;
}

int main(int argc, char **argv)
{
	int n = 0;

	for (int i = 1; i < argc; i++) {
		DIR *dir = opendir(argv[i]);
		const struct dirent *de;

		if (!dir) {
			(void)fprintf(stderr, "cannot open folder '%s'\n", argv[i]);
			return 1;
		}
		while ((de = readdir(dir))) { /* NOLINT(concurrency-mt-unsafe): one thread */
			_cleanup_(freep) char *path = xasprintf("%s/%s", argv[i], de->d_name);

			if (de->d_name[0] != '.' && replay_file(path) == 0)
				n++;
		}
		(void)closedir(dir);
	}
	(void)printf("%d inputs replayed\n", n);
	return n ? 0 : 1;
}
