internal import Foundation

/// Something that outlives the process: an order, a session or an upload that has begun and has not been seen to end.
///
/// A task has no credential in it, because its file may be read whenever the device has been unlocked once; it names the keys of a
/// ``PendingSecrets`` instead.
struct PendingTask: Codable, Hashable, Sendable, Identifiable {
    /// The part of the module that a task belongs to. An unknown kind keeps its text, so that an older version of the app removes it
    /// by its age and not as corrupt.
    struct Kind: RawRepresentable, Codable, Hashable, Sendable {
        let rawValue: String

        static let imageJob = Self(rawValue: "image_job")
        static let ekycSession = Self(rawValue: "ekyc_session")
        static let eventPhoto = Self(rawValue: "event_photo")
    }

    /// Also the idempotency key of the request that begins it, so that a repetition after a crash has the same key.
    let id: UUID
    let kind: Kind
    let createdAt: Date
    /// The state of the task, in the coding of its kind.
    var payload: Data
    /// Files that belong to the task, relative to the store's folder: the folder of an app moves when the app is updated.
    var files: [String]
    /// The id that the API gave to the job or session; nil until its answer is there.
    var remoteID: String?
    /// Keys of ``PendingSecrets`` whose values belong to the task.
    var secrets: [String]
    /// When the task ended; nil while it has not. An ended task is kept until the app has seen its end.
    var finishedAt: Date?

    var isFinished: Bool { finishedAt != nil }

    init(
        id: UUID = UUID(), kind: Kind, createdAt: Date, payload: Data = Data(), files: [String] = [], remoteID: String? = nil,
        secrets: [String] = [], finishedAt: Date? = nil
    ) {
        self.id = id
        self.kind = kind
        self.createdAt = createdAt
        self.payload = payload
        self.files = files
        self.remoteID = remoteID
        self.secrets = secrets
        self.finishedAt = finishedAt
    }

    /// A task whose payload is the JSON of a value.
    init<Payload: Encodable>(
        id: UUID = UUID(), kind: Kind, createdAt: Date, encoding payload: Payload, files: [String] = []
    ) throws(HeliographError) {
        self.init(id: id, kind: kind, createdAt: createdAt, files: files)
        try encode(payload)
    }

    /// The payload as a value; throws `storage` when it cannot be decoded.
    func decode<Payload: Decodable>(_ type: Payload.Type = Payload.self) throws(HeliographError) -> Payload {
        do { return try JSONDecoder().decode(type, from: payload) } catch {
            throw HeliographError(.storage, "the payload of a pending task is not one of its kind")
        }
    }

    /// Replaces the payload by the JSON of a value, which is the same text for the same value.
    mutating func encode<Payload: Encodable>(_ value: Payload) throws(HeliographError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        do { payload = try encoder.encode(value) } catch {
            throw HeliographError(.storage, "the payload of a pending task cannot be encoded")
        }
    }

    /// Whether the end of the task, or its beginning while it has not ended, is longer ago than `age`.
    func isOlder(than age: Duration, at now: Date) -> Bool { (finishedAt ?? createdAt).isOlder(than: age, at: now) }
}
