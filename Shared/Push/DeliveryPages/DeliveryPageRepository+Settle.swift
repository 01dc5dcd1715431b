internal import FoundationEssentials
internal import PostgresClient
internal import WireFormat

extension DeliveryPageRepository {
    /// The deliveries of pages that a call settled or detached.
    struct Endings {
        /// The ids of these deliveries.
        var ended: Set<UUID> = []
        /// Their number for each notification.
        var counts: [UUID: Int32] = [:]
    }

    /// Settles deliveries of pages: accepted ones by a bit of the page, others by a row in `deliveries`. Call in a transaction.
    ///
    /// - Returns: The deliveries that this call settled; the others are on no page any more, and have their own row if they exist.
    func settle(_ batch: [DeliverySettlement]) async throws(PostgresError) -> Endings {
        var endings = Endings()
        endings.ended.reserveCapacity(batch.count)
        var (accepted, detached) = (Marks(), Marks())
        var detachments: [DeliverySettlement] = []
        for settlement in batch {
            guard let place = DeliveryPage.place(of: settlement.id) else { continue }
            if settlement.outcome == .accepted {
                accepted.add(place, name: settlement.fcmName)
            } else {
                detached.add(place)
                detachments.append(settlement)
            }
        }
        try await mark("accepted", accepted, &endings)
        try await mark("detached", detached, &endings)
        try await insertDetached(
            detachments.filter { endings.ended.contains($0.id) }.map {
                Detached(
                    id: $0.id, state: $0.outcome.rawValue, attempt: $0.attempt, generation: $0.generation, delay: nil,
                    code: $0.code, mayHaveArrived: false)
            })
        return endings
    }

    /// Defers deliveries of pages, in their own rows. Call in a transaction.
    ///
    /// - Returns: The deferred deliveries; the others are on no page any more, or claimed by another sender.
    func deferDeliveries(_ batch: [DeliveryDeferral]) async throws(PostgresError) -> Set<UUID> {
        var (left, marks) = (Endings(), Marks())
        for deferral in batch {
            guard let place = DeliveryPage.place(of: deferral.id) else { continue }
            marks.add(place, attempt: deferral.attempt)
        }
        try await mark("detached", marks, &left)
        try await insertDetached(
            batch.filter { left.ended.contains($0.id) }.map {
                Detached(
                    id: $0.id, state: Delivery.State.pending.rawValue, attempt: $0.attempt - ($0.countsAsAttempt ? 0 : 1),
                    generation: nil, delay: $0.delay / .seconds(1), code: $0.code, mayHaveArrived: $0.mayHaveArrived)
            })
        return left.ended
    }

    // MARK: Marks

    /// The bits of pages to set, and the message names from FCM's answers.
    private struct Marks {
        struct Page {
            let id: UUID
            /// The attempt that must still hold the page; nil for any.
            let attempt: Int?
            /// Up to the last bit to set; most pages have few deliveries.
            var bits: [UInt8] = []
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
            let missing = place.number - pages[index].bits.count
            if missing > 0 { pages[index].bits.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: missing)) }
            pages[index].bits[place.number - 1] = UInt8(ascii: "1")
            guard let name else { return }
            namePages.append(Int32(index + 1))
            nameNumbers.append(Int16(place.number))
            names.append(name)
        }
    }

    /// Sets the bits of open deliveries, and adds these deliveries to `endings`.
    private func mark(_ column: String, _ marks: Marks, _ endings: inout Endings) async throws(PostgresError) {
        let pages = marks.pages
        guard !pages.isEmpty else { return }
        // Locks pages in the order of their ids, as every statement that changes several pages does.
        let rows = try await db.query(
            """
            WITH given AS (
                SELECT * FROM unnest(\(pages.map(\.id)), \(pages.map { String(decoding: $0.bits, as: UTF8.self) }),
                                     \(pages.map { $0.attempt.map { Int32($0) } }))
                    WITH ORDINALITY AS g (given_id, bits, given_attempt, place) ORDER BY given_id
            ), held AS MATERIALIZED (
                SELECT p.id AS held_id, place, rpad(bits, length(open), '0')::varbit & open AS taken, open
                FROM given CROSS JOIN LATERAL (
                    SELECT id, ~(accepted | detached) AS open FROM delivery_pages
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

    // MARK: Detached deliveries

    private struct Detached {
        let id: UUID
        let state: String
        let attempt: Int
        let generation: Int64?
        /// Seconds until it is due; nil when it is settled.
        let delay: Double?
        let code: String?
        let mayHaveArrived: Bool
    }

    private func insertDetached(_ detached: [Detached]) async throws(PostgresError) {
        let members = detached.compactMap { member in DeliveryPage.place(of: member.id).map { (member: member, place: $0) } }
        guard !members.isEmpty else { return }
        // An installation that passed from one member to another during a fan-out may be on two pages. The delivery to the first
        // member is ended, so that its row does not conflict with the second.
        let outdated = try await db.query(
            """
            UPDATE deliveries d SET state = 'skipped', code = \(Suppression.noInstallation.rawValue), due_at = NULL, settled_at = now()
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
