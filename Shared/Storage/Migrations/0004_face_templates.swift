import PostgresClient

extension Migration {
    /// Enrolled faces, sealed, and the hashes of photos already used, so that a replayed photo is noticed.
    static let faceTemplates = Migration(
        number: 4, name: "face_templates",
        up: """
            CREATE TABLE face_templates (
                user_id          uuid        PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
                model_id         text        NOT NULL,
                pipeline_version integer     NOT NULL CHECK (pipeline_version > 0),
                template_sealed  bytea       NOT NULL,
                created_at       timestamptz NOT NULL DEFAULT now(),
                updated_at       timestamptz NOT NULL DEFAULT now()
            );

            CREATE TABLE face_photo_hashes (
                user_id    uuid        NOT NULL,
                photo_hash bytea       NOT NULL CHECK (octet_length(photo_hash) = 32),
                created_at timestamptz NOT NULL DEFAULT now(),
                PRIMARY KEY (user_id, photo_hash)
            );

            COMMENT ON TABLE face_templates IS 'One face a user; descriptors are comparable only within one model_id.';
            COMMENT ON COLUMN face_templates.template_sealed IS 'AES-256-GCM, bound to the user id.';
            COMMENT ON TABLE face_photo_hashes IS 'SHA-256 of photos seen for a user; no foreign key: decoys.';
            """,
        down: """
            DROP TABLE face_photo_hashes;
            DROP TABLE face_templates;
            """
    )
}
