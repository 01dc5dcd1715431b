internal import Foundation

/// Encodes JSON for scripts.
enum JSON {
    /// Encodes a value with sorted keys in snake case; on several indented lines, or on one.
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

    /// The lines of indented JSON; nil when the bytes are not JSON.
    static func pretty(_ bytes: [UInt8]) -> [String]? {
        guard let value = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed),
            let data = try? JSONSerialization.data(
                withJSONObject: value, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed])
        else { return nil }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
