internal import NIOHTTP1

extension HTTPParserError? {
    /// The status and the message of the answer to bytes that are no request.
    var answer: (status: HTTPResponseStatus, message: String) {
        switch self {
        case .headerOverflow?: (.requestHeaderFieldsTooLarge, "The request's path or headers are too long, or too many")
        case .invalidMethod?: (.notImplemented, "The request's method is unknown; methods are in capitals")
        default: (.badRequest, "The request cannot be read")
        }
    }
}
