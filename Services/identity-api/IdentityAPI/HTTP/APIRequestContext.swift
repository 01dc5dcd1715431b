internal import FoundationEssentials
internal import HTTPTypes
public import Hummingbird
internal import NIOCore
internal import WireFormat

/// The context of a request.
public struct APIRequestContext: RequestContext {
    /// The maximum length of a request id from the client; a longer one is replaced.
    static let maxRequestIDLength = 128
    /// The methods that spans and metrics name. Clients can invent any number of others, which would make any number of time series.
    static let knownMethods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .patch, .delete, .options]

    /// Hummingbird's part of the context, such as the parameters of the path.
    public var coreContext: CoreRequestContextStorage
    /// The connection the request came in on.
    let channel: any Channel
    /// When the head of the request had arrived.
    let arrivedAt = Date()
    /// The request's id in every response and log line: the client's `X-Request-ID`, or a generated one.
    var requestID: String
    /// See ``Request/bodyLength``.
    var bodyLength: Int?
    /// The W3C trace parent for the events that the request causes.
    var traceparent: String?
    /// The client's address; see ``ClientAddresses``.
    var client = IPAddress.none
    /// The limits that the request has counted against.
    let limits = RateLimitRecord()

    /// Creates the context of a request that has arrived; middlewares set its id, trace parent, client and body length.
    public init(source: Source) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
        requestID = ""
    }

    /// Returns the client's id if it is safe in a header and a log line, and a new one otherwise.
    static func requestID(from header: String?) -> String {
        guard let header, 1...maxRequestIDLength ~= header.utf8.count,
            header.utf8.allSatisfy({ byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default:
                    false
                }
            })
        else { return UUID().wireString }
        return header
    }
}
