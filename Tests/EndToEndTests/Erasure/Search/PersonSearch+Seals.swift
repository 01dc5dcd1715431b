import FaceEngine
import Foundation
import HeliographCrypto
import PostgresClient
import TestSupport

@testable import Accounts

extension PersonSearch {
    /// The distance below which two templates may be of one person.
    private static let sameFaceDistance: Float = 0.6
    /// The columns with JSON that may have sealed texts, in any state of the row.
    private static let messages = [
        ("notifications", "content", "id::text"), ("app_notifications", "request", "id::text"), ("outbox", "body", "message_id::text"),
    ]

    /// Opens every sealed value of every row, and searches it. A value that does not open is a finding.
    func inSealedValues() async throws -> Set<Finding> {
        var found: Set<Finding> = []
        try await withClient(of: stack.database) { client in
            for column in SealedColumn.all {
                for value in try await Self.values(of: column, client) {
                    found.formUnion(inSealed(value.bytes, context: value.context, at: "seal of \(column.name)"))
                }
            }
            for (table, column, id) in Self.messages {
                let query: PostgresQuery = """
                    SELECT \(unescaped: id) || ' ' || convert_from(\(unescaped: column), 'UTF8') AS text FROM \(unescaped: table)
                    WHERE \(unescaped: column) IS NOT NULL
                    """
                for text: String in try await client.query(query).column("text") {
                    found.formUnion(inSealedTexts(of: text, at: "seal of \(table).\(column)"))
                }
            }
        }
        return found
    }

    private static func values(of column: SealedColumn, _ client: PostgresClient) async throws -> [(bytes: [UInt8], context: [UInt8])] {
        let owner: String
        let context: (PostgresRow) throws -> [UInt8]
        switch column.content {
        case .value(let name, let id): (owner, context) = (name, { id(try $0.decode("owner", as: UUID.self)) })
        case .hashed(let name, let hash): (owner, context) = (name, { hash(try $0.decode("owner", as: [UInt8].self)) })
        case .texts: return []
        }
        let rows = try await client.query(
            """
            SELECT \(unescaped: owner) AS owner, \(unescaped: column.column) AS bytes FROM \(unescaped: column.table)
            WHERE \(unescaped: column.column) IS NOT NULL
            """)
        return try rows.map { (bytes: try $0.decode("bytes", as: [UInt8].self), context: try context($0)) }
    }

    private func inSealed(_ sealed: [UInt8], context: [UInt8], at place: String) -> Set<Finding> {
        guard let plain = keys.open(sealed, context: context) else { return [Finding(place: place, what: "a value that does not open")] }
        var found = findings(in: plain, at: place)
        if let face, let other = try? EnrolledFace(decoding: plain), Self.distance(face, other) < Self.sameFaceDistance {
            found.insert(Finding(place: place, what: "a template of the same face"))
        }
        return found
    }

    /// Returns the least distance of any two descriptors of two templates.
    static func distance(_ one: EnrolledFace, _ other: EnrolledFace) -> Float {
        let others = [other.mean] + other.poses
        return ([one.mean] + one.poses).flatMap { mine in others.map { mine.distance(to: $0) } }.min() ?? .infinity
    }

    /// Opens the sealed texts in the JSON of messages, each of which is bound to the id of a notification in the same text.
    func inSealedTexts(of text: String, at place: String) -> Set<Finding> {
        var found: Set<Finding> = []
        let ids = Set(
            text.matches(of: #/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/#).compactMap { UUID(uuidString: String($0.0)) })
        for match in text.matches(of: #/"sealed":"([A-Za-z0-9_-]+)","use":"([a-z_]+)"/#) {
            let (sealed, use) = (Base64URL.decode(String(match.1)) ?? [], match.2)
            let contexts = ids.lazy.map { Array("\(use):\($0.uuidString.lowercased())".utf8) }
            if let plain = contexts.compactMap({ keys.open(sealed, context: $0) }).first {
                found.formUnion(findings(in: plain, at: "\(place): \(use)"))
            } else {
                found.insert(Finding(place: place, what: "\(use) that does not open"))
            }
        }
        return found
    }
}
