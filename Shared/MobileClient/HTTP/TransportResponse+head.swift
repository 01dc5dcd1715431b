internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension TransportResponse {
    /// The head of an answer.
    init(_ response: HTTPURLResponse) {
        var headers: TransportHeaders = [:]
        for (name, value) in response.allHeaderFields {
            if let name = name as? String { headers[name] = "\(value)" }
        }
        self.init(status: response.statusCode, headers: headers)
    }

    /// The length of the body as it arrives here; nil when the answer does not declare it, or declares the length of a compressed body.
    var declaredLength: Int64? {
        guard headers["content-encoding"] == nil, ![204, 304].contains(status) else { return nil }
        return headers["content-length"].flatMap { Int64($0) }
    }
}
