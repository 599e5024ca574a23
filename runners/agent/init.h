/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The agent as the first process of a lab machine. */
#pragma once

/** INIT_PORT_NAME - the virtio-serial port that leads to the driver. */
#define INIT_PORT_NAME "org.kperfbot.0"

/** init_main() - set the machine up, serve in a child, and power off. Does not return. */
void init_main(void) __attribute__((noreturn));
