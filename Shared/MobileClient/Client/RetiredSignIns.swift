internal import Foundation

/// Stores the credentials that a later logout needs, of sign-ins that are not in use any more, and the id of the sign-in of an app with
/// Firebase accounts.
struct RetiredSignIns: Sendable {
    /// The stored record.
    struct Record: Codable, Hashable, Sendable {
        var version = 1
        /// The sign-ins whose logout the API has not confirmed, the oldest first.
        var sessions: [AccountSession] = []
        /// The sign-in of an app with Firebase accounts, whose tokens have no sign-in id; nil while no person is signed in.
        var firebase: UUID?
        /// The account that was signed in last, whose orders and sessions may still be on the device.
        var lastUserID: String?
    }

    /// The API ends unused sign-ins, so it does not matter if one can never be logged out.
    static let maxSessions = 8

    let store: any CredentialStore
    /// Sign-ins whose tokens could not be written yet. This process logs out with them; the next process knows only the written ones.
    private let inHand = Locked<[UUID: AccountSession]>([:])

    init(store: any CredentialStore) { self.store = store }

    /// The stored record.
    ///
    /// - Throws: `storage` when it cannot be read now.
    func read() async throws(HeliographError) -> Record {
        do { return record(of: try await store.read(), inHand.withLock { $0 }) } catch { throw Self.failure(error) }
    }

    /// The sign-ins whose logout the API has not confirmed, as far as they can be read now.
    func sessions() async -> [AccountSession] {
        (try? await read().sessions) ?? inHand.withLock { Array($0.values) }
    }

    /// A sign-in whose logout the API has not confirmed; nil when it is not stored.
    ///
    /// - Throws: `storage` when that cannot be read now.
    func session(_ id: String) async throws(HeliographError) -> AccountSession? {
        if let session = inHand.withLock({ $0.values.first { $0.id.uuidString == id } }) { return session }
        return try await read().sessions.first { $0.id.uuidString == id }
    }

    /// Keeps a sign-in for its logout, or new tokens of one. Where they cannot be written they stay in hand, and are written with the next
    /// change.
    func keep(_ session: AccountSession) async {
        inHand.withLock { $0[session.id] = session }
        try? await update { _ in }
    }

    /// Takes the sign-in of an app with Firebase accounts out of use, even on a device without space: an empty record needs no space. The
    /// sign-ins that were stored for logouts are then held in memory.
    func endFirebase(_ id: UUID) async throws(HeliographError) {
        do throws(HeliographError) {
            try await update { if $0.firebase == id { $0.firebase = nil } }
        } catch {
            let sessions = try await read().sessions
            try await update { if $0.firebase == id { $0 = Record() } }
            inHand.withLock { tokens in for session in sessions { tokens[session.id] = session } }
        }
    }

    /// Changes the record as one step, even when the caller is cancelled.
    func update(_ change: @escaping @Sendable (inout Record) -> Void) async throws(HeliographError) {
        let step = Task {
            let written = try await store.update { data in
                let kept = Self.kept(data)
                let tokens = inHand.withLock { $0 }
                var record = record(of: data, tokens)
                change(&record)
                record.sessions = record.sessions.suffix(Self.maxSessions)
                if record != kept { data = record == Record() ? nil : try JSONEncoder().encode(record) }
                return tokens
            }
            // These sign-ins are in the record now, or were removed from it; sign-ins that were added meanwhile are not.
            inHand.withLock { tokens in tokens = tokens.filter { $0.value != written[$0.key] } }
        }
        do { try await step.value } catch { throw Self.failure(error) }
    }

    private static func failure(_ error: any Error) -> HeliographError {
        let error = error as NSError
        return HeliographError(
            .storage, "The sign-ins that have ended cannot be read or kept: \(error.domain) \(error.code)", isRetryable: true)
    }

    /// The stored record, together with the tokens in memory.
    private func record(of data: Data?, _ tokens: [UUID: AccountSession]) -> Record {
        var record = Self.kept(data)
        let added = tokens.values.filter { session in !record.sessions.contains { $0.id == session.id } }
        record.sessions = record.sessions.map { tokens[$0.id] ?? $0 } + added
        return record
    }

    /// A record of another version, or a damaged one, cannot be used.
    private static func kept(_ data: Data?) -> Record {
        guard let data, let record = try? JSONDecoder().decode(Record.self, from: data), record.version == 1 else { return Record() }
        return record
    }
}
