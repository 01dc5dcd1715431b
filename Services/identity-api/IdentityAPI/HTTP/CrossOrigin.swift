internal import BlobStore
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import ServiceDefaults

/// The web apps that may read answers from pages of their own origins (CORS, `CORS_ALLOWED_ORIGINS`); none unless set.
///
/// Callers send a bearer, which a browser never adds by itself, so credentials (cookies) are not allowed.
struct AllowedOrigins: Sendable {
    private static let methods = "GET, HEAD, POST, PUT, DELETE"
    private static let requestFields = """
        Authorization, Content-Type, Accept, X-Request-ID, Idempotency-Key, Prefer, Range, If-Range, If-None-Match, Last-Event-ID, \
        X-Client-Trigger, X-Firebase-Installation-ID, traceparent
        """
    private static let exposedFields = """
        X-Session-Token, X-Request-ID, Idempotent-Replayed, Retry-After, ETag, Location, Content-Range, Preference-Applied, \
        RateLimit, RateLimit-Policy
        """
    /// Seconds for which a browser may remember the answer to a preflight.
    private static let preflightLifetime = 600

    private let origins: Set<String>

    init(_ origins: Set<String> = []) {
        self.origins = origins
    }

    /// Reads `CORS_ALLOWED_ORIGINS`: origins as browsers send them, separated by commas.
    init(_ settings: Settings) throws(ConfigurationError) {
        let expectation = "origins such as https://app.example.org or capacitor://localhost, separated by commas"
        let name = "CORS_ALLOWED_ORIGINS"
        var origins: Set<String> = []
        if let text = try settings.optionalString(name, expectation, about: "whose pages may call the API from a browser") {
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                let origin = String(part.drop { $0 == " " }.prefix { $0 != " " })
                guard Self.isOrigin(origin) else { throw ConfigurationError(name, "is not valid", expectation: expectation) }
                origins.insert(origin)
            }
        }
        self.init(origins)
    }

    /// Whether a text is an origin as browsers send it: a URL of scheme, host and port. Apps that are made of web pages have schemes of
    /// their own, such as `capacitor`, `ionic` and `tauri`.
    private static func isOrigin(_ text: String) -> Bool {
        guard let colon = text.firstRange(of: "://"), text == text.lowercased() else { return false }
        let (scheme, authority) = (text[..<colon.lowerBound], text[colon.upperBound...])
        let isLocal = scheme == "http" && authority.prefix { $0 != ":" }.hasSuffix(".localhost")
        if ["http", "https"].contains(scheme), !isLocal { return !authority.contains("/") && PublicURL(text)?.text == text }
        return scheme.first?.isLetter == true && !authority.isEmpty
            && scheme.utf8.allSatisfy { isNameByte($0) || $0 == UInt8(ascii: "+") }
            && authority.utf8.allSatisfy { isNameByte($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "_") }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
    }

    var isEmpty: Bool { origins.isEmpty }

    /// The origin of a request, if it is allowed.
    func origin(of request: Request) -> String? {
        request.headers[.origin].flatMap { origins.contains($0) ? $0 : nil }
    }

    /// Allows the page that sent a request to read its response.
    func mark(_ response: inout Response, for request: Request) {
        guard !isEmpty else { return }
        // Caches must not serve one origin's response to another.
        let vary = response.headers[.vary].map { "\($0), Origin" }
        response.headers[.vary] = vary ?? "Origin"
        guard let origin = origin(of: request) else { return }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlExposeHeaders] = Self.exposedFields
    }

    /// The response to a preflight of an allowed origin; nil for any other request.
    func preflight(_ request: Request) -> Response? {
        guard request.method == .options, origin(of: request) != nil, request.headers[.accessControlRequestMethod] != nil else {
            return nil
        }
        return Response(
            status: .noContent,
            headers: [
                .accessControlAllowMethods: Self.methods, .accessControlAllowHeaders: Self.requestFields,
                .accessControlMaxAge: "\(Self.preflightLifetime)",
            ])
    }
}

/// Adds the CORS headers to every response, including errors.
struct CrossOriginMiddleware: RouterMiddleware {
    typealias Context = APIRequestContext

    let origins: AllowedOrigins

    func handle(
        _ request: Request, context: APIRequestContext,
        next: @concurrent (Request, APIRequestContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        origins.mark(&response, for: request)
        return response
    }
}

/// Answers preflights, which count in the rate limit of their address like other requests.
struct PreflightMiddleware: RouterMiddleware {
    typealias Context = APIRequestContext

    let origins: AllowedOrigins

    func handle(
        _ request: Request, context: APIRequestContext,
        next: @concurrent (Request, APIRequestContext) async throws -> Response
    ) async throws -> Response {
        if let response = origins.preflight(request) { return response }
        return try await next(request, context)
    }
}
