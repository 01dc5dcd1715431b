internal import HTTPTypes
internal import Hummingbird
internal import JSON
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

    /// The page; its requests are those of ``APIOperation/all``, its errors those of ``ErrorCode``.
    static let text = String(decoding: PackageResources.api_html, as: UTF8.self)
        .replacing("<!--OPERATIONS-->", with: APIArea.allCases.map(table).joined())
        .replacing("<!--ERRORS-->", with: errors)

    private static var errors: String {
        Dictionary(grouping: ErrorCode.allCases, by: \.status.code).sorted { $0.key < $1.key }.map { status, codes in
            let names = codes.sorted { $0.number < $1.number }.map { "<code>\($0.rawValue)</code> \($0.number)" }
            return "<tr><th>\(status)</th><td>\(names.joined(separator: ", "))</td></tr>\n"
        }.joined()
    }

    private static func table(_ area: APIArea) -> String {
        let rows = APIOperation.all.filter { $0.area == area }.map(row)
        return """
            <h2>\(area.rawValue)</h2>
            <div class="table"><table class="operations">
            <thead><tr><th>Request</th><th>Bearer</th><th>Repeated</th><th>What it takes</th><th>What it gives</th></tr></thead>
            <tbody>
            \(rows.joined())</tbody></table></div>


            """
    }

    private static func row(_ operation: APIOperation) -> String {
        let method = operation.method.rawValue
        let bearers = operation.bearers.isEmpty ? [APIBearer.none] : operation.bearers
        let cells = [
            ("Bearer", bearers.map(\.title).joined(separator: ", ")), ("Repeated", operation.repeatability), ("Takes", operation.intake),
            ("Gives", operation.outcome),
        ]
        // On a narrow screen each cell is a line of its own, with its label.
        return """
            <tr><th><span class="\(method.lowercased())">\(method)</span> <code>\(operation.path)</code></th>\
            \(cells.map { #"<td data-label="\#($0)">\#(html($1))</td>"# }.joined())</tr>

            """
    }

    /// Renders text whose code is in back quotes.
    private static func html(_ text: String) -> String {
        let safe = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
        return safe.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, part in
            index.isMultiple(of: 2) ? String(part) : "<code>\(part)</code>"
        }.joined()
    }
}

extension APIOperation {
    /// What the request takes: parameters that most requests have are left out.
    fileprivate var intake: String {
        let common = ["Idempotency-Key", "X-Firebase-Installation-ID"]
        let named = parameters.filter { $0.place != .path && !common.contains($0.name) }.map { "`\($0.name)`?" }
        let bodies = (body?.content ?? [:]).sorted { $0.key < $1.key }.map { type, schema in
            (type == "application/json" ? "JSON: " : "Form: ") + schema.memberList
        }
        let parts = (named.isEmpty ? [] : [named.joined(separator: ", ")]) + bodies
        return parts.isEmpty ? "–" : parts.joined(separator: "; ")
    }

    /// What a repetition gets whose first answer was lost.
    fileprivate var repeatability: String {
        if let repetition { return repetition }
        let key = APIParameter.idempotencyKey.name
        return parameters.contains { $0.name == key } ? "`\(key)`, 24 hours" : "yes"
    }

    /// What the request is for, and the status of its answers if that is not 200.
    fileprivate var outcome: String {
        let statuses = replies.map(\.status).filter { $0 < 300 }
        return summary + (statuses == [200] ? "" : " (\(statuses.map(String.init).joined(separator: ", ")))")
    }
}

extension JSONSchema {
    /// The names of the members of an object or of each element of an array; those that may be missing have a question mark.
    fileprivate var memberList: String {
        let object = json["items"] ?? json
        let required = (object["required"]?.elements ?? []).compactMap(\.string)
        let names = (object["properties"]?.members ?? []).map { "`\($0.name)`" + (required.contains($0.name) ? "" : "?") }
        return (json["items"] == nil ? "" : "an array of ") + names.joined(separator: ", ")
    }
}
