/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames and messages between agent and driver. First byte: size of the pieces that arrive. */
#include "runners/proto/build_id.h"
#include "runners/proto/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_frame(const struct proto_frame *f)
{
	struct proto_hello hello = { 0 };
	struct proto_job job = { 0 };
	struct proto_run_end end = { 0 };
	struct proto_fault fault = { 0 };
	struct proto_ready ready = { 0 };
	struct proto_stream named = { 0 };
	const unsigned char *p;
	unsigned run;
	int stream;
	size_t len;

	(void)proto_hello_parse(f, &hello, NULL);
	(void)proto_job_parse(f, &job, NULL);
	(void)proto_run_start_parse(f, &run, NULL);
	(void)proto_run_end_parse(f, &end, NULL);
	(void)proto_fault_parse(f, &fault, NULL);
	(void)proto_ready_parse(f, &ready, NULL);
	(void)proto_stream_parse(f, &named, NULL);
	(void)proto_output_parse(f, &stream, &p, &len, NULL);
	proto_hello_done(&hello);
	proto_job_done(&job);
	proto_run_end_done(&end);
	proto_fault_done(&fault);
	proto_ready_done(&ready);
	proto_stream_done(&named);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proto_decoder d = { 0 };
	struct proto_frame f;
	char *id = NULL;
	size_t step;

	if (size < 1)
		return 0;
	step = (size_t)data[0] + 1;
	(void)proto_build_id_find(data + 1, size - 1, &id, NULL);
	free(id);
	for (size_t pos = 1; pos < size; pos += step) {
		proto_decoder_add(&d, data + pos, step < size - pos ? step : size - pos);
		while (proto_decoder_next(&d, &f, NULL) == 1)
			read_frame(&f);
	}
	proto_decoder_done(&d);
	return 0;
}
