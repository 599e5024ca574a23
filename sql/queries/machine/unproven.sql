-- SPDX-License-Identifier: GPL-3.0-or-later
-- Boots in a row on machine $1 that failed and that kernel or machine may have failed. Columns: n.
SELECT unproven FROM machine WHERE name = $1
