internal import Foundation

/// The content of a ``CredentialStore``: the sign-in, the end of the last one, and the claim of the process that renews its tokens.
///
/// Its functions are the decisions that app and extension make about one record in turn. Each decision is one step of the store.
struct CredentialRecord: Codable, Hashable, Sendable {
    /// How a sign-in ended.
    enum End: String, Codable, Sendable {
        case signedOut
        /// The API has refused to renew its tokens.
        case lost
    }

    /// Says that a process is renewing the tokens.
    struct Claim: Codable, Hashable, Sendable {
        var holder: UUID
        var at: Date
        var until: Date
    }

    /// The answer to a claim.
    enum Verdict: Hashable, Sendable {
        /// The caller renews the tokens.
        case granted(TokenRefreshReducer.Ticket)
        /// The record already has other tokens, or its tokens are too new, or it has another sign-in or none.
        case notNeeded
        /// Another process renews them.
        case busy
    }

    /// The time for which a claim keeps other processes from renewing.
    ///
    /// If a process ends after its request has used the refresh token, the sign-in survives if another request with that token reaches the
    /// API within 30 seconds of the first. So the claim and the time for sending together must be shorter.
    static let claimTime: TimeInterval = 15
    /// The time after a claim within which the request must be sent and answered.
    static let sendTime: TimeInterval = 10

    var version = 1
    var session: AccountSession?
    var end: End?
    var claim: Claim?

    /// Begins a sign-in, in place of any other.
    mutating func signIn(_ id: UUID, _ tokens: AccountTokens, now: Date) {
        self = CredentialRecord(session: AccountSession(id: id, tokens, receivedAt: now))
    }

    /// Ends the sign-in; returns it. A sign-in with another id than the one given stays.
    mutating func signOut(_ id: UUID?) -> AccountSession? {
        guard let ended = session, id == nil || id == ended.id else { return nil }
        self = CredentialRecord(end: .signedOut)
        return ended
    }

    /// Claims the renewal of tokens.
    mutating func claim(_ need: TokenRefreshReducer.Need, by holder: UUID, now: Date) -> Verdict {
        guard let session, session.id == need.signIn, session.accessToken == need.replacing else { return .notNeeded }
        // A request that seemed lost may still bring the predecessor of these tokens to the API, which then must not have a successor.
        if session.receivedAt <= now, now < session.receivedAt + min(Self.sendTime, session.lifetime / 2) { return .notNeeded }
        // A claim of the future was made before the clock was set back.
        if let claim, claim.holder != holder, claim.at <= now, now < claim.until { return .busy }
        claim = Claim(holder: holder, at: now, until: now + Self.claimTime)
        return .granted(
            TokenRefreshReducer.Ticket(
                holder: holder, signIn: session.id, refreshToken: session.refreshToken, at: now, sendBy: now + Self.sendTime))
    }

    /// Stores the answer to a refresh, unless the record has newer tokens, another sign-in or none.
    ///
    /// The claim of another process stays: its request with the old token may still be in flight, and would fail if the new token were used
    /// before.
    mutating func store(_ tokens: AccountTokens, for ticket: TokenRefreshReducer.Ticket, now: Date) {
        guard let session, session.id == ticket.signIn, session.refreshToken == ticket.refreshToken else { return }
        self.session = AccountSession(id: session.id, tokens, receivedAt: now)
        release(ticket.holder)
    }

    /// Ends a sign-in whose refresh token was refused, unless the record has newer tokens, another sign-in or none.
    ///
    /// - Returns: Whether this call ended it.
    mutating func lose(_ ticket: TokenRefreshReducer.Ticket) -> Bool {
        guard let session, session.id == ticket.signIn, session.refreshToken == ticket.refreshToken else { return false }
        self = CredentialRecord(end: .lost)
        return true
    }

    /// Lets other processes renew the tokens.
    mutating func release(_ holder: UUID) {
        if claim?.holder == holder { claim = nil }
    }
}
