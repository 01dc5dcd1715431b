internal import HTTPTypes
internal import JSON

/// Makes samples of requests as commands of curl.
enum SampleRequest {
    /// Returns the command that sends a request, with variables of the shell for the API's address and the bearer.
    ///
    /// - Parameter body: The request's body in the document.
    static func text(of operation: APIOperation, _ body: JSONValue?) -> String {
        let json = body?["content"]?["application/json"]
        let fields = json == nil ? form(body?["content"]?["multipart/form-data"]?["schema"], operation) : []
        let isPostByBody = operation.method == .post && (json != nil || !fields.isEmpty)
        let method = operation.method == .get || isPostByBody ? "" : "-X \(operation.method) "
        var lines = ["curl \(method)\"$API\(path(of: operation))\""]
        if let bearer = operation.bearers.last(where: { $0 != .none }) { lines.append("-H \"Authorization: Bearer $\(bearer.variable)\"") }
        if let json {
            lines.append("-H 'Content-Type: application/json'")
            lines.append("-d '\((json["example"] ?? .null).prettyText.dropLast().replacing("'", with: #"'\''"#))'")
        }
        return (lines + fields).joined(separator: " \\\n  ")
    }

    /// Returns a path of a request: messages are in conversations.
    static func path(of operation: APIOperation) -> String {
        let isOfMessages = operation.path.contains("/messages") || operation.path.hasSuffix("/read")
        return operation.parameters.filter { $0.place == .path }.reduce(operation.path) { path, parameter in
            let values = [
                "topic": isOfMessages ? "conversation:42" : "event:summer-party", "message": "m-1001", "path": "$PICTURE",
            ]
            let value = values[parameter.name] ?? SchemaExample.value(of: parameter.schema.json, in: operation.id).string ?? ""
            return path.replacing("{\(parameter.name)}", with: value)
        }
    }

    /// The fields that a form needs, and the token that the result is pushed to.
    private static func form(_ reference: JSONValue?, _ operation: APIOperation) -> [String] {
        guard let name = reference?["$ref"]?.string?.split(separator: "/").last,
            let schema = OpenAPIDocument.json["components"]?["schemas"]?[String(name)]
        else { return [] }
        let names = (schema["required"]?.elements ?? []).compactMap(\.string) + [UploadForm.pushToken]
        return (schema["properties"]?.members ?? []).filter { names.contains($0.name) }.flatMap { field -> [String] in
            let isFile = (field.value["items"] ?? field.value)["contentMediaType"] != nil
            guard isFile else {
                let value = SchemaExample.value(of: field.value, in: operation.id, name: field.name)
                return ["-F '\(field.name)=\(value.string ?? value.text)'"]
            }
            guard let count = field.value["minItems"]?.integer else { return ["-F \(field.name)=@\(field.name).jpg"] }
            return (1...count).map { "-F \(field.name)=@\(field.name)-\($0).jpg" }
        }
    }
}

extension APIBearer {
    /// The name of the variable that a sample has in place of the token.
    fileprivate var variable: String {
        switch self {
        case .none, .access: "ACCESS_TOKEN"
        case .session: "SESSION_TOKEN"
        case .enrolment: "ENROLMENT_TOKEN"
        case .receipt: "RECEIPT_TOKEN"
        case .key: "API_KEY"
        }
    }
}
