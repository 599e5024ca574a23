/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The agent on a machine that runs on: serves in a child, and puts the machine back if that dies. */
#pragma once

#include "runners/agent/serve.h"

/**
 * guard_serve() - serve() in a child.
 * However the child ends, nothing that it has started is left, its folders are gone and the settings
 * of the machine are as they were.
 * Return: exit status for the process.
 */
int guard_serve(const struct serve_opts *opts);
