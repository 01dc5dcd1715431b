/// Renders texts as HTML.
enum HTMLText {
    /// Escapes the characters that have a meaning in HTML.
    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }

    /// Renders a text with code in back quotes.
    static func marked(_ text: String) -> String {
        escaped(text).split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, part in
            index.isMultiple(of: 2) ? String(part) : "<code>\(part)</code>"
        }.joined()
    }

    /// Renders a path, which a narrow screen breaks after a slash.
    static func path(_ path: String) -> String { "/" + escaped(path).dropFirst().replacing("/", with: "/<wbr>") }

    /// Renders a name of several words, which a narrow screen breaks between them.
    static func name(_ name: String) -> String {
        name.reduce(into: "") { text, character in
            if character.isUppercase, !text.isEmpty { text += "<wbr>" }
            text.append(character)
        }
    }
}
