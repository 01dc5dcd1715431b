internal import FoundationEssentials
internal import HTTPTypes
public import Hummingbird
internal import NIOCore

/// What a request carries along beside itself.
public struct APIRequestContext: RequestContext {
    /// The most characters of a request id that is taken from the client.
    static let maxRequestIDLength = 128
    /// The methods that spans and metrics name; there is no end of others.
    static let knownMethods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .patch, .delete, .options]

    public var coreContext: CoreRequestContextStorage
    /// The connection the request came in on.
    let channel: any Channel
    /// What the request is called in every answer and log line: the client's `X-Request-ID`, or one made here.
    var requestID: String
    /// The W3C trace parent that goes on with the events the request causes.
    var traceparent: String?
    /// Who sends it, as far as addresses tell.
    var client = IPAddress.none

    public init(source: Source) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
        requestID = ""
    }

    /// Takes the client's id if it can stand in a header and a log line as it is, and makes one otherwise.
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
        else { return UUID().uuidString.lowercased() }
        return header
    }
}
