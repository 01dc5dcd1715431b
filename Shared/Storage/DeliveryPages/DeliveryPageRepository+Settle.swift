internal import FoundationEssentials
internal import PostgresClient
internal import WireFormat

extension DeliveryPageRepository {
    /// What became of deliveries that are, or were, on pages.
    struct Endings {
        /// Those whose end is written by this.
        var ended: Set<UUID> = []
        /// How many of each notification.
        var counts: [UUID: Int32] = [:]
    }

    /// Ends deliveries of pages: those that FCM accepted by a bit, the others by a row of their own. Belongs in a transaction.
    ///
    /// - Returns: What this call ended; what it did not is on no page any more, and has a row of its own if it is known at all.
    func settle(_ batch: [DeliverySettlement]) async throws(PostgresError) -> Endings {
        var endings = Endings()
        var (accepted, parted) = (Marks(), Marks())
        var partings: [DeliverySettlement] = []
        for settlement in batch {
            guard let place = DeliveryPage.place(of: settlement.id) else { continue }
            if settlement.outcome == .accepted {
                accepted.add(place, name: settlement.fcmName)
            } else {
                parted.add(place)
                partings.append(settlement)
            }
        }
        try await mark("accepted", accepted, &endings)
        try await mark("parted", parted, &endings)
        try await insert(
            partings.filter { endings.ended.contains($0.id) }.map {
                Parted(
                    id: $0.id, state: $0.outcome.rawValue, attempt: $0.attempt, generation: $0.generation, delay: nil,
                    code: $0.code, mayHaveArrived: false)
            })
        return endings
    }

    /// Puts deliveries of pages off, in rows of their own. Belongs in a transaction.
    ///
    /// - Returns: Those that were put off; the others are on no page any more, or with another sender.
    func postpone(_ batch: [DeliveryPostponement]) async throws(PostgresError) -> Set<UUID> {
        var (left, marks) = (Endings(), Marks())
        for postponement in batch {
            guard let place = DeliveryPage.place(of: postponement.id) else { continue }
            marks.add(place, attempt: postponement.attempt)
        }
        try await mark("parted", marks, &left)
        try await insert(
            batch.filter { left.ended.contains($0.id) }.map {
                Parted(
                    id: $0.id, state: Delivery.State.pending.rawValue, attempt: $0.attempt - ($0.countsAsAttempt ? 0 : 1),
                    generation: nil, delay: $0.delay.inSeconds, code: $0.code, mayHaveArrived: $0.mayHaveArrived)
            })
        return left.ended
    }

    // MARK: Marks

    /// Bits of pages that are to be set, and the names of those that FCM has named.
    private struct Marks {
        struct Page {
            let id: UUID
            /// The attempt that has to be under way still; nil for any.
            let attempt: Int?
            var bits = [UInt8](repeating: UInt8(ascii: "0"), count: DeliveryPage.membersMax)
        }

        private(set) var pages: [Page] = []
        private(set) var namePages: [Int32] = []
        private(set) var nameNumbers: [Int16] = []
        private(set) var names: [String] = []
        private var indices: [Key: Int] = [:]

        private struct Key: Hashable {
            let pageID: UUID
            let attempt: Int?
        }

        mutating func add(_ place: (pageID: UUID, number: Int), attempt: Int? = nil, name: String? = nil) {
            let index: Int
            let key = Key(pageID: place.pageID, attempt: attempt)
            if let known = indices[key] {
                index = known
            } else {
                index = pages.count
                indices[key] = index
                pages.append(Page(id: place.pageID, attempt: attempt))
            }
            pages[index].bits[place.number - 1] = UInt8(ascii: "1")
            guard let name else { return }
            namePages.append(Int32(index + 1))
            nameNumbers.append(Int16(place.number))
            names.append(name)
        }
    }

    /// Sets bits of pages where none is set yet, and notes whose they are.
    private func mark(_ column: String, _ marks: Marks, _ endings: inout Endings) async throws(PostgresError) {
        let pages = marks.pages
        guard !pages.isEmpty else { return }
        // Locked in the order of their ids, as by all who change many.
        let rows = try await db.query(
            """
            WITH given AS (
                SELECT * FROM unnest(\(pages.map(\.id)), \(pages.map { String(decoding: $0.bits, as: UTF8.self) }),
                                     \(pages.map { $0.attempt.map { Int32($0) } }))
                    WITH ORDINALITY AS g (given_id, bits, given_attempt, place) ORDER BY given_id
            ), held AS MATERIALIZED (
                SELECT p.id AS held_id, place, left(bits, length(open))::varbit & open AS taken, open
                FROM given CROSS JOIN LATERAL (
                    SELECT id, ~(accepted | parted) AS open FROM delivery_pages
                    WHERE id = given_id AND (given_attempt IS NULL OR (state = 'sending' AND attempt = given_attempt)) FOR UPDATE) p
            ), names AS (
                SELECT place AS name_place, array_agg(number) AS numbers, array_agg(name) AS names
                FROM unnest(\(marks.namePages), \(marks.nameNumbers), \(marks.names)) AS f (name_place, number, name)
                JOIN held ON place = name_place AND get_bit(taken, number - 1) = 1
                GROUP BY place
            )
            UPDATE delivery_pages p
            SET \(unescaped: column) = \(unescaped: column) | taken, ended_at = now(),
                state = CASE WHEN bit_count(open & ~taken) = 0 THEN 'settled' ELSE p.state END,
                due_at = CASE WHEN bit_count(open & ~taken) > 0 THEN p.due_at END,
                fcm_name_numbers = fcm_name_numbers || coalesce(numbers, '{}'), fcm_names = fcm_names || coalesce(names, '{}')
            FROM held LEFT JOIN names ON name_place = place
            WHERE p.id = held_id AND bit_count(taken) > 0
            RETURNING p.id, p.notification_id, taken::text AS taken
            """)
        for row in rows {
            let pageID: UUID = try row.decode("id")
            var count: Int32 = 0
            for (index, bit) in try row.decode("taken", as: String.self).utf8.enumerated() where bit == UInt8(ascii: "1") {
                endings.ended.insert(DeliveryPage.deliveryID(index + 1, of: pageID))
                count += 1
            }
            endings.counts[try row.decode("notification_id"), default: 0] += count
        }
    }

    // MARK: Rows of their own

    private struct Parted {
        let id: UUID
        let state: String
        let attempt: Int
        let generation: Int64?
        /// Seconds until it is due; nil when it has ended.
        let delay: Double?
        let code: String?
        let mayHaveArrived: Bool
    }

    private func insert(_ parted: [Parted]) async throws(PostgresError) {
        let members = parted.compactMap { member in DeliveryPage.place(of: member.id).map { (member: member, place: $0) } }
        guard !members.isEmpty else { return }
        // An installation that has passed from one member to another within a fan-out may be on two pages; the push to the first is
        // ended, and does not stand in the way of the second.
        let outdated = try await db.query(
            """
            UPDATE deliveries d SET state = 'skipped', code = 'no_installation', due_at = NULL, settled_at = now()
            FROM unnest(\(members.map(\.place.pageID)), \(members.map { Int32($0.place.number) })) AS m (page_id, number)
            CROSS JOIN LATERAL (
                SELECT notification_id, install_ids[m.number] AS install_id, generations[m.number] AS generation
                FROM delivery_pages WHERE id = m.page_id) p
            WHERE d.notification_id = p.notification_id AND d.install_id = p.install_id AND d.generation < p.generation
              AND d.settled_at IS NULL
            RETURNING d.notification_id
            """)
        try await DeliveryRepository(db).countEnded(DeliveryRepository.counts(outdated))
        try await db.enqueue(
            """
            INSERT INTO deliveries AS d (id, notification_id, install_id, generation, lane, state, attempt, due_at, code, created_at,
                                         settled_at, may_have_arrived)
            SELECT DISTINCT ON (p.notification_id, p.install_ids[m.number])
                   m.id, p.notification_id, p.install_ids[m.number], coalesce(m.generation, p.generations[m.number]), p.lane,
                   m.state, m.attempt, now() + make_interval(secs => m.delay), m.code, p.created_at,
                   CASE WHEN m.delay IS NULL THEN now() END, m.arrived OR p.attempt > 1
            FROM unnest(\(members.map(\.member.id)), \(members.map(\.place.pageID)), \(members.map { Int32($0.place.number) }),
                        \(members.map(\.member.state)), \(members.map { Int32($0.member.attempt) }),
                        \(members.map(\.member.generation)), \(members.map(\.member.delay)), \(members.map(\.member.code)),
                        \(members.map(\.member.mayHaveArrived)))
                AS m (id, page_id, number, state, attempt, generation, delay, code, arrived)
            CROSS JOIN LATERAL (SELECT * FROM delivery_pages WHERE id = m.page_id) p
            ORDER BY p.notification_id, p.install_ids[m.number], p.generations[m.number] DESC
            ON CONFLICT (notification_id, install_id) DO UPDATE
                SET id = EXCLUDED.id, generation = EXCLUDED.generation, state = EXCLUDED.state, attempt = EXCLUDED.attempt,
                    due_at = EXCLUDED.due_at, code = EXCLUDED.code, settled_at = EXCLUDED.settled_at,
                    may_have_arrived = EXCLUDED.may_have_arrived
                WHERE d.settled_at IS NOT NULL AND d.generation < EXCLUDED.generation
            """)
    }
}
