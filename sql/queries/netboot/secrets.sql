-- SPDX-License-Identifier: GPL-3.0-or-later
-- All offers; who asks compares the secrets itself, in constant time. Columns: machine, secret.
SELECT machine, secret FROM netboot
