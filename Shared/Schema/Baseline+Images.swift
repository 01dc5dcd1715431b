extension Baseline {
    /// Templates that a picture can be made with.
    static let imageTemplates = """
        CREATE TABLE image_templates (
            id              text        PRIMARY KEY CHECK (id ~ '^[a-z0-9][a-z0-9-]{0,63}$'),
            name            text        NOT NULL CHECK (length(name) BETWEEN 1 AND 80),
            description     text        NOT NULL CHECK (length(description) <= 400),
            preview         text        CHECK (preview LIKE 'https://%'),
            style           text        NOT NULL,
            prompt          text        NOT NULL CHECK (length(prompt) BETWEEN 1 AND 4000),
            negative_prompt text        NOT NULL DEFAULT '' CHECK (length(negative_prompt) <= 2000),
            position        integer     NOT NULL DEFAULT 0,
            state           text        NOT NULL DEFAULT 'published' CHECK (state IN ('draft', 'published', 'disabled')),
            created_at      timestamptz NOT NULL DEFAULT now()
        );
        COMMENT ON TABLE image_templates IS 'Templates of pictures: a style and a prompt.';
        COMMENT ON COLUMN image_templates.style IS 'The style of the local generator.';
        COMMENT ON COLUMN image_templates.state IS 'Apps are offered published ones: a draft was not yet, a disabled one is no more.';

        \(imageTemplateSeeds)
        """

    /// Image jobs, the calls of generators, and the reasons for which phones fetched results.
    ///
    /// A job that its user deleted is hidden until its pictures are deleted. `image_job_reads` has no foreign key, because its
    /// figures outlive the jobs.
    static let imageJobs = """
        CREATE TABLE image_jobs (
            id                 uuid        PRIMARY KEY,
            user_id            uuid        NOT NULL REFERENCES users (id) ON DELETE CASCADE,
            template_id        text        NOT NULL REFERENCES image_templates (id),
            template_name      text        NOT NULL,
            status             text        NOT NULL DEFAULT 'pending'
                               CHECK (status IN ('pending', 'processing', 'completed', 'failed')),
            lane               text        NOT NULL DEFAULT 'standard' CHECK (lane IN ('standard', 'bulk')),
            awaits_turn        boolean     NOT NULL DEFAULT false,
            percent            integer     NOT NULL DEFAULT 0 CHECK (percent BETWEEN 0 AND 100),
            width              integer     CHECK (width > 0),
            height             integer     CHECK (height > 0),
            quality            text        CHECK (length(quality) <= 16),
            input_key          text,
            original_width     integer     CHECK (original_width > 0),
            original_height    integer     CHECK (original_height > 0),
            result_key         text,
            result_format      text        CHECK (result_format IN ('jpeg', 'png', 'webp')),
            result_bytes       bigint      CHECK (result_bytes > 0),
            result_width       integer     CHECK (result_width > 0),
            result_height      integer     CHECK (result_height > 0),
            thumbnail_key      text,
            model_used         text,
            generation_ms      bigint      CHECK (generation_ms >= 0),
            error_code         text        CHECK (error_code ~ '^[a-z_]{1,40}$'),
            error_message      text        CHECK (length(error_message) <= 200),
            attempts           integer     NOT NULL DEFAULT 0 CHECK (attempts >= 0),
            paid_attempts      integer     NOT NULL DEFAULT 0 CHECK (paid_attempts BETWEEN 0 AND attempts),
            request_id         text,
            traceparent        text,
            created_at         timestamptz NOT NULL DEFAULT now(),
            started_at         timestamptz,
            completed_at       timestamptz,
            deadline_at        timestamptz NOT NULL DEFAULT now() + interval '5 minutes',
            expires_at         timestamptz NOT NULL DEFAULT now() + interval '24 hours',
            worker             uuid,
            lease_until        timestamptz,
            seen_at            timestamptz,
            deleted_at         timestamptz,
            CONSTRAINT image_jobs_lease_has_holder CHECK ((worker IS NULL) = (lease_until IS NULL)),
            CONSTRAINT image_jobs_terminal_has_time
                CHECK ((status IN ('completed', 'failed')) = (completed_at IS NOT NULL)),
            CONSTRAINT image_jobs_failure_has_reason
                CHECK ((status = 'failed') = (error_code IS NOT NULL) AND (error_code IS NULL) = (error_message IS NULL)),
            CONSTRAINT image_jobs_completed_has_result
                CHECK ((status = 'completed') = (result_key IS NOT NULL)
                       AND (result_key IS NULL) = (num_nulls(result_format, result_bytes, result_width, result_height,
                                                             original_width, original_height, model_used) > 0)),
            CONSTRAINT image_jobs_completed_is_whole CHECK (status <> 'completed' OR percent = 100),
            CONSTRAINT image_jobs_work_has_begun CHECK (status NOT IN ('processing', 'completed') OR started_at IS NOT NULL)
        );
        CREATE INDEX image_jobs_by_user ON image_jobs (user_id, created_at DESC, id DESC);
        CREATE INDEX image_jobs_unseen_by_user ON image_jobs (user_id)
            WHERE status IN ('completed', 'failed') AND seen_at IS NULL AND deleted_at IS NULL;
        CREATE INDEX image_jobs_by_template ON image_jobs (template_id, completed_at DESC);
        CREATE INDEX image_jobs_waiting ON image_jobs (created_at, id) WHERE status = 'pending' AND deleted_at IS NULL;
        CREATE INDEX image_jobs_awaiting_turns ON image_jobs (user_id, created_at, id) WHERE awaits_turn AND status = 'pending';
        CREATE INDEX image_jobs_open_by_user ON image_jobs (user_id) WHERE status IN ('pending', 'processing');
        CREATE INDEX image_jobs_open_by_deadline ON image_jobs (deadline_at) WHERE status IN ('pending', 'processing');
        CREATE INDEX image_jobs_ended_with_input ON image_jobs (completed_at)
            WHERE status IN ('completed', 'failed') AND input_key IS NOT NULL;
        CREATE INDEX image_jobs_by_expiry ON image_jobs (expires_at);
        CREATE INDEX image_jobs_deleted ON image_jobs (deleted_at) WHERE deleted_at IS NOT NULL;
        COMMENT ON TABLE image_jobs IS 'Orders of pictures; completed and failed are final. Deleted after 24 hours.';
        COMMENT ON COLUMN image_jobs.lane IS 'The stream of its image.requested.';
        COMMENT ON COLUMN image_jobs.awaits_turn IS
            'Whether its image.requested is not published yet, because others of its account are in the streams.';
        COMMENT ON COLUMN image_jobs.template_name IS 'The template''s name when the job was created.';
        COMMENT ON COLUMN image_jobs.input_key IS 'The sealed upload; NULL once it is deleted.';
        COMMENT ON COLUMN image_jobs.paid_attempts IS 'Calls of a generator that cost money, or may have.';
        COMMENT ON COLUMN image_jobs.worker IS 'The holder of the lease until lease_until, so that a picture is paid for once.';
        COMMENT ON COLUMN image_jobs.seen_at IS 'When the user first fetched the result; until then the job counts for the badge.';
        COMMENT ON COLUMN image_jobs.deleted_at IS 'When the user deleted the job: it is hidden; its pictures and row are deleted next.';

        CREATE TABLE image_attempts (
            job_id      uuid        NOT NULL REFERENCES image_jobs (id) ON DELETE CASCADE,
            number      integer     NOT NULL CHECK (number > 0),
            generator   text        NOT NULL,
            outcome     text        CHECK (outcome IN ('generated', 'refused', 'no_image', 'unclear', 'free')),
            raw_key     text,
            model_used  text,
            duration_ms bigint      CHECK (duration_ms >= 0),
            started_at  timestamptz NOT NULL DEFAULT now(),
            finished_at timestamptz,
            PRIMARY KEY (job_id, number),
            CONSTRAINT image_attempts_finished_has_outcome CHECK ((finished_at IS NULL) = (outcome IS NULL)),
            CONSTRAINT image_attempts_generated_has_picture
                CHECK ((outcome IS NOT DISTINCT FROM 'generated') = (raw_key IS NOT NULL)
                       AND (raw_key IS NULL) = (model_used IS NULL))
        );
        COMMENT ON TABLE image_attempts IS 'Calls of a generator, each committed before the call is made.';
        COMMENT ON COLUMN image_attempts.raw_key IS 'The generator''s picture, kept until the job has ended.';

        CREATE TABLE image_calls (
            day     date    NOT NULL,
            user_id uuid    REFERENCES users (id) ON DELETE CASCADE,
            calls   integer NOT NULL CHECK (calls >= 0),
            UNIQUE NULLS NOT DISTINCT (day, user_id)
        );
        CREATE INDEX image_calls_by_user ON image_calls (user_id);
        COMMENT ON TABLE image_calls IS 'Calls of paid generators on a day (UTC), counted before each call. Deleted after two days.';
        COMMENT ON COLUMN image_calls.user_id IS 'The account; NULL for the calls of all accounts.';

        CREATE TABLE image_costs (
            user_id uuid        NOT NULL REFERENCES users (id) ON DELETE CASCADE,
            minute  timestamptz NOT NULL,
            cost_ms bigint      NOT NULL CHECK (cost_ms >= 0),
            PRIMARY KEY (user_id, minute)
        );
        CREATE INDEX image_costs_by_minute ON image_costs (minute);
        COMMENT ON TABLE image_costs IS
            'The estimated processor time of the jobs that an account ordered in a minute, by their pixels. Deleted after ten minutes.';

        CREATE TABLE image_job_reads (
            job_id  uuid        NOT NULL,
            trigger text        NOT NULL CHECK (trigger IN ('push', 'poll', 'launch')),
            at      timestamptz NOT NULL DEFAULT clock_timestamp(),
            PRIMARY KEY (job_id, trigger)
        );
        CREATE INDEX image_job_reads_by_time ON image_job_reads (at);
        COMMENT ON TABLE image_job_reads IS 'Why clients fetched the results of image jobs; each reason once per job.';
        """
}
