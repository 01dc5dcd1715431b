internal import Accounts
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import WireFormat

/// The path of a request, with the parameters that its handler gets.
struct APITarget<Value: Sendable>: Sendable {
    /// The path, with the names of its parameters in braces.
    let path: String
    let parameters: [APIParameter]
    /// Reads the values of the parameters.
    let read: @Sendable (Request, APIRequestContext) throws(APIError) -> Value

    /// A path with one parameter, or with a group of them.
    init(_ path: String, _ argument: APIArgument<Value>) {
        (self.path, parameters, read) = (path, argument.parameters, argument.read)
    }

    /// A path with two parameters.
    init<First, Second>(_ path: String, _ first: APIArgument<First>, _ second: APIArgument<Second>) where Value == (First, Second) {
        (self.path, parameters) = (path, first.parameters + second.parameters)
        read = { request, context throws(APIError) in (try first.read(request, context), try second.read(request, context)) }
    }

    /// A path with three parameters.
    init<First, Second, Third>(
        _ path: String, _ first: APIArgument<First>, _ second: APIArgument<Second>, _ third: APIArgument<Third>
    ) where Value == (First, Second, Third) {
        (self.path, parameters) = (path, first.parameters + second.parameters + third.parameters)
        read = { request, context throws(APIError) in
            (try first.read(request, context), try second.read(request, context), try third.read(request, context))
        }
    }
}

/// A path without parameters.
extension APITarget: ExpressibleByUnicodeScalarLiteral, ExpressibleByExtendedGraphemeClusterLiteral, ExpressibleByStringLiteral
where Value == Void {
    init(_ path: String) {
        (self.path, parameters) = (path, [])
        read = { _, _ in }
    }

    init(stringLiteral path: String) { self.init(path) }
}

/// A parameter with its description and its reader, or a group of them.
struct APIArgument<Value: Sendable>: Sendable {
    let parameters: [APIParameter]
    let read: @Sendable (Request, APIRequestContext) throws(APIError) -> Value

    init(_ parameters: APIParameter..., read: @escaping @Sendable (Request, APIRequestContext) throws(APIError) -> Value) {
        (self.parameters, self.read) = (parameters, read)
    }

    private init(_ parameters: [APIParameter], read: @escaping @Sendable (Request, APIRequestContext) throws(APIError) -> Value) {
        (self.parameters, self.read) = (parameters, read)
    }

    /// Returns the same parameters, read as another value.
    func map<Other>(_ transform: @escaping @Sendable (Value) -> Other) -> APIArgument<Other> {
        APIArgument<Other>(parameters) { request, context throws(APIError) in transform(try read(request, context)) }
    }
}

extension APIArgument<UUID> {
    /// An id in the path.
    ///
    /// - Parameter refusal: The error for a text that is not a UUID.
    static func id(_ name: String, _ summary: String, or refusal: APIError) -> APIArgument {
        APIArgument(.id(name, summary)) { _, context throws(APIError) in
            guard let id = context.parameters.get(name).flatMap({ UUID(wireString: $0) }) else { throw refusal }
            return id
        }
    }
}

extension APIArgument<String?> {
    /// The key that marks a request as a repetition; nil without one.
    static let idempotencyKey = APIArgument(.idempotencyKey) { request, _ throws(APIError) in try IdempotencyKey.read(request.headers) }

    /// A header field that any text may be in; nil without it.
    static func header(_ name: HTTPField.Name, _ summary: String) -> APIArgument {
        APIArgument(APIParameter(name: name.rawName, place: .header, schema: .text, summary: summary)) { request, _ throws(APIError) in
            request.headers[name]
        }
    }
}

extension APIArgument<Int> {
    /// The query `wait`: seconds to wait for the end.
    static let wait = APIArgument(.wait) { request, _ throws(APIError) in try request.wait() }
}

extension APIArgument<ListPosition> {
    /// The queries `limit` and `cursor` of a list that has the newest first.
    static func page(usual: Int, upTo maximum: Int) -> APIArgument {
        APIArgument(.limit(1...maximum, usual: usual), .cursor) { request, _ throws(APIError) in
            ListPosition(limit: try request.pageLimit(usual: usual, upTo: maximum), cursor: try request.listCursor())
        }
    }
}

/// The part of a list that a request asks for.
struct ListPosition: Sendable {
    /// The most elements of the page.
    let limit: Int
    let cursor: ListCursor
}
