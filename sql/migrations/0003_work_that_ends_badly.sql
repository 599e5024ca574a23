-- SPDX-License-Identifier: GPL-3.0-or-later
-- Work that is given up, by whomever and for whatever reason, must not leave behind what waits for it
-- for ever. Nothing of this counts against a commit: class fault is ours.
CREATE FUNCTION work_gave_up() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	why text := coalesce(NEW.last_error, 'no reason known');
BEGIN
	IF NEW.kind = 'boot' THEN
		UPDATE boot SET state = 'failed', class = 'fault', detail = why, finished = now()
		WHERE id = (NEW.payload->>'boot')::bigint AND state = 'wanted';
		INSERT INTO work (kind, dedupe, payload)
		SELECT 'detect', 'detect:' || comparison, jsonb_build_object('comparison', comparison)
		FROM boot WHERE id = (NEW.payload->>'boot')::bigint AND comparison IS NOT NULL
		UNION ALL
		SELECT 'bisect', 'bisect:' || bisection, jsonb_build_object('bisection', bisection)
		FROM boot WHERE id = (NEW.payload->>'boot')::bigint AND bisection IS NOT NULL
		ON CONFLICT (dedupe) WHERE state IN ('ready', 'leased')
		DO UPDATE SET again = work.again OR work.state = 'leased';
	ELSIF NEW.kind = 'build' THEN
		-- Whoever still wants it asks for it anew.
		INSERT INTO work (kind, dedupe, payload)
		SELECT 'detect', 'detect:' || c.id, jsonb_build_object('comparison', c.id)
		FROM build b JOIN comparison c ON b.commit IN (c.base, c.head) AND c.state = 'open'
		WHERE b.id = (NEW.payload->>'build')::bigint
		UNION ALL
		SELECT 'bisect', 'bisect:' || s.id, jsonb_build_object('bisection', s.id)
		FROM bisection s WHERE s.state IN ('queued', 'checking-ends', 'running', 'verifying')
		ON CONFLICT (dedupe) WHERE state IN ('ready', 'leased')
		DO UPDATE SET again = work.again OR work.state = 'leased';
	ELSIF NEW.kind = 'detect' THEN
		UPDATE comparison SET state = 'failed', detail = why, finished = now()
		WHERE id = (NEW.payload->>'comparison')::bigint AND state = 'open';
	ELSIF NEW.kind = 'bisect' THEN
		UPDATE bisection SET state = 'failed', result = jsonb_build_object('text', why), finished = now()
		WHERE id = NEW.payload->>'bisection' AND finished IS NULL;
		WITH moved AS (
			UPDATE regression SET state = 'confirmed', updated = now()
			FROM bisection s WHERE s.id = NEW.payload->>'bisection' AND regression.id = s.regression
				AND regression.state = 'bisecting'
			RETURNING regression.id
		)
		INSERT INTO regression_history (regression, from_state, to_state, by, why)
		SELECT id, 'bisecting', 'confirmed', 'kperfbot', why FROM moved;
	ELSIF NEW.kind = 'send' THEN
		-- Perhaps taken, perhaps not: a person has to look.
		UPDATE outbox_rcpt SET state = 'unsure', answer = why
		WHERE outbox = (NEW.payload->>'outbox')::bigint AND addr = NEW.payload->>'addr'
			AND state IN ('queued', 'deferred', 'sending');
	END IF;
	RETURN NULL;
END
$$;

CREATE TRIGGER work_gave_up AFTER UPDATE OF state ON work FOR EACH ROW
	WHEN (NEW.state IN ('failed', 'quarantined') AND OLD.state NOT IN ('failed', 'quarantined'))
	EXECUTE FUNCTION work_gave_up();

-- The row of a job that was asked for may be there with another time limit.
GRANT UPDATE (timeout_s) ON job TO kperfbot_web;
