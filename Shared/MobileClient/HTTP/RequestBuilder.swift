internal import Foundation

/// Makes the HTTP request of an ``APIRequest``.
struct RequestBuilder: Sendable {
    let configuration: ClientConfiguration

    /// - Throws: `invalid_argument` for a path that does not begin with one slash, or headers with control characters.
    func build<Answer>(
        _ request: APIRequest<Answer>, bearer: String?, requestID: String
    ) throws(HeliographError) -> TransportRequest {
        let url = try url(request.path, request.query)
        var headers: TransportHeaders = [
            "Accept": "application/json", "Accept-Language": configuration.locale, "User-Agent": configuration.userAgent,
        ]
        for (name, value) in request.headers.values { headers[name] = value }
        headers["X-Request-ID"] = requestID
        headers["Authorization"] = bearer.map { "Bearer \($0)" }
        let body: TransportRequest.Body
        switch request.body {
        case .none: body = .none
        case .json(let data):
            headers["Content-Type"] = "application/json"
            body = .data(data)
        case .multipart(let file, let boundary):
            headers["Content-Type"] = "multipart/form-data; boundary=\(boundary)"
            body = .file(file)
        }
        for (name, value) in headers.values where !HeaderRules.isName(name) || !HeaderRules.isValue(value) {
            throw HeliographError(.invalidArgument, "A header of the request has characters that are not allowed")
        }
        return TransportRequest(request.method, url, headers: headers, body: body, timeout: request.timeout)
    }

    private func url(_ path: String, _ query: [URLQueryItem]) throws(HeliographError) -> URL {
        var text = configuration.baseURL.absoluteString + path
        if !query.isEmpty {
            text += "?" + query.map { "\(Self.encoded($0.name))=\(Self.encoded($0.value ?? ""))" }.joined(separator: "&")
        }
        // Without the slash the path could go on with the host.
        guard path.hasPrefix("/"), !path.contains(where: { "?#\\".contains($0) || $0.isWhitespace }),
            !path.split(separator: "/").contains(".."), let url = URL(string: text), url.host == configuration.baseURL.host,
            url.port == configuration.baseURL.port
        else { throw HeliographError(.invalidArgument, "The path of the request is not one of the API") }
        return url
    }

    /// Percent-encodes all but the unreserved characters of RFC 3986 §2.3: a `+` would be read as a space.
    static func encoded(_ text: String) -> String {
        let unreserved = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}
