internal import Foundation

/// An order of a picture, as it is uploaded in the background.
struct UploadOrder: Sendable {
    /// The id of the order and its idempotency key.
    var id: UUID
    /// The time of the order; nil for now. An order expires 24 hours later.
    var createdAt: Date?
    /// The multipart body. ``BackgroundUploads`` has its own copy, so this one may be removed afterwards.
    var file: URL
    var boundary: String
    /// The account that orders, by ``UploadBearers/Bearer/owner``; nil where it is not known.
    var owner: String?
}

extension PendingTask.Kind {
    /// An order that is uploaded in the background.
    static let imageUpload = Self(rawValue: "image_upload")
}

/// The stored part of an ``UploadOrder``: the payload of its pending task. It has no credential.
struct UploadRecord: Codable, Hashable, Sendable {
    var boundary: String
    var owner: String?
    var attempts = 0
    var ending: BackgroundUploadReducer.Ending?
    /// Who follows the job has written down the outcome.
    var isAcknowledged = false
    /// A notification of the job's completion was shown, or was about to be when the process ended.
    var isNotified = false

    init(_ order: UploadOrder) {
        boundary = order.boundary
        owner = order.owner
    }

    /// The order's state in the reducer when a process begins; nil when no step is left.
    func upload(of task: PendingTask) -> BackgroundUploadReducer.Upload? {
        if let ending {
            return isAcknowledged ? nil : .init(phase: .ended(ending), createdAt: task.createdAt, owner: owner, attempts: attempts)
        }
        return .init(createdAt: task.createdAt, owner: owner, attempts: attempts)
    }
}

/// The orders in a ``PendingTaskStore`` of their own, because the id of a task is the id of an order.
struct UploadRecords: Sendable {
    let store: PendingTaskStore

    /// All orders that something is left to do for, by id.
    func open() async throws(HeliographError) -> [UUID: (task: PendingTask, record: UploadRecord)] {
        var open: [UUID: (task: PendingTask, record: UploadRecord)] = [:]
        for task in try await store.tasks() where task.kind == .imageUpload {
            guard let record: UploadRecord = try? task.decode() else {
                // Of a version that wrote something else: it could never be uploaded, and would be kept for 24 hours.
                try await store.update(task.id) { $0 = nil }
                continue
            }
            if record.upload(of: task) != nil { open[task.id] = (task, record) }
        }
        return open
    }

    /// Stores a new order with its file; returns the existing order if it is stored already.
    func add(_ order: UploadOrder) async throws(HeliographError) -> (task: PendingTask, record: UploadRecord) {
        if let known = try await find(order.id) { return known }
        let file = try await adopt(order.file)
        let path = store.path(of: file)
        let createdAt = order.createdAt ?? store.time.now()
        do throws(HeliographError) {
            let task = try await store.update(order.id) { (task) throws(HeliographError) in
                if let task { return task }
                let new = try PendingTask(
                    id: order.id, kind: .imageUpload, createdAt: createdAt, encoding: UploadRecord(order), files: [path])
                task = new
                return new
            }
            if !task.files.contains(path) { try? FileManager.default.removeItem(at: file) }
            return (task, try task.decode())
        } catch {
            // The record may have been written, and then it names the file. If that cannot be seen, the sweep removes the file.
            if let found = try? await store.tasks(), !found.contains(where: { $0.files.contains(path) }) {
                try? FileManager.default.removeItem(at: file)
            }
            throw error
        }
    }

    func find(_ id: UUID) async throws(HeliographError) -> (task: PendingTask, record: UploadRecord)? {
        guard let task = try await store.task(id), task.kind == .imageUpload else { return nil }
        return (task, try task.decode())
    }

    /// Changes the record of an order, if it exists; returns the change's result.
    func update<Result: Sendable>(
        _ id: UUID, _ change: @Sendable (inout PendingTask, inout UploadRecord) -> Result
    ) async throws(HeliographError) -> Result? {
        try await store.update(id) { (task) throws(HeliographError) in
            guard var known = task, known.kind == .imageUpload else { return nil }
            var record: UploadRecord = try known.decode()
            let result = change(&known, &record)
            try known.encode(record)
            task = known
            return result
        }
    }

    /// Gives a file a second name in the store's folder; copies it where that is on another disk.
    private func adopt(_ file: URL) async throws(HeliographError) -> URL {
        let own = try await store.newFile(extension: "upload")
        try HeliographError.storing("the file of an upload cannot be kept") {
            do { try FileManager.default.linkItem(at: file, to: own) } catch {
                try? FileManager.default.removeItem(at: own)
                try FileManager.default.copyItem(at: file, to: own)
            }
            // The system uploads even while the device is locked.
            try PrivateFile.allowWhileLocked(own)
        }
        return own
    }
}
