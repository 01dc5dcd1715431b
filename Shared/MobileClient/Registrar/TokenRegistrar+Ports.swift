internal import Foundation

extension TokenRegistrar {
    /// The push service's platform of an installation.
    public enum Platform: String, Sendable, CaseIterable {
        case ios, android, web
    }

    /// The credentials of sign-ins. A sign-in has an id, which is made when its first credential is stored, stays the same when the
    /// credential is refreshed, and is never used again.
    protocol SignIns: Sendable {
        /// The id of the sign-in whose credential is in use; nil without a credential.
        ///
        /// - Throws: `storage` when the credential cannot be read now, so that the sign-in is unknown.
        func current() async throws(HeliographError) -> String?

        /// The ids of sign-ins whose credentials are kept for a logout. The current sign-in is among them if its credential was stored for
        /// the logout, but could not be taken out of use.
        func retired() async -> [String]

        /// Takes the current credential out of use, and stores it for ``logOut(_:installation:)``; if the disk has space, a later process
        /// has it, too. If the process ends within this call, the credential stays in use.
        ///
        /// - Returns: The sign-in that is out of use now; nil without a sign-in.
        /// - Throws: `storage` when the credential cannot be read or removed; then it is still in use.
        func retire() async throws(HeliographError) -> String?

        /// Sends `POST /api/v1/auth/logout` with the credential of a sign-in, which a refresh may renew for that.
        ///
        /// - Parameter installation: The push token, for the header ``DeviceRequests/installationHeader`` of a Firebase account.
        /// - Throws: `signed_out` where no credential is kept; `storage` where that cannot be read now; else as any request.
        func logOut(_ id: String, installation: String?) async throws(HeliographError)

        /// Deletes the credential that is kept for a sign-in's logout.
        func discard(_ id: String) async
    }

    /// The services that a registrar uses.
    struct Ports: Sendable {
        var sender: any APISender
        var signIns: any SignIns
        var file: RegistrationFile
        var time: TimeSource = .system
        /// A number from 0 up to 1, for the jitter of waits.
        var random: @Sendable () -> Double = { Double.random(in: 0..<1) }
        /// The version of the app, of up to 64 printable ASCII characters.
        var appVersion: @Sendable () -> String? = { nil }
        /// The person's language as a BCP 47 tag.
        var locale: @Sendable () -> String? = { nil }
        /// Called whenever the installation has become the account's.
        var onRegistered: @Sendable () async -> Void = {}
    }
}

extension TokenRegistrarReducer.Answer {
    /// The longest time that the API may make the registrar wait.
    private static let longestWait = Duration.seconds(86_400)
    private static let shortestThrottle = Duration.seconds(30)

    /// Reads the outcome of a request that has failed.
    init(_ error: HeliographError) {
        let isTransient =
            error.isRetryable || (error.status ?? 0) >= 500 || error.status == 429
            || [.unreachable, .timedOut, .cancelled, .unexpectedAnswer, .storage, .requestInProgress].contains(error.code)
        guard isTransient else {
            self = .refused
            return
        }
        let told = error.retryAfter ?? (error.status == 429 ? Self.shortestThrottle : nil)
        self = .failed(after: told.map { min(max($0, .seconds(1)), Self.longestWait) })
    }

    /// Reads the outcome of a logout. The credential is discarded only when the API says that the sign-in has ended, or when there is no
    /// credential.
    init(ofLogOut error: HeliographError) {
        let answer = Self(error)
        if error.status == 401 || error.code == .signedOut {
            self = .removed
        } else if answer == .refused {
            self = .failed(after: TokenRegistrarReducer.refusalTime)
        } else {
            self = answer
        }
    }
}
