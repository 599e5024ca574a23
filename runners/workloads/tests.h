/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions that tests.def names. */
#pragma once

#include "runners/workloads/harness.h"

#define WIS_RUN(name) void run_##name(volatile uint64_t *count, unsigned nr)

/* test_mem.c */
WIS_RUN(brk1);
WIS_RUN(brk2);
WIS_RUN(malloc1);
WIS_RUN(malloc2);
WIS_RUN(mmap1);
WIS_RUN(mmap2);
WIS_RUN(page_fault1);
WIS_RUN(page_fault2);
WIS_RUN(page_fault3);
WIS_RUN(tlb_flush1);
WIS_RUN(tlb_flush2);
WIS_RUN(tlb_flush3);

/* test_sync.c: processes, signals and what they wait with */
WIS_RUN(context_switch1);
WIS_RUN(eventfd1);
WIS_RUN(futex1);
WIS_RUN(futex2);
WIS_RUN(futex3);
WIS_RUN(futex4);
WIS_RUN(getppid1);
WIS_RUN(pipe1);
WIS_RUN(posix_semaphore1);
WIS_RUN(pthread_mutex1);
WIS_RUN(pthread_mutex2);
WIS_RUN(pthread_mutex3);
WIS_RUN(pthread_mutex4);
WIS_RUN(pthread_mutex5);
WIS_RUN(sched_yield);
WIS_RUN(signal1);
WIS_RUN(unix1);

/* test_file.c; setup_named also makes the files, setup_names only chooses their names */
void setup_shared_4k(unsigned tasks);
void setup_shared_1m(unsigned tasks);
void setup_shared_pages(unsigned tasks);
void setup_named(unsigned tasks);
void setup_named_folders(unsigned tasks);
void setup_names(unsigned tasks);
void setup_names_folders(unsigned tasks);
void setup_poll2(unsigned tasks);
WIS_RUN(dup1);
WIS_RUN(fallocate1);
WIS_RUN(fallocate2);
WIS_RUN(lock1);
WIS_RUN(lock2);
WIS_RUN(lseek1);
WIS_RUN(lseek2);
WIS_RUN(open1);
WIS_RUN(open3);
WIS_RUN(poll1);
WIS_RUN(poll2);
WIS_RUN(pread1);
WIS_RUN(pread2);
WIS_RUN(pread3);
WIS_RUN(pwrite1);
WIS_RUN(pwrite2);
WIS_RUN(pwrite3);
WIS_RUN(read1);
WIS_RUN(read2);
WIS_RUN(read3);
WIS_RUN(read4);
WIS_RUN(readseek1);
WIS_RUN(readseek2);
WIS_RUN(readseek3);
WIS_RUN(unlink1);
WIS_RUN(write1);
WIS_RUN(writeseek1);
WIS_RUN(writeseek2);
WIS_RUN(writeseek3);
