public import Foundation

extension AccountClient {
    /// An erasure that has begun. The app shows or keeps it: the person has no other way to the receipt.
    ///
    /// Its token gives access to the receipt, so it is kept like a password, and is not in the description.
    public struct Erasure: Sendable, Equatable, Identifiable, Codable, CustomStringConvertible {
        /// The id of the erasure, under which the API has its receipt.
        public let id: UUID
        /// The bearer of the receipt.
        public let receiptToken: String
        /// The path of the API at which the receipt is.
        public let receiptPath: String

        enum CodingKeys: String, CodingKey {
            case id = "erasure_id"
            case receiptToken = "receipt_token"
            case receiptPath = "receipt_url"
        }

        /// The id of the erasure, without the token.
        public var description: String { "erasure \(id.wireText)" }
    }

    /// Erases the account and all its data, which cannot be undone. Needs a sign-in of the last five minutes.
    ///
    /// The account is closed when this returns: all its devices are signed out, this one included, and this client has no data of the
    /// account any more. The app has to keep the returned value: no later call returns it.
    /// - Throws: `request_in_progress` while an erasure of the face is under way. After an error that left the outcome unknown, a later
    ///   call that throws `unauthorized` or `signed_out` shows that the account is closed.
    public func erase() async throws(HeliographError) -> Erasure {
        try await endThisSignIn { () async throws(HeliographError) in try await api.send(AccountRequests.eraseAccount()) }
    }

    /// Erases the face, its photos and their hashes; the account stays. Needs a sign-in of the last five minutes.
    ///
    /// - Throws: `request_in_progress` while an erasure is under way.
    public func eraseFace() async throws(HeliographError) -> Erasure { try await api.send(AccountRequests.eraseFace()) }

    /// Fetches how far an erasure is. Needs no sign-in.
    public func progress(of erasure: Erasure) async throws(HeliographError) -> Erasure.Progress {
        try await api.send(AccountRequests.erasure(erasure.id, token: erasure.receiptToken))
    }

    /// Waits for the receipt of an erasure, which takes half a minute at least and some minutes at most. Needs no sign-in.
    ///
    /// Asks every 5 s at first and every 30 s at last, and also after an error that may pass.
    /// - Returns: The signed receipt: the bytes of a JSON Web Signature, unchanged, so that any party can verify it.
    /// - Throws: `timed_out` when there is no receipt by then; the erasure continues, and the app may wait again.
    public func receipt(
        of erasure: Erasure, timeout: Duration = .seconds(600),
        onProgress: @Sendable (Erasure.Progress) async -> Void = { _ in }
    ) async throws(HeliographError) -> Data {
        let end = time.now().addingTimeInterval(timeout / .seconds(1))
        var pause = Duration.seconds(5)
        while true {
            var wait = pause
            do throws(HeliographError) {
                let progress = try await progress(of: erasure)
                await onProgress(progress)
                if let receipt = progress.receipt { return receipt }
            } catch  where error.isRetryable {
                wait = max(pause, error.retryAfter ?? .zero)
            }
            guard time.now().addingTimeInterval(wait / .seconds(1)) <= end else {
                throw HeliographError(.timedOut, "The erasure has no receipt yet", isRetryable: true)
            }
            do { try await time.sleep(wait) } catch { throw HeliographError(.cancelled, "The wait for a receipt was cancelled") }
            pause = min(pause * 2, .seconds(30))
        }
    }

    /// Writes all stored data of the account to a file, a ZIP archive. Needs a sign-in of the last five minutes.
    ///
    /// - Parameters:
    ///   - file: It must not exist, and does not exist after an error.
    ///   - maxBytes: The maximum size of the archive; a longer one is an error.
    /// - Throws: `request_in_progress` while another export is under way, `rate_limited` after five a day, `storage` when the file cannot
    ///   be written, `unexpected_answer` for an archive that is not complete.
    public func export(to file: URL, maxBytes: Int = 4 << 30) async throws(HeliographError) {
        guard !FileManager.default.fileExists(atPath: file.path) else {
            throw ArgumentLimits.refusal("file", "There is a file at this place already")
        }
        try await api.download(AccountRequests.export(), to: file, maxBytes: maxBytes)
        guard ExportFile.isComplete(file) else {
            try? FileManager.default.removeItem(at: file)
            throw HeliographError(.unexpectedAnswer, "The archive is not complete", isRetryable: true)
        }
    }
}

extension AccountClient.Erasure {
    /// How far an erasure is.
    public struct Progress: Sendable, Equatable, Decodable {
        /// Whether an erasure has ended.
        public struct State: RawRepresentable, Hashable, Sendable, Codable {
            /// The state as the API spells it, such as `completed`.
            public let rawValue: String

            /// Creates a state from the text of the API; any text is accepted.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// Services erase, or the final check has not been made yet.
            public static let erasing = Self(rawValue: "erasing")
            /// All data is erased, and there is a receipt.
            public static let completed = Self(rawValue: "completed")
        }

        /// The scope of an erasure.
        public struct Scope: RawRepresentable, Hashable, Sendable, Codable {
            /// The scope as the API spells it, such as `account`.
            public let rawValue: String

            /// Creates a scope from the text of the API; any text is accepted.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The account and all its data.
            public static let account = Self(rawValue: "account")
            /// The face, its photos and their hashes; the account stays.
            public static let face = Self(rawValue: "face")
        }

        /// The numbers of data that one service has erased so far, by table, folder or stream.
        public struct Service: Sendable, Equatable, Decodable {
            /// The name of the service, such as `image-worker`.
            public let service: String
            /// Whether the service has completed its part.
            public let finished: Bool
            /// The numbers of deleted rows and objects, by table, folder or stream.
            public let erased: [String: Int]
        }

        /// The erasure whose progress this is; ``AccountClient/Erasure/id``.
        public let id: UUID
        /// Whether the account or the face is erased.
        public let scope: Scope
        /// Whether the erasure is under way or completed.
        public let state: State
        /// When the erasure was requested.
        public let requestedAt: Date
        /// When the erasure was completed; nil while it is under way.
        public let completedAt: Date?
        /// What each service has reported so far.
        public let services: [Service]
        /// The signed receipt, once the erasure is completed: the bytes of a JSON Web Signature in compact form.
        public let receipt: Data?

        enum CodingKeys: String, CodingKey {
            case id = "erasure_id"
            case scope, state, services, receipt
            case requestedAt = "requested_at"
            case completedAt = "completed_at"
        }

        /// Reads the API's answer; the receipt is kept as the bytes of its text.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(UUID.self, forKey: .id)
            scope = try container.decode(Scope.self, forKey: .scope)
            state = try container.decode(State.self, forKey: .state)
            requestedAt = try container.decode(Date.self, forKey: .requestedAt)
            completedAt = try container.decodeIfPresent(Date.self, forKey: .completedAt)
            services = try container.decode([Service].self, forKey: .services)
            receipt = try container.decodeIfPresent(String.self, forKey: .receipt).map { Data($0.utf8) }
        }
    }
}
