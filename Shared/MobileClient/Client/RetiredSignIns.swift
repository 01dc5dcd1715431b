internal import Foundation

/// Keeps what a later logout needs of sign-ins that are not in use any more, and the id of the sign-in of an app with Firebase accounts.
struct RetiredSignIns: Sendable {
    /// What is kept.
    struct Record: Codable, Hashable, Sendable {
        var version = 1
        /// The sign-ins whose logout the API has not confirmed, the oldest first.
        var sessions: [AccountSession] = []
        /// The sign-in of an app with Firebase accounts, whose tokens have no id of a sign-in; nil while no person is signed in.
        var firebase: UUID?
        /// The account that was signed in last, whose orders and sessions may still be on the device.
        var lastUserID: String?
    }

    /// The API ends sign-ins that are not used, so one that could never be ended is no loss.
    static let maxSessions = 8

    let store: any CredentialStore
    /// New tokens that could not be written yet: the former ones are used up, so these are all that there is.
    private let inHand = Locked<[UUID: AccountSession]>([:])

    init(store: any CredentialStore) { self.store = store }

    /// The record; an empty one where it cannot be read.
    func read() async -> Record { (try? await readable()) ?? record(of: nil) }

    /// The record. Throws `storage` where it cannot be read, as before the device was unlocked for the first time.
    func readable() async throws(HeliographError) -> Record {
        do { return record(of: try await store.read()) } catch {
            throw HeliographError(.storage, "The sign-ins that have ended cannot be read: \(type(of: error))", isRetryable: true)
        }
    }

    /// Replaces the tokens of a sign-in. Where they cannot be written they stay in hand, and are written with the next change.
    func renew(_ session: AccountSession) async {
        inHand.withLock { $0[session.id] = session }
        try? await update { _ in }
    }

    /// Changes the record as one step, also when the caller is cancelled.
    func update(_ change: @escaping @Sendable (inout Record) -> Void) async throws(HeliographError) {
        let step = Task {
            let written = try await store.update { data in
                let kept = Self.kept(data)
                var record = self.record(of: data)
                change(&record)
                record.sessions = record.sessions.suffix(Self.maxSessions)
                if record != kept { data = record == Record() ? nil : try JSONEncoder().encode(record) }
                return Set(record.sessions)
            }
            // What was taken out of the record, or is in it now, need not be in hand.
            inHand.withLock { tokens in
                tokens = tokens.filter { id, session in !written.contains(session) && written.contains { $0.id == id } }
            }
        }
        do { try await step.value } catch {
            throw HeliographError(.storage, "The sign-ins that have ended cannot be kept: \(type(of: error))", isRetryable: true)
        }
    }

    /// What is kept, with the tokens in hand.
    private func record(of data: Data?) -> Record {
        var record = Self.kept(data)
        let tokens = inHand.withLock { $0 }
        record.sessions = record.sessions.map { tokens[$0.id] ?? $0 }
        return record
    }

    /// A record of another version, or a damaged one, has nothing that can be used.
    private static func kept(_ data: Data?) -> Record {
        guard let data, let record = try? JSONDecoder().decode(Record.self, from: data), record.version == 1 else { return Record() }
        return record
    }
}
