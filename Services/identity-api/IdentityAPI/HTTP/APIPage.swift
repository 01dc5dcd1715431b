internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// The page for people who open the API in a browser: lists every request and every error of the API.
enum APIPage {
    /// Answers `GET /`.
    static func answer() -> Response {
        let body = ByteBuffer(string: text)
        return Response(
            status: .ok,
            headers: [
                .contentType: "text/html; charset=utf-8", .contentLength: "\(body.readableBytes)",
                .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
                    + "form-action 'none'; frame-ancestors 'none'",
            ],
            body: ResponseBody(byteBuffer: body))
    }

    /// The page; its errors are those of ``ErrorCode``.
    static let text: String = {
        let parts = String(decoding: PackageResources.api_html, as: UTF8.self)
            .split(separator: "<!--ERRORS-->", omittingEmptySubsequences: false)
        let rows = Dictionary(grouping: ErrorCode.allCases, by: \.status.code).sorted { $0.key < $1.key }.map { status, codes in
            let names = codes.sorted { $0.number < $1.number }.map { "<code>\($0.rawValue)</code> \($0.number)" }
            return "<tr><th>\(status)</th><td>\(names.joined(separator: ", "))</td></tr>\n"
        }
        return parts.joined(separator: rows.joined())
    }()
}
