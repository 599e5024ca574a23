-- SPDX-License-Identifier: GPL-3.0-or-later
-- What a build was made from, and hashes of what it was made into: which commits can matter to a kernel?

ALTER TABLE artefact DROP CONSTRAINT artefact_kind_check;
ALTER TABLE artefact ADD CONSTRAINT artefact_kind_check
	CHECK (kind IN ('image', 'config', 'log', 'console', 'raw', 'file', 'initrd', 'objects', 'deps'));
ALTER TABLE build ADD COLUMN objects text REFERENCES artefact; -- list of object files with hashes; NULL unless ok, or when none was made
ALTER TABLE build ADD COLUMN deps text REFERENCES artefact;    -- list of sources and headers; NULL as objects
