extension Baseline {
    /// The numbers of faces, from which each face-matching-worker learns which faces are missing in its memory.
    ///
    /// A number stands for one face for ever: a face that replaces another gets the next one. So the difference between a worker's memory
    /// and the tables is a set of numbers, and the memory names no user. Numbers are not committed in their order; `changed_in` is compared
    /// with the oldest transaction that was running at the last look, so that a look misses none (`FaceChangeRepository`).
    static let faceNumbers = """
        CREATE SEQUENCE face_numbers;

        CREATE TABLE face_removals (
            number     bigint      PRIMARY KEY,
            changed_in xid8        NOT NULL DEFAULT pg_current_xact_id(),
            removed_at timestamptz NOT NULL DEFAULT now()
        );
        CREATE INDEX face_removals_by_change ON face_removals (changed_in);
        CREATE INDEX face_removals_by_age ON face_removals (removed_at);
        COMMENT ON TABLE face_removals IS 'Numbers of faces that were deleted or replaced lately: workers remove them from their memory.';

        CREATE FUNCTION face_numbered() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
        BEGIN
            IF TG_OP <> 'INSERT' THEN INSERT INTO face_removals (number) VALUES (OLD.number); END IF;
            IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
            NEW.number := nextval('face_numbers');
            NEW.changed_in := pg_current_xact_id();
            RETURN NEW;
        END $$;
        """

    /// Faces of two accounts that are alike. A row may come before the accounts, whose faces then wait for a proof: hence no foreign key.
    /// Rows whose faces are gone are deleted by face-matching-worker.
    static let faceDuplicates = """
        CREATE TABLE face_duplicates (
            id          uuid        PRIMARY KEY DEFAULT gen_random_uuid(),
            user_id     uuid        NOT NULL,
            other_id    uuid        NOT NULL,
            state       text        NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'resolved')),
            found_at    timestamptz NOT NULL DEFAULT now(),
            resolved_at timestamptz,
            CONSTRAINT face_duplicates_are_two CHECK (user_id <> other_id),
            CONSTRAINT face_duplicates_resolved_has_time CHECK ((state = 'resolved') = (resolved_at IS NOT NULL))
        );
        CREATE UNIQUE INDEX face_duplicates_once ON face_duplicates (least(user_id, other_id), greatest(user_id, other_id));
        CREATE INDEX face_duplicates_by_user ON face_duplicates (user_id);
        CREATE INDEX face_duplicates_by_other ON face_duplicates (other_id);
        CREATE INDEX face_duplicates_by_time ON face_duplicates (found_at);
        COMMENT ON TABLE face_duplicates IS 'Accounts, or sign-ups, with the same face as it seems, for an operator to look at.';
        COMMENT ON COLUMN face_duplicates.user_id IS 'The one whose sign-up showed it.';
        COMMENT ON COLUMN face_duplicates.state IS 'resolved: an operator has decided that both may stay as they are.';
        """

    /// The reports of the face-matching-workers on their memory, and the requests of operators to reindex.
    ///
    /// A request is a row, which every worker sees at its next report: an event would reach only one worker.
    static let faceIndexes = """
        CREATE TABLE face_indexes (
            worker      text        PRIMARY KEY,
            faces       bigint      NOT NULL,
            unusable    bigint      NOT NULL,
            faces_read  bigint,
            reindexed   bigint,
            reported_at timestamptz NOT NULL DEFAULT now()
        );
        COMMENT ON TABLE face_indexes IS 'What each face-matching-worker has in memory; rows of workers that have ended are old.';
        COMMENT ON COLUMN face_indexes.unusable IS 'Faces that it cannot use: damaged ones, and those of which the key is missing.';
        COMMENT ON COLUMN face_indexes.faces_read IS 'How many it has read while it reads all.';
        COMMENT ON COLUMN face_indexes.reindexed IS 'The last of face_reindexes that is done.';

        CREATE TABLE face_reindexes (
            number       bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            requested_at timestamptz NOT NULL DEFAULT now()
        );
        COMMENT ON TABLE face_reindexes IS 'Requests of operators that all workers read all faces anew.';
        """
}
