/// Finds elements in a response of an object store, whose XML has no relevant attributes and no comments.
struct S3Document {
    /// An object of a list.
    struct Entry: Equatable {
        let key: String
        /// The time it was written, such as `2009-10-12T17:50:30.000Z`.
        let modified: String
    }

    private let text: Substring

    /// Wraps the body of any response; one that is not XML has no elements.
    init(_ body: [UInt8]) { text = Substring(decoding: body, as: UTF8.self) }

    private init(_ text: Substring) { self.text = text }

    /// Returns the unescaped text of the first element of that name.
    func text(of name: String) -> String? {
        content(of: name, from: text.startIndex).map { Self.unescaped($0.content) }
    }

    /// The objects of a list.
    var entries: [Entry] {
        var entries: [Entry] = []
        var position = text.startIndex
        while let found = content(of: "Contents", from: position) {
            let element = S3Document(found.content)
            if let key = element.text(of: "Key"), let modified = element.text(of: "LastModified") {
                entries.append(Entry(key: key, modified: modified))
            }
            position = found.end
        }
        return entries
    }

    private func content(of name: String, from start: Substring.Index) -> (content: Substring, end: Substring.Index)? {
        guard let open = text[start...].firstRange(of: "<\(name)>"), let close = text[open.upperBound...].firstRange(of: "</\(name)>")
        else { return nil }
        return (text[open.upperBound..<close.lowerBound], close.upperBound)
    }

    private static func unescaped(_ text: Substring) -> String {
        guard text.contains("&") else { return String(text) }
        let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#34;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&amp;", "&")]
        return entities.reduce(String(text)) { $0.replacing($1.0, with: $1.1) }
    }
}
