/// Markup of an HTML document; all text but literals is escaped.
struct HTML: ExpressibleByStringLiteral, Equatable {
    private(set) var text: String

    /// Creates unescaped markup, which only a literal can be.
    init(stringLiteral markup: StaticString) { text = "\(markup)" }

    private init(markup: String) { text = markup }

    /// An element with child elements.
    static func element(_ name: StaticString, _ attributes: KeyValuePairs<StaticString, String> = [:], _ children: [HTML] = []) -> HTML {
        let written = attributes.map { " \($0.key)=\"\(escape($0.value))\"" }.joined()
        return HTML(markup: "<\(name)\(written)>" + children.map(\.text).joined() + "</\(name)>")
    }

    /// An element with a text.
    static func element(_ name: StaticString, _ attributes: KeyValuePairs<StaticString, String> = [:], _ text: String) -> HTML {
        element(name, attributes, [.text(text)])
    }

    /// Escaped text, without control characters or such that change the direction of writing.
    static func text(_ text: String) -> HTML { HTML(markup: escape(text.printable)) }

    static func table(_ head: [String], _ rows: [[HTML]]) -> HTML {
        element(
            "table", [:],
            [
                element("thead", [:], [element("tr", [:], head.map { element("th", [:], $0) })]),
                element("tbody", [:], rows.map { row in element("tr", [:], row.map { element("td", [:], [$0]) }) }),
            ])
    }

    static func escape(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
