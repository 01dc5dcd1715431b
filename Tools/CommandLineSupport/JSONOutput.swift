internal import Foundation

/// Encodes JSON for scripts.
package enum JSONOutput {
    /// Encodes a value with sorted keys in snake case; on several indented lines, or on one. Characters that a terminal obeys are escaped.
    package static func text(_ value: some Encodable, isPretty: Bool = true) throws -> PrintableText {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(HumanUnits.timestamp(date))
        }
        return escaped(try encoder.encode(value))
    }

    /// Escapes what JSON allows in a text and a terminal obeys; the encoder has escaped all below U+0020.
    private static func escaped(_ json: Data) -> PrintableText {
        var text = ""
        for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
            if scalar.isTerminalControl {
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return PrintableText(escaped: text)
    }

    /// The lines of indented JSON; nil when the bytes are not JSON.
    package static func pretty(_ bytes: [UInt8]) -> [PrintableText]? {
        guard let value = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed),
            let data = try? JSONSerialization.data(
                withJSONObject: value, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed])
        else { return nil }
        return PrintableText.lines(of: escaped(data).text)
    }
}

/// A JSON object with the given members; a member without a value is left out.
package struct JSONRecord: Encodable, ExpressibleByDictionaryLiteral {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private let members: [(String, (any Encodable)?)]

    /// Creates an object; names are in snake case.
    package init(dictionaryLiteral members: (String, (any Encodable)?)...) { self.members = members }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for case (let name, let value?) in members { try container.encode(value, forKey: Name(stringValue: name)) }
    }
}
