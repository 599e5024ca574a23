/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the drivers would refuse at the first boot, said before it. */
#pragma once

struct config;
struct err;

/** config_check_driver() - can machine @name be driven and switched at all? ERR_CONFIG. */
int config_check_driver(const struct config *c, const char *name, struct err *e);

/** config_check_suite() - [suite @name]: a suite that there is, a folder, groups that there are. */
int config_check_suite(const struct config *c, const char *name, struct err *e);

/** config_check_settings() - governor, sysctls and the rest of [job @name], as the drivers take them. */
int config_check_settings(const struct config *c, const char *name, struct err *e);
