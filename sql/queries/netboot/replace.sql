-- SPDX-License-Identifier: GPL-3.0-or-later
-- Before machine $1 gets a new offer: remove its old one with what its agent sent, and what another machine
-- was offered for the network address $2. No row: there was nothing.
DELETE FROM netboot WHERE machine = $1 OR mac = $2
