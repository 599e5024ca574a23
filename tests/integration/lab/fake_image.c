/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/integration/lab/fake_image.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IMAGE_MAX     (4u << 20)
#define NOISE	      0.003
#define BUILD_ID_SIZE 20

/* "key=" in the words of the image, at the start of a word; NULL if it is not there. */
static const char *find_word(const struct fake_image *im, const char *key, size_t len)
{
	for (const char *p = im->words; *p; p++)
		if ((p == im->words || p[-1] == ' ') && !strncmp(p, key, len) && p[len] == '=')
			return p + len + 1;
	return NULL;
}

static void read_build_id(const char *image, size_t len, struct fake_image *ret)
{
	static const char note[] = "\4\0\0\0\24\0\0\0\3\0\0\0GNU";
	const unsigned char *p = memmem(image, len, note, sizeof(note));

	if (!p || (size_t)(image + len - (const char *)p) < sizeof(note) + BUILD_ID_SIZE)
		return;
	for (size_t i = 0; i < BUILD_ID_SIZE; i++)
		(void)snprintf(ret->build_id + 2 * i, 3, "%02x", p[sizeof(note) + i]);
}

int fake_image_read(const char *path, struct fake_image *ret)
{
	char *image = malloc(IMAGE_MAX);
	FILE *f = fopen(path, "re");
	const char *at = NULL;
	const char *mode;
	size_t len = 0;

	memset(ret, 0, sizeof(*ret));
	if (f && image) {
		len = fread(image, 1, IMAGE_MAX, f);
		at = memmem(image, len, "<fake:", 6);
	}
	if (at && memchr(at, '>', (size_t)(image + len - at))) {
		(void)snprintf(ret->words, sizeof(ret->words), "%.*s",
			       (int)(strchr(at, '>') - at - 6), at + 6);
		mode = find_word(ret, "mode", 4);
		if (mode)
			(void)sscanf(mode, "%39[a-z-]", ret->mode);
		read_build_id(image, len, ret);
	}
	if (f)
		(void)fclose(f);
	free(image);
	return at ? 0 : -1;
}

/* Sum of four uniform numbers: bounded, so that no test fails once in a while. */
static double noise(const char *seed)
{
	uint64_t x = 14695981039346656037u;
	double sum = 0;

	for (; *seed; seed++)
		x = (x ^ (unsigned char)*seed) * 1099511628211u;
	for (int i = 0; i < 4; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		sum += (double)(x >> 11) / 9007199254740992.0 - 0.5;
	}
	return NOISE * sum * 1.732;
}

double fake_image_rate(const struct fake_image *im, const char *program, const char *seed)
{
	const char *end = strrchr(program, '_');
	size_t len = end ? (size_t)(end - program) : strlen(program);
	const char *p = find_word(im, program, len);

	return (p ? strtod(p, NULL) : 0) * (1 + noise(seed));
}

size_t fake_image_output(double rate, char *buf, size_t size)
{
	uint64_t sum = 0;
	size_t n = (size_t)snprintf(buf, size, "testcase:made up\nwarmup\n");

	for (int i = 0; i < 11; i++) {
		/* The seconds of a run differ a little, their mean is the rate. */
		uint64_t ops = (uint64_t)(rate * (1 + 0.001 * (i % 5 - 2)));

		if (i == 6)
			n += (size_t)snprintf(buf + n, size - n, "measurement\n");
		sum += i >= 6 ? ops : 0;
		n += (size_t)snprintf(buf + n, size - n,
				      "min:%" PRIu64 " max:%" PRIu64 " total:%" PRIu64 "\n", ops,
				      ops, ops);
	}
	n += (size_t)snprintf(buf + n, size - n, "average:%" PRIu64 "\n", sum / 5);
	return n;
}
