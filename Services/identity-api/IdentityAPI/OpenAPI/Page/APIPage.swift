internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import NIOCore

/// The page for people who open the API in a browser: the contents of the OpenAPI document, with samples of requests and answers.
///
/// It has no script and loads nothing, so the Content-Security-Policy forbids both.
enum APIPage {
    /// Answers `GET /`.
    static func answer() -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: "text/html; charset=utf-8", .contentLength: "\(body.readableBytes)",
                .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
                    + "form-action 'none'; frame-ancestors 'none'",
            ],
            body: ResponseBody(byteBuffer: body))
    }

    private static let body = ByteBuffer(string: text)

    /// The page; its requests are those of ``APIOperation/all``, its errors those of ``ErrorCode``.
    static let text = String(decoding: PackageResources.api_html, as: UTF8.self)
        .replacing("<!--CONTENTS-->", with: contents)
        .replacing("<!--OPERATIONS-->", with: APIArea.allCases.map(chapter).joined())
        .replacing("<!--SCHEMAS-->", with: schemas.map(section).joined())
        .replacing("<!--ERRORS-->", with: errors)

    /// The named schemas of the document.
    private static let schemas = OpenAPIDocument.json["components"]?["schemas"]?.members ?? []

    private static var contents: String {
        let areas = APIArea.allCases.map { area in
            let requests = APIOperation.all.filter { $0.area == area }.map { "<li><a href=\"#\($0.id)\">\($0.heading)</a></li>\n" }
            return "<li><a href=\"#\(area)\">\(HTMLText.escaped(area.rawValue))</a>\n<ul>\n\(requests.joined())</ul></li>\n"
        }
        let names = schemas.map { "<li><a href=\"#\($0.name)\">\(HTMLText.name($0.name))</a></li>\n" }
        return areas.joined()
            + """
            <li><a href="#schemas">Schemas</a>
            <details><summary>All \(names.count)</summary><ul>
            \(names.joined())</ul></details></li>
            """
    }

    private static func chapter(_ area: APIArea) -> String {
        let articles = APIOperation.all.filter { $0.area == area }.map(\.article)
        return "<h2 id=\"\(area)\">\(HTMLText.escaped(area.rawValue))</h2>\n\(articles.joined())\n"
    }

    private static func section(_ schema: JSONValue.Member) -> String {
        """
        <section class="schema" id="\(schema.name)">
        <h3>\(HTMLText.name(schema.name)) <a class="anchor" href="#\(schema.name)" aria-label="Link to \(schema.name)">#</a></h3>
        \(SchemaHTML.members(of: schema.value))</section>

        """
    }

    private static var errors: String {
        Dictionary(grouping: ErrorCode.allCases, by: \.status.code).sorted { $0.key < $1.key }.map { status, codes in
            let names = codes.sorted { $0.number < $1.number }.map { "<code>\($0.rawValue)</code> \($0.number)" }
            return "<tr><th>\(status)</th><td>\(names.joined(separator: ", "))</td></tr>\n"
        }.joined()
    }
}
