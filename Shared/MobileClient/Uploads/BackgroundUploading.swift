internal import Foundation

/// A session that uploads files whether the app runs or not: ``BackgroundUploadSession`` on iOS, ``ForegroundUploads`` elsewhere.
///
/// It makes no decisions: it performs the reducer's effects, and reports events.
protocol BackgroundUploading: Sendable {
    /// The name under which the system knows the session, in later processes too.
    var identifier: String { get }

    /// Creates the session in this process, and reports the events of its tasks, including those from before this process. Called once.
    func events() -> AsyncStream<UploadEvent>

    /// The tasks that the session has now, with their descriptions.
    func tasks() async -> [(task: Int, description: String?)]

    /// Makes and begins a task that uploads a file.
    func create(_ task: UploadTask) async -> Int

    /// Ends a task, if it has not ended.
    func cancel(_ task: Int) async
}

/// A file for a ``BackgroundUploading`` to upload.
struct UploadTask: Sendable {
    /// The request, with the file as its body.
    var request: TransportRequest
    var file: URL
    /// Stays with the task, in later processes too.
    var description: String
    /// The time before which it is not to begin.
    var notBefore: Date?
}

/// An event of a ``BackgroundUploading``.
enum UploadEvent: Sendable {
    /// A task has ended. The session does not have it any more.
    case ended(task: Int, description: String?, Result<TransportResponse, TransportError>)
    /// All events are delivered for which the system has woken up the app.
    case finished

    /// The most bytes of an answer that a session keeps; the answer to an order has some hundred.
    static let maxAnswerBytes = 1 << 20
}

/// Where the bearers of uploads come from.
struct UploadBearers: Sendable {
    struct Bearer: Sendable, Equatable {
        var token: String
        var signIn: UUID?
        /// The account; nil where it is not known, as with Firebase.
        var owner: String?
    }

    /// The bearer to use now. Throws `signed_out`, or what keeps it from being renewed.
    var current: @Sendable () async throws(HeliographError) -> Bearer
    /// The bearer in place of a refused one.
    var replacement: @Sendable (Bearer) async throws(HeliographError) -> Bearer
}

extension UploadBearers {
    /// The bearers of the signed-in account.
    init(_ credentials: AccountCredentials) {
        @Sendable func named(_ credential: AccountCredentials.Credential) async throws(HeliographError) -> Bearer {
            guard let signIn = credential.signIn else { return Bearer(token: credential.token) }
            // The person may have signed out meanwhile. A bearer of an account that is not known would order in anybody's name.
            guard let session = try await credentials.session(), session.id == signIn else { throw AccountCredentials.signedOut }
            return Bearer(token: credential.token, signIn: signIn, owner: session.userID)
        }
        current = { () async throws(HeliographError) in
            guard let credential = try await credentials.credential() else { throw AccountCredentials.signedOut }
            return try await named(credential)
        }
        replacement = { (refused) async throws(HeliographError) in
            let replacement = try await credentials.replacement(for: .init(token: refused.token, signIn: refused.signIn))
            // Where the refused one is new already, the order is sent with it once more, and a second refusal is final.
            return if let replacement { try await named(replacement) } else { refused }
        }
    }
}

/// Shows a local notification of a completed job.
protocol JobNotifying: Sendable {
    /// Whether the notification centre shows a notification with this identifier, which a push about a job has too.
    func isShown(_ identifier: String) async -> Bool
    func show(_ notification: JobNotification) async
}

/// A local notification in place of the push of a completed job, with the same texts and data (CONTRACT §4).
struct JobNotification: Sendable, Equatable {
    static let category = "IMAGE_COMPLETE"
    static let title = "Image Ready! 🎨"

    let jobID: String
    let templateName: String?

    /// The `apns-collapse-id` of the job's push, so that one replaces the other.
    var identifier: String { "job:\(jobID)" }
    var body: String { templateName.map { "Your \($0) image has been processed" } ?? "Your image has been processed" }
    var data: [String: String] {
        var data = ["kind": "job_completed", "type": "job_completed", "jobId": jobID]
        data["templateName"] = templateName
        return data
    }
}
