-- SPDX-License-Identifier: GPL-3.0-or-later
-- File $1 (sha256) of $2 bytes, kind $3, is in the store.
INSERT INTO artefact (sha256, size_bytes, kind) VALUES ($1, $2::bigint, $3) ON CONFLICT (sha256) DO NOTHING
