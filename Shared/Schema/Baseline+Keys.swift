extension Baseline {
    /// What each key seals, for the metrics of all instances.
    static let sealedValueCounts = """
        CREATE TABLE sealed_value_counts (
            ring       text        NOT NULL CHECK (length(ring) BETWEEN 1 AND 32),
            key_id     text        NOT NULL CHECK (length(key_id) <= 128),
            estimate   bigint      NOT NULL CHECK (estimate >= 0),
            counted_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (ring, key_id)
        );
        COMMENT ON TABLE sealed_value_counts IS
            'About how many values each key has sealed, or lookups each has made, by a sample of the tables.';
        COMMENT ON COLUMN sealed_value_counts.key_id IS 'The id in the header of the values; empty for values without one.';
        """
}
