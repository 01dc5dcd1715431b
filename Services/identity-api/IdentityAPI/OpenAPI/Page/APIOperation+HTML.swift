internal import HTTPTypes
internal import JSON

extension APIOperation {
    /// The method and the path as a heading.
    var heading: String {
        #"<span class="method \#(method.rawValue.lowercased())">\#(method)</span> <span class="path">\#(HTMLText.path(path))</span>"#
    }

    /// The request with its whole description from the document, and a sample.
    var article: String {
        let json = OpenAPIDocument.json["paths"]?[path]?[method.rawValue.lowercased()] ?? .null
        let bearers = bearers.isEmpty ? [APIBearer.none] : bearers
        let body = json["requestBody"]
        return """
            <article id="\(id)">
            <h3>\(heading) <a class="anchor" href="#\(id)" aria-label="Link to \(id)">#</a></h3>
            <p>\(HTMLText.marked(summary))</p>
            <dl class="facts"><div><dt>Name</dt><dd><code>\(id)</code></dd></div>
            <div><dt>Bearer</dt><dd>\(HTMLText.marked(bearers.map(\.title).joined(separator: ", ")))</dd></div>
            <div><dt>Repeated</dt><dd>\(HTMLText.marked(repeatability))</dd></div></dl>
            \(parameterList)\(bodyText(body))\(Self.sample("Sample request", SampleRequest.text(of: self, body)))
            <h4>Answers</h4>
            <dl class="answers">
            \((json["responses"]?.members ?? []).map(Self.answer).joined())</dl>
            </article>

            """
    }

    /// The response to a repeated request whose first response was lost.
    private var repeatability: String {
        if let repetition { return repetition }
        let key = APIParameter.idempotencyKey.name
        return parameters.contains { $0.name == key } ? "`\(key)`, 24 hours" : "yes"
    }

    private var parameterList: String {
        guard !parameters.isEmpty else { return "" }
        return "<h4>Parameters</h4>\n"
            + SchemaHTML.list(
                parameters.map { parameter in
                    SchemaHTML.row(
                        parameter.name, parameter.schema.json, note: " in the \(parameter.place)", isRequired: parameter.place == .path,
                        summary: parameter.summary)
                })
    }

    private func bodyText(_ body: JSONValue?) -> String {
        guard let body, let content = body["content"]?.members, let schema = content.first?.value["schema"] else { return "" }
        let types = content.map { $0.name == "application/json" ? "JSON" : "a form (<code>\($0.name)</code>)" }
        let size = body["x-max-bytes"]?.integer ?? 0
        let bytes =
            size.isMultiple(of: 1_048_576)
            ? "\(size / 1_048_576) MiB" : size.isMultiple(of: 1_024) ? "\(size / 1_024) KiB" : "\(size) bytes"
        let optional = body["required"] == true ? "" : ", optional"
        let name = schema["$ref"]?.string?.split(separator: "/").last.map(String.init)
        let object = name.flatMap { OpenAPIDocument.json["components"]?["schemas"]?[$0] } ?? schema
        return """
            <h4>Body</h4>
            <p class="body">\(SchemaHTML.type(of: schema)) as \(types.joined(separator: " or ")), up to \(bytes)\(optional)</p>
            \(SchemaHTML.members(of: object))
            """
    }

    private static func sample(_ title: String, _ text: String) -> String {
        "<details class=\"sample\"><summary>\(title)</summary><pre><code>\(HTMLText.escaped(text))</code></pre></details>"
    }

    private static func answer(_ status: String, _ response: JSONValue) -> String {
        if let name = response["$ref"]?.string?.split(separator: "/").last {
            let failure = OpenAPIDocument.json["components"]?["responses"]?[String(name)]
            return row(status, HTMLText.marked(failure?["description"]?.string ?? ""), isFailure: true)
        }
        let content = response["content"]?.members ?? []
        let types = content.map { type in type.value["schema"].map(SchemaHTML.type) ?? "<code>\(type.name)</code>" }
        let headers = (response["headers"]?.members ?? []).map(\.name).filter { name in !APIHeader.general.contains { $0.rawValue == name }
        }
        let facts = [types.joined(separator: " or "), headers.map { "<code>\($0)</code>" }.joined(separator: ", ")]
        let parts = [HTMLText.marked(response["description"]?.string ?? "")] + facts.filter { !$0.isEmpty }
        let example = content.first { $0.name == "application/json" }?.value["example"]
        return row(
            status, parts.joined(separator: " · ") + (example.map { sample("Sample answer", $0.prettyText) } ?? ""), isFailure: false)
    }

    private static func answer(_ member: JSONValue.Member) -> String { answer(member.name, member.value) }

    private static func row(_ status: String, _ text: String, isFailure: Bool) -> String {
        "<div\(isFailure ? " class=\"failure\"" : "")><dt>\(status)</dt><dd>\(text)</dd></div>\n"
    }
}
