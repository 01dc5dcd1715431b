internal import Foundation

extension BackgroundUploadReducer.Outcome {
    /// The meaning of a task's end for its order.
    ///
    /// Only an answer of the API itself ends an order: an answer without its envelope may come from a proxy or a captive portal.
    init(_ end: Result<TransportResponse, TransportError>, requestID: String, now: Date) {
        switch end {
        case .failure(let error):
            let refusal = BackgroundUploadReducer.Refusal(HeliographError(error, requestID: requestID))
            switch error.code {
            case .file: self = .refused(refusal)
            case .tooLong: self = .again(after: nil, refusal, isCounted: true)
            case .notConnected, .connectionLost, .timedOut, .cancelled, .untrusted, .other:
                self = .again(after: nil, refusal, isCounted: false)
            }
        case .success(let response):
            self.init(response, requestID: requestID, now: now)
        }
    }

    private init(_ response: TransportResponse, requestID: String, now: Date) {
        if 200...299 ~= response.status {
            do throws(HeliographError) {
                self = .accepted(jobID: try JobsRequests.ordered(response, requestID: requestID))
            } catch {
                self = .again(after: nil, .init(error), isCounted: true)
            }
            return
        }
        let error = HeliographError(response, requestID: requestID, now: now)
        let seconds = error.retryAfter.map { Int(min(($0 / .seconds(1)).rounded(.up), 86_400)) }
        let isOfAPI = ErrorAnswer(response) != nil
        switch response.status {
        case 401 where isOfAPI: self = .unauthorized(.init(error))
        case 409 where error.code == .requestInProgress: self = .again(after: seconds, .init(error), isCounted: true)
        case 413: self = .refused(.init(error))
        case 400..<500 where isOfAPI && !error.isRetryable && ![408, 425, 429].contains(response.status): self = .refused(.init(error))
        default: self = .again(after: seconds, .init(error), isCounted: true)
        }
    }
}
