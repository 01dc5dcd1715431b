internal import Foundation

/// The outcome of an order, from its cause to its one report.
extension BackgroundUploadReducer {
    /// Gives an order its outcome, unless it has one. The task goes first: it must not work on without a record.
    static func end(_ state: inout State, _ id: UUID, _ ending: Ending) -> [Effect] {
        guard let upload = state.uploads[id] else { return [] }
        switch upload.phase {
        case .saving, .ended: return []
        case .live(let task):
            state.uploads[id]?.phase = .saving(ending)
            return [.cancelTask(task), .save(id, ending)]
        case .waiting, .parked, .creating:
            state.uploads[id]?.phase = .saving(ending)
            return [.save(id, ending)]
        }
    }

    /// Removes the file of an order whose outcome is stored, and reports the outcome.
    static func finish(_ state: inout State, _ id: UUID, _ ending: Ending) -> [Effect] {
        guard let upload = state.uploads[id], case .saving = upload.phase else { return [] }
        state.uploads[id]?.phase = .ended(ending)
        return [.removeFile(id), .report(id, ending)]
    }

    static func acknowledge(_ state: inout State, _ id: UUID) -> [Effect] {
        guard let upload = state.uploads[id], case .ended = upload.phase else { return [] }
        state.uploads[id] = nil
        return [.forget(id)]
    }

    static func saveAgain(_ state: State, _ id: UUID) -> [Effect] {
        guard let upload = state.uploads[id], case .saving(let ending) = upload.phase else { return [] }
        return [.save(id, ending)]
    }

    /// Ends the orders that are too old: the server forgets their keys and pictures at that age. An order with a time in the future counts
    /// as too old: the clock was wrong then or is wrong now, and otherwise the order would never end.
    static func expire(_ state: inout State, _ now: Date) -> [Effect] {
        let old = state.uploads.filter { abs(now.timeIntervalSince($0.value.createdAt)) >= Limits.age }
        return old.keys.sorted().flatMap { end(&state, $0, .refused(.expired)) }
    }

    static func unpark(_ state: inout State) -> [Effect] {
        for (id, upload) in state.uploads where upload.phase == .parked { state.uploads[id]?.phase = .waiting }
        return []
    }
}

extension BackgroundUploadReducer {
    /// Why an order was refused, as the record keeps it.
    struct Refusal: Hashable, Codable, Sendable {
        var code: String
        var message: String
        var status: Int?
        var field: String?
        var requestID: String?

        static let cancelled = Self(.cancelled, "The order was cancelled before it was answered")
        static let expired = Self(.timedOut, "The order could not be uploaded within 24 hours")
        static let signedOut = Self(.signedOut, "The account that ordered is signed out")

        init(_ code: HeliographError.Code, _ message: String) {
            self.code = code.rawValue
            self.message = message
        }

        init(_ error: HeliographError) {
            code = error.code.rawValue
            message = error.message
            status = error.status
            field = error.field
            requestID = error.requestID
        }

        var error: HeliographError {
            HeliographError(HeliographError.Code(rawValue: code), message, status: status, field: field, requestID: requestID)
        }
    }
}
