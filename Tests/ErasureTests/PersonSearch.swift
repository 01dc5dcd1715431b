import PostgresClient
import TestSupport
import Testing

/// Finds what tells of a person in any column of any table.
struct PersonSearch {
    /// Tables that name no person, with the reason.
    static let impersonalTables: Set = [
        // What the installation itself does and has.
        "face_indexes", "face_reindexes", "image_templates", "inbox", "push_guard", "push_outcomes", "push_quota", "schema_migrations",
        "sealed_value_counts", "service_credentials",
        // By random ids or numbers of what is erased, for a day at most.
        "face_removals", "push_install_rates", "used_challenges", "used_device_proofs",
        // By hashes of addresses of clients, for an hour.
        "wrong_codes",
        // What an erasure itself leaves: numbers of rows.
        "erasure_reports",
    ]

    /// Columns of other tables that by their type or name may name a person, and do not.
    static let impersonalColumns: Set = [
        // What apps and clients choose to tell requests apart, and the installation to tell its own attempts apart.
        "app_notifications.dedupe_key", "app_notifications.fingerprint", "idempotency_keys.key", "idempotency_keys.owner",
        "image_jobs.worker", "outbox.entry_id", "dead_letters.entry_id", "deliveries.fcm_name",
        // What an app has to say to all recipients together; the name of a topic.
        "app_notifications.request", "topics.name",
        // Texts to consent to, templates and models, which are the same for all.
        "consents.text_hash", "pending_enrolments.consent_hash", "sessions.consent_hash", "face_templates.model_id",
        "pending_enrolments.model_id", "image_jobs.template_id", "image_jobs.template_name",
        // Random ids of an installation and of a sign-in; the keys of a session's photos, and words such as `too_dark` about them.
        "notification_receipts.reporter_id", "sessions.authorised_by", "sessions.photos", "sessions.photo_problems",
        // What is kept of an erasure: that an id must not be written again, and who may read the receipt.
        "erasures.subject_hash", "erasures.token_hash",
    ]

    /// What random ids are given to. Such an id tells nothing when the thing is gone.
    private static let things = [
        "code_mail", "credential", "family", "install", "job", "message", "notification", "object", "request", "resource", "series",
        "session", "sign_in", "topic", "verification",
    ]

    /// Whether a column has the id of a thing: its row's, or of one of ``things``.
    static func isOfThing(_ column: String) -> Bool {
        let name = column.split(separator: ".").last.map(String.init) ?? column
        return name == "id" || things.contains { name == "\($0)_id" || name == "\($0)_ids" }
    }

    let client: PostgresClient
    /// All tables of the schema.
    let tables: Set<String>

    init(_ client: PostgresClient) async throws {
        self.client = client
        let names: [String] = try await client.query(
            """
            SELECT relname::text AS name FROM pg_class
            WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
            """
        ).column("name")
        tables = Set(names)
    }

    /// Returns the rows that tell of a person, by table.
    func rows(of person: Person) async throws -> [String: [String]] {
        var found: [String: [String]] = [:]
        for table in tables {
            let rows: [String] = try await client.query(
                """
                SELECT t::text AS row FROM \(unescaped: table) t WHERE t::text ~ \(person.needles.joined(separator: "|")) ORDER BY row
                """
            ).column("row")
            if !rows.isEmpty { found[table] = rows }
        }
        return found
    }

    /// Returns the columns of the tables of persons that by their type or name may tell of one, and in which nothing of a person is found.
    func silentColumns(of person: Person) async throws -> Set<String> {
        let columns = try await client.query(
            """
            SELECT attrelid::regclass::text AS table, attname::text AS name FROM pg_attribute
            WHERE attrelid = ANY(\(tables.subtracting(Self.impersonalTables).sorted())::regclass[]) AND attnum > 0 AND NOT attisdropped
              AND (atttypid IN ('uuid'::regtype, 'uuid[]'::regtype, 'bytea'::regtype, 'bytea[]'::regtype, 'jsonb'::regtype)
                   OR attname ~ '(_id|key|email|name|subject|address)$')
            """)
        var silent: Set<String> = []
        for row in columns {
            let (table, column): (String, String) = (try row.decode("table"), try row.decode("name"))
            let isFound: Bool = try await client.query(
                """
                SELECT EXISTS (SELECT FROM \(unescaped: table)
                               WHERE \(unescaped: column)::text ~ \(person.needles.joined(separator: "|"))) AS is_found
                """
            ).required().decode("is_found")
            if !isFound { silent.insert("\(table).\(column)") }
        }
        return silent
    }
}
