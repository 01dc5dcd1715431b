internal import Foundation

/// Reads and writes the JSON of the API.
enum WireJSON {
    /// The answers of most routes: `{"success":true,"data":…}`.
    private struct Envelope<Content: Decodable>: Decodable {
        let data: Content
    }

    private static func decode<Content: Decodable>(_ data: Data) throws -> Content {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            guard let date = WireDate.parse(try container.decode(String.self)) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "The instant is not one of RFC 3339")
            }
            return date
        }
        return try decoder.decode(Content.self, from: data)
    }

    /// Reads the member `data` of an answer.
    static func content<Content: Decodable>(_ response: TransportResponse) throws -> Content {
        let envelope: Envelope<Content> = try decode(response.body)
        return envelope.data
    }

    /// The time of an answer by the API's clock (`meta.timestamp`); nil without that member.
    static func time(of response: TransportResponse) -> Date? {
        struct Answer: Decodable {
            struct Meta: Decodable { let timestamp: String }

            let meta: Meta
        }
        let answer = try? JSONDecoder().decode(Answer.self, from: response.body)
        return answer.flatMap { WireDate.parse($0.meta.timestamp) }
    }

    /// Reads an answer without an envelope.
    static func bare<Content: Decodable>(_ response: TransportResponse) throws -> Content { try decode(response.body) }

    /// The body of a request. Members are sorted, so that a repetition has the same bytes.
    static func data(_ value: some Encodable & Sendable) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(WireDate.text(date))
        }
        // Bodies and proofs have texts, whole numbers, booleans, null, and arrays and objects of these: an encoder refuses none of them.
        return try! encoder.encode(value)
    }
}

extension UUID {
    /// The id as the API writes it.
    var wireText: String { uuidString.lowercased() }
}
