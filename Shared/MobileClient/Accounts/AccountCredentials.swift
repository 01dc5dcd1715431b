public import Foundation

/// Keeps the sign-in of the account on this device, and gives its tokens to requests. App and notification extension share it by their
/// ``CredentialStore``.
///
/// An app that signs in with Firebase gives a ``FirebaseTokenProvider`` to ``APIClient`` instead; no tokens are stored here then.
public actor AccountCredentials {
    /// Whether the device is signed in.
    public enum SignInState: Hashable, Sendable {
        case signedIn(userID: String)
        case signedOut
        /// The API has ended the sign-in: the person has to sign in again.
        case lost
    }

    /// The credential of a request.
    struct Credential: Hashable, Sendable {
        var token: String
        /// The sign-in that it belongs to; nil for a Firebase token.
        var signIn: UUID?
    }

    /// The looks at the store that a request waits for another token.
    static let maxRounds = 3

    let firebase: FirebaseTokenProvider?
    private let records: CredentialRecords
    let time: TimeSource
    private let refresh: @Sendable (String, Duration) async -> TokenRenewal.Answer
    private(set) lazy var renewal = TokenRenewal(records: records, time: time, request: refresh) { [weak self] in
        _ = try? await self?.session()
    }
    private var state: SignInState?
    /// The number of begun reads of the store, and the number of the read that set ``state``: the result of an earlier read that ends later
    /// is ignored.
    private var reads = (begun: 0, noted: 0)
    private var listeners: [UUID: AsyncStream<SignInState>.Continuation] = [:]

    init(
        store: any CredentialStore, firebase: FirebaseTokenProvider?, time: TimeSource,
        refresh: @escaping @Sendable (_ refreshToken: String, _ timeout: Duration) async -> TokenRenewal.Answer
    ) {
        self.firebase = firebase
        self.time = time
        self.refresh = refresh
        records = CredentialRecords(store: store)
    }

    deinit { listeners.values.forEach { $0.finish() } }

    // MARK: Signing in and out

    /// Begins a sign-in with the tokens of a redeemed session, in place of any other.
    ///
    /// - Throws: `storage`; `invalid_argument` when the app signs in with Firebase.
    @discardableResult
    public func signIn(_ tokens: AccountTokens) async throws(HeliographError) -> AccountSession {
        guard firebase == nil else { throw HeliographError(.invalidArgument, "Firebase signs this app in") }
        let time = time
        let session = try await records.update { record in
            record.signIn(UUID(), tokens, now: time.now())
            return record.session
        }
        _ = try? await self.session()
        guard let session else { throw HeliographError(.storage, "The sign-in was not kept") }
        return session
    }

    /// Ends the sign-in on this device, even on a device without space. A running renewal has no effect any more.
    ///
    /// The API is not told: send the logout before, with the account's token.
    /// - Parameter id: The sign-in to end; another sign-in stays. nil ends any sign-in.
    /// - Returns: The sign-in that this call ended; nil without a sign-in.
    @discardableResult
    public func signOut(_ id: AccountSession.ID? = nil) async throws(HeliographError) -> AccountSession? {
        let ended: AccountSession?
        do throws(HeliographError) { ended = try await records.update { $0.signOut(id) } } catch {
            ended = try await records.read().session.flatMap { id == nil || id == $0.id ? $0 : nil }
            if let ended { try await records.remove { $0.session?.id == ended.id } }
        }
        _ = try? await session()
        return ended
    }

    /// Removes the record of a lost sign-in, even one that this version cannot read.
    func forgetLost() async throws(HeliographError) {
        try await records.remove { $0.end == .lost }
        _ = try? await session()
    }

    /// The sign-in with its newest tokens; nil without a sign-in.
    public func session() async throws(HeliographError) -> AccountSession? {
        reads.begun += 1
        let number = reads.begun
        let record = try await records.read()
        if number > reads.noted {
            reads.noted = number
            note(record.session.map { .signedIn(userID: $0.userID) } ?? (record.end == .lost ? .lost : .signedOut))
        }
        return record.session
    }

    // MARK: State

    /// The state, and each change of it from then on. The state `lost` comes once for each lost sign-in, and again after a restart until
    /// the next sign-in.
    ///
    /// Changes by another process are seen at the next request of the account or call of ``session()``.
    public func states() async -> AsyncStream<SignInState> {
        _ = try? await session()
        let (states, listener) = AsyncStream.makeStream(of: SignInState.self)
        let id = UUID()
        listeners[id] = listener
        listener.onTermination = { [weak self] _ in Task { await self?.removeListener(id) } }
        if let state { listener.yield(state) }
        return states
    }

    /// The streams of ``states()`` that are read.
    var listenerCount: Int { listeners.count }

    private func removeListener(_ id: UUID) { listeners[id] = nil }

    private func note(_ new: SignInState) {
        guard new != state else { return }
        state = new
        listeners.values.forEach { $0.yield(new) }
    }
}
