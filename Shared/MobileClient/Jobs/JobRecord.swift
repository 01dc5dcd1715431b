internal import Foundation

/// The payload of a pending task that is an order of a picture.
struct JobRecord: Codable, Hashable, Sendable {
    var saved = JobReducer.Saved()
    let template: String
    /// The boundary of the form in the task's file.
    let boundary: String
    /// The account that ordered; nil where it is not known.
    var owner: String?

    /// Writes the reducer's saved state into a task. A file that the order does not need any more is left out of it.
    static func save(_ saved: JobReducer.Saved, in task: inout PendingTask, at now: Date) throws(HeliographError) {
        var record: JobRecord = try task.decode()
        record.saved = saved
        try task.encode(record)
        task.remoteID = saved.jobID
        if saved.phase != .ordering { task.files = [] }
        task.finishedAt = saved.hasEnded ? task.finishedAt ?? now : nil
    }
}
