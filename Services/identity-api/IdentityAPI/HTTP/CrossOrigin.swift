internal import BlobStore
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import ServiceDefaults

/// The web apps whose pages may read responses (CORS, `CORS_ALLOWED_ORIGINS`); empty by default.
///
/// Callers send a bearer, which a browser never adds by itself, so credentials (cookies) are not allowed.
struct AllowedOrigins: Sendable {
    private static let methods = "GET, HEAD, POST, PUT, DELETE"
    private static let requestFields = """
        Authorization, Content-Type, Accept, X-Request-ID, Idempotency-Key, Prefer, Range, If-Range, If-None-Match, Last-Event-ID, \
        X-Client-Trigger, X-Firebase-Installation-ID, X-Session-Token, DPoP, traceparent
        """
    private static let exposedFields = """
        X-Session-Token, X-Request-ID, Idempotent-Replayed, Retry-After, ETag, Location, Content-Range, Preference-Applied, \
        RateLimit, RateLimit-Policy, DPoP-Nonce
        """
    /// Seconds for which a browser may remember the answer to a preflight.
    private static let preflightLifetime = 600

    private let origins: Set<String>

    init(_ origins: Set<String> = []) {
        self.origins = origins
    }

    /// Reads `CORS_ALLOWED_ORIGINS`: origins, separated by commas or spaces.
    init(_ settings: Settings) throws(ConfigurationError) {
        let expectation = "origins such as https://app.example.org or capacitor://localhost, separated by commas"
        let name = "CORS_ALLOWED_ORIGINS"
        var origins: Set<String> = []
        if let text = try settings.optionalString(name, expectation, about: "whose pages may call the API from a browser") {
            for (index, part) in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }).enumerated() {
                guard let origin = Self.origin(part) else {
                    // With a user name there may be a password.
                    let shown = part.contains("@") ? "" : ", \(part),"
                    throw ConfigurationError(name, "is not valid: part \(index + 1)\(shown) is no origin", expectation: expectation)
                }
                origins.insert(origin)
            }
        }
        self.init(origins)
    }

    /// Returns an origin as browsers send it: scheme, host and port in lower case, without the usual port and a slash behind it, an
    /// international host in A-labels. Nil for a text that is not an origin.
    ///
    /// Apps that are made of web pages have schemes of their own, such as `capacitor`, `ionic` and `tauri`.
    private static func origin(_ text: Substring) -> String? {
        guard let colon = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<colon.lowerBound].lowercased()
        var authority = text[colon.upperBound...]
        if authority.last == "/" { authority.removeLast() }
        guard var address = HostAddress(authority) else { return nil }
        if address.port == ["http": 80, "https": 443][scheme] { address.port = nil }
        let origin = "\(scheme)://\(address.text)"
        let isLocal = scheme == "http" && address.host.hasSuffix(".localhost")
        if ["http", "https"].contains(scheme), !isLocal { return PublicURL(origin) != nil && !address.host.contains("/") ? origin : nil }
        let isPlain =
            scheme.first?.isLetter == true && scheme.utf8.allSatisfy { isNameByte($0) || $0 == UInt8(ascii: "+") }
            && address.host.utf8.allSatisfy { isNameByte($0) || $0 == UInt8(ascii: "_") }
        return isPlain ? origin : nil
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
