/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "web/request.h"

/* The assembler puts the file into the program as it is. */
__asm__(".section .rodata\n"
	"style_start:\n"
	".incbin \"" WEB_STYLE "\"\n"
	".byte 0\n"
	".previous\n");
extern const char style_start[] __attribute__((visibility("hidden")));

int serve_style(struct request *q, struct err *e)
{
	(void)e;
	answer_text(q, 200, "text/css; charset=utf-8", style_start);
	q->answer.lasting = true;
	return 0;
}
