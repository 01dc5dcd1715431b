import Foundation

@testable import MobileClient

/// The part of the API that a phone uses (docs/api), in memory: accounts, sign-ins, sessions by face, jobs and installations.
final class PhoneAPI: Sendable {
    struct SignIn {
        var user: String
        var installation: String?
        var access: String
        var refresh: String
        /// The refresh token before this one: for 30 seconds it gets the same answer, and later it ends the sign-in.
        var former: String?
        var renewedAt: Date
        var isAlive = true
        /// The key that the sign-in is bound to.
        var deviceKey: String?
    }

    struct Session {
        var id: UUID
        var token: String
        var user: String?
        var key: String
        var signIn: Int?
        /// The device's key that the upload came with.
        var deviceKey: String?
    }

    struct Job {
        var id: String
        var user: String
        var key: String
        var status = "pending"
    }

    struct Contents {
        var signIns: [SignIn] = []
        var sessions: [Session] = []
        var jobs: [Job] = []
        /// The users who get the pushes to an installation.
        var installations: [String: String] = [:]
        /// Whether a picture is ready when it is asked for.
        var completesJobs = true
        /// Whether a session by face is decided when it is asked for.
        var decidesSessions = true
        var badge = 0
        /// What was asked by whom: `POST /v1/images/process ada`.
        var log: [String] = []
    }

    static let lifetime = 3_600.0
    let contents = Locked(Contents())

    var jobs: [Job] { contents.withLock(\.jobs) }
    var log: [String] { contents.withLock(\.log) }
    var installations: [String: String] { contents.withLock(\.installations) }

    /// The users of the sign-ins that have not ended.
    var signedIn: [String] { contents.withLock { $0.signIns.filter(\.isAlive).map(\.user) } }

    func count(_ entry: String) -> Int { log.filter { $0.hasPrefix(entry) }.count }

    func completeJobs(_ status: String = "completed") {
        contents.withLock { state in for index in state.jobs.indices { state.jobs[index].status = status } }
    }

    /// The API ends all sign-ins of a user, as another phone of theirs may ask for.
    func endSignIns(of user: String) { contents.withLock { Self.endSignIns(of: user, &$0) } }

    /// A sign-in that a session by face would give.
    func signIn(_ user: String, at now: Date) -> AccountTokens {
        contents.withLock { state in
            state.signIns.append(Self.newSignIn(user, state.signIns.count, now))
            return Self.tokens(state.signIns[state.signIns.count - 1])
        }
    }

    func answer(_ request: TransportRequest, _ body: Data, at now: Date) -> TransportResponse {
        contents.withLock { state in
            let call = Call(request, body, now, &state)
            state.log.append("\(request.method) \(request.url.path) \(call.user ?? "-")")
            return Self.answer(call, &state)
        }
    }

    // MARK: Sign-ins

    static func newSignIn(_ user: String, _ number: Int, _ now: Date) -> SignIn {
        SignIn(user: user, access: "access-\(number)-0", refresh: "refresh-\(number)-0", renewedAt: now)
    }

    static func tokens(_ signIn: SignIn) -> AccountTokens {
        AccountTokens(accessToken: signIn.access, refreshToken: signIn.refresh, expiresIn: Int(lifetime), userID: signIn.user)
    }

    static func endSignIns(of user: String, _ state: inout Contents) {
        for index in state.signIns.indices where state.signIns[index].user == user { end(index, &state) }
    }

    /// Ends a sign-in, which takes its push token away unless another user has the installation.
    static func end(_ index: Int, _ state: inout Contents) {
        let signIn = state.signIns[index]
        state.signIns[index].isAlive = false
        if let installation = signIn.installation, state.installations[installation] == signIn.user {
            state.installations[installation] = nil
        }
    }
}
