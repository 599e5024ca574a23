/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the fake QEMU is told by the "kernel" that it boots: tests/e2e builds such images. */
#pragma once

#include <stddef.h>

/**
 * struct fake_image - text between "<fake:" and ">" in the image, as words "key=value".
 * @mode: how to misbehave, "" to boot well.
 * @build_id: of the GNU note, hex; "" when there is none.
 * @words: all of the text.
 */
struct fake_image {
	char mode[40];
	char build_id[80];
	char words[400];
};

/** fake_image_read() - Return: 0; -1 when @path is no such image. */
int fake_image_read(const char *path, struct fake_image *ret);

/** fake_image_rate() - operations per second of @program, say "page_fault1_processes", with noise. */
double fake_image_rate(const struct fake_image *im, const char *program, const char *seed);

/** fake_image_output() - what a will-it-scale program prints at @rate; bytes written to @buf. */
size_t fake_image_output(double rate, char *buf, size_t size);
