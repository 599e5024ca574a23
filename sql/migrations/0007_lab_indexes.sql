-- SPDX-License-Identifier: GPL-3.0-or-later
-- Asked after each good boot and each minute: the few failures that nobody has settled, not all that a machine ever ran.
CREATE INDEX boot_unsettled ON boot (machine) WHERE state = 'failed' AND control_boot IS NULL AND NOT excluded;
