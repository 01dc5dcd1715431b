internal import Foundation

/// A request of the API, with the type of its answer. `nil` fields of JSON bodies are left out.
struct APIRequest<Answer: Sendable>: Sendable {
    /// The credential that a request carries.
    enum Bearer: Sendable, Equatable {
        case none
        /// The access token of the signed-in person, or the app's Firebase ID token.
        case account
        /// The account's credential if a person is signed in, otherwise no credential.
        case accountIfSignedIn
        /// A token of one session, enrolment, erasure or recovery.
        case token(String)
    }

    /// The body of a request.
    enum Body: Sendable, Equatable {
        case none
        case json(Data)
        /// A file that contains a multipart body, with its boundary.
        case multipart(file: URL, boundary: String)
    }

    var method: String
    /// Percent-encoded, from the root of the API.
    var path: String
    var query: [URLQueryItem] = []
    var bearer: Bearer = .account
    var body: Body = .none
    var headers: TransportHeaders = [:]
    /// The key under which the API answers a repetition like the first request. It is stored with the pending task, so that a repetition
    /// after a restart of the app has the same key.
    var idempotencyKey: UUID?
    /// Whether the request carries a proof of the device's key (docs/api/device-keys.md).
    var proof = DPoPProof.Use.none
    var timeout: Duration = .seconds(30)
    var maxAnswerBytes = 4 << 20
    /// Reads an answer with a status from 200 to 299, or 304.
    var decode: @Sendable (TransportResponse) throws -> Answer

    /// Whether a repetition after an unknown outcome does no more than the first request.
    var isRepeatable: Bool { idempotencyKey != nil || ["GET", "HEAD", "PUT", "DELETE"].contains(method) }
}
