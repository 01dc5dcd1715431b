internal import Foundation

/// How commands write JSON for scripts.
enum JSON {
    /// Writes a value with sorted keys in snake case; over several lines, or as one.
    static func text(_ value: some Encodable, isPretty: Bool = true) throws -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(HumanUnits.timestamp(date))
        }
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// The lines of JSON text, indented for people; nil when it is no JSON.
    static func pretty(_ bytes: [UInt8]) -> [String]? {
        guard let value = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed),
            let data = try? JSONSerialization.data(
                withJSONObject: value, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed])
        else { return nil }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
